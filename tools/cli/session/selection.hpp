// SPDX-License-Identifier: Apache-2.0
//
// From paths on a command line to a query over live providers, or to the words that say why not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/session/console.hpp"
#include "cli/session/value_sink.hpp"
#include "cli/session/waiter.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::cli {

// A recording in place of the machine as it is, and which of its moments. Moments are as typed:
// what they mean depends on the recording.
struct LogOptions {
  std::string path;  // empty: live
  std::string at, from, to;
  std::optional<std::chrono::nanoseconds> every;

  [[nodiscard]] bool has_range() const noexcept { return !from.empty() || !to.empty(); }
  // Where no moment of a recording was asked for, all of them are meant.
  void mean_all_by_default() {
    if (!path.empty() && at.empty() && !has_range()) from = "@0";
  }
};

struct SelectionOptions {
  std::string directory;  // or several with ':' between them; empty: the default of the reader
  bool all_namespaces = false;
  bool outside_labels = false;
  std::vector<LabelPattern> where;
  std::string provider;  // "orders", "orders@48213" or a glob; empty: all
  std::vector<std::string> paths;
  std::string paths_from;  // a file of paths, one a line; "-" is standard input
  std::vector<std::string> excluded;
  bool across_users = false;  // totals are of all users
  // Of one user, of one provider, of one user; what is not set is as CatalogOptions has it.
  std::optional<std::uint64_t> providers_max, segment_bytes_max, user_bytes_max;
  std::optional<std::chrono::nanoseconds> wait;  // for everything to appear
  std::chrono::nanoseconds callback_timeout = std::chrono::seconds(1);
  LogOptions log;
};

[[nodiscard]] CatalogOptions catalog_options(const SelectionOptions& options);

// The paths of the options and of the file, each with the provider that was asked for.
[[nodiscard]] Result<std::vector<std::string>> gather_paths(const SelectionOptions& options);

struct Selection {
  std::optional<Catalog> live;
  std::unique_ptr<recording::Recording> log;     // null: live
  std::uint64_t log_from_ns = 0, log_to_ns = 0;  // the moments of it that are wanted
  Query query;
  std::vector<std::string> patterns;
  std::chrono::nanoseconds callback_timeout = {};
  std::string log_path = {};
  std::vector<std::string> matched_later = {};  // patterns that match nothing yet in the recording

  // Waits if asked to; what is missing afterwards is in query.unmatched().
  static Result<Selection> open(const SelectionOptions& options, Waiter& waiter);

  [[nodiscard]] Catalog& catalog() noexcept { return log ? log->catalog() : *live; }
  [[nodiscard]] const Catalog& catalog() const noexcept { return log ? log->catalog() : *live; }

  // Now, and at every moment of the recording that is wanted.
  [[nodiscard]] bool has_nothing() const {
    return query.selected().empty() && matched_later.empty();
  }

  // Looks for new providers and instances; true if the plan changed.
  bool refresh();
};

// By their records.
using NotInTotals = std::set<std::string>;
[[nodiscard]] NotInTotals not_in_totals_of(
    std::span<const std::shared_ptr<const ProviderView>> left_out);
// "totals leave out 2 providers of other users; --across-users adds them", or nothing.
[[nodiscard]] std::string not_in_totals_text(const NotInTotals& providers);

// "orders@48213 Geometric Waves: no answer within 1 s; try: --callback-timeout 10s"
[[nodiscard]] std::string complaint_about(const CallbackAnswer& answer);

// A line for each registration that was asked and did not answer as it should, unless `said` says
// so already. kExitNo if there is one.
int report_answers(const std::shared_ptr<const std::vector<CallbackAnswer>>& answers,
                   const Console& console, std::set<std::string>& said);

// Says which patterns matched nothing and which providers cannot be read. Returns the exit code
// that this means: kExitDone if every pattern matched something. `explained` are patterns that the
// caller has found something for.
[[nodiscard]] int report_unmatched(const Selection& selection, const Console& console,
                                   const std::vector<std::string>& explained = {});

// The same where values are to be shown: if nothing can be, also the providers that did not answer.
[[nodiscard]] int report_missing(const Selection& selection, const Console& console);

// Names what exists and cannot be read although everything was asked for: providers that are
// refused, objects in place of records. kExitDone if there is nothing like that.
[[nodiscard]] int report_hidden(const Catalog& catalog, const Console& console);

// How much of a recording could not be read, with a remedy. Empty: all could be read.
[[nodiscard]] std::string damages_text(std::span<const recording::Damage> damages);
// Says how much of a log could not be read. kExitNo if there is anything.
[[nodiscard]] int report_damages(const Selection& selection, const Console& console);

// "no provider found in /run/...; try: ..." and the like, for a catalog without a readable
// provider.
[[nodiscard]] int report_no_provider(const Catalog& catalog, const Console& console);

// How samples are cooked, and what a cooked share then is to a person: clocks of 10 ms put it a
// little above 100 or below 0. `seconds` lie between the two samples.
inline constexpr CookOptions kUncapped{.cap_percent = false};
[[nodiscard]] double rounded(const Value& value, double seconds);

// Takes samples of a selection one after the other; each is cooked with the one before.
class Sampler {
 public:
  explicit Sampler(Selection& selection) : selection_(&selection) {}

  // Providers and instances that came or went in the meantime are noticed.
  void take();
  // Takes the newest sample again, against the same one before: for sets that their provider
  // renews less often than was hoped.
  void retake();

  // Hands over the values of the sample, cooked one by one.
  void each_row(ValueSink take) const;
  [[nodiscard]] const Sample& newer() const noexcept { return samples_[newest_]; }
  // The sample before; empty at first.
  [[nodiscard]] const Sample& older() const noexcept { return samples_[1 - newest_]; }
  // Seconds since the sample before, 0 for the first.
  [[nodiscard]] double interval() const noexcept;
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  // Some row cannot be cooked before the next sample.
  [[nodiscard]] bool needs_another() const;
  // Some row has the same stamped value in both samples.
  [[nodiscard]] bool awaits_provider() const;

 private:
  void collect();
  [[nodiscard]] bool has_row(bool (*is_so)(const Value&)) const;

  Selection* selection_;
  std::array<Sample, 2> samples_;
  std::size_t newest_ = 1;
  std::uint64_t taken_ = 0;
  Clock::time_point refreshed_ = Clock::now();
};

}  // namespace meterbank::cli
