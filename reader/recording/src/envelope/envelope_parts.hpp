// SPDX-License-Identifier: Apache-2.0
//
// The series of one part of a range, and their union with those of the next part.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "../summary/summary_frame.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/recording/envelope.hpp"

namespace meterbank::recording {

// Takes the samples of one part of a recording in their order.
class EnvelopePart {
 public:
  explicit EnvelopePart(const EnvelopeRequest& request, std::uint64_t bucket_ns)
      : request_(&request), bucket_ns_(bucket_ns) {}

  // The rows of the sets that `rate` samples; nothing: of all. `older` is the sample of that rate
  // before, or an empty one. Precondition: the moment is in the range.
  void take(const Sample& newer, const Sample& older, std::uint64_t query_version,
            const Recording& recording, std::optional<std::uint32_t> rate);
  // Makes the series of all rows, with empty buckets.
  void name(const Sample& sample, const Recording& recording);
  // The part that follows this one.
  void append(EnvelopePart&& next);
  // What the series are called; nothing if one is of a total, which no summary has.
  [[nodiscard]] std::optional<std::vector<SummaryName>> names() const;
  // The parts of a chunk that follows. False: it has a series that is not known by its name,
  // or one twice; nothing has changed then.
  [[nodiscard]] bool append(const Summary& summary);
  // There are more series than bytes_max has room for: some are missing.
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }
  // In the order of the answer.
  [[nodiscard]] std::vector<EnvelopeSeries> finish();

 private:
  // Provider, host, set, instance, counter, percentile.
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, double>;
  // The series of one value, as long as the query stays as it is.
  struct Place {
    const InstanceView* instance = nullptr;
    const CounterView* counter = nullptr;
    bool has_namesake = false;
    std::optional<std::uint32_t> rate;
    EnvelopeSeries* series = nullptr;  // null: it has no numbers
    std::vector<EnvelopeSeries*> percentiles;
  };
  struct Places {
    std::uint64_t version = 0;
    std::vector<Place> all;
  };

  [[nodiscard]] Place find(const Value& value, const Recording& recording);
  // Null if the memory limit is reached.
  [[nodiscard]] EnvelopeSeries* series_of(const Value& value, std::optional<double> percentile);
  void take_value(const Value& value, const Place& place, std::size_t bucket) const;
  [[nodiscard]] std::optional<double> asked_percentile(const SummarySeries& series) const;
  [[nodiscard]] EnvelopeSeries* series_of(const SummarySeries& series, double percentile) const;
  void append(const EnvelopeBucket& part, std::uint64_t begin_ns, std::uint64_t end_ns,
              EnvelopeSeries& series) const;

  const EnvelopeRequest* request_;
  std::uint64_t bucket_ns_;
  bool is_full_ = false;
  std::deque<EnvelopeSeries> series_;
  std::map<Key, EnvelopeSeries*> by_key_;
  std::unordered_map<std::uint32_t, Places> places_;  // by rate
};

}  // namespace meterbank::recording
