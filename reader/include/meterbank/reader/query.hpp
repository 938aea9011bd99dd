// SPDX-License-Identifier: Apache-2.0
//
// A query is a compiled list of what to copy, said in patterns, which are counter paths for people.
// Some rows are computed by their providers when a reader asks. collect() shows the last answer;
// the form with a timeout asks first. A query tells the providers that want to know it which
// counters it is interested in, over one connection each: when it is compiled or changed, never
// waiting for an answer. Destroying the query takes that back.
//
// Thread safety  One thread at a time per query; different queries of one catalog need the same
//                care, because update() reads the catalog.
// Errors         compile() and compile_part() report lack of memory (base/result.hpp), collect()
//                does in its summary. update(), enumerate(), expanded(), selected(), prepare() and
//                the collect() with a timeout may throw std::bad_alloc; the query is then what it
//                was, and the call can be made again. Everything else does not allocate.
// Progress       collect() makes no system call and ends after a bounded number of steps whatever
//                the segments contain. It works under SECCOMP_MODE_STRICT. With a timeout it waits
//                for providers, at most that long.
// Cost           collect() allocates nothing once the sample has its size, reads no clock unless a
//                cut is asked for, and stores nothing that a provider can see.
// Lifetime       A query outlives its catalog only until the next update(). Samples may outlive it.
// Units          Timeouts are std::chrono durations, time stamps nanoseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank {

class CompiledQuery;

// What the rows of one collect() shall have in common.
enum class Cut : std::uint8_t {
  kNone,   // each row is whole, and of a moment of its own
  kTry,    // all of one moment, if no writer comes in between, three times
  kEpoch,  // as of one moment a little ago, which writers cannot prevent; else as kTry
};

struct CollectSummary {
  std::size_t rows = 0;
  std::size_t not_fresh = 0;  // rows with any status but kFresh
  std::size_t failed_attempts = 0;
  CutQuality cut = CutQuality::kPerBlock;  // of all rows together
  std::size_t unanswered = 0;  // registrations whose rows are asked for and that gave none
  bool stale = false;  // something changed: Catalog::refresh() and Query::update() would see more
  // There was none for the sample, which is empty now: it has no plan. Samples that prepare() has
  // sized for the present plan never see this.
  bool no_memory = false;
};

// Packets of providers that were not what was asked for.
struct AskCounts {
  std::uint64_t dropped = 0;    // late, twice, or of an id that was never used
  std::uint64_t malformed = 0;  // each one ended its connection
};

// A pattern that selected nothing, with the nearest thing that exists.
struct Unmatched {
  std::string pattern;
  std::string part;        // "counterset", "instance", "counter", "provider"
  std::string suggestion;  // may be empty
};

class Query {
 public:
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;
  ~Query();

  // Patterns are counter paths in either spelling (path.hpp), with globs in every part. An empty
  // list selects everything that is shown by default. Fails on a path that does not parse; a
  // pattern that matches nothing now is kept, reported by unmatched(), and matched again by
  // update(). Base counters are copied with their numerators but not selected by wildcards.
  //
  // Sets and counters are matched by name or symbol. `name#7` is the instance of this name with id
  // 7, else the one called so, else the eighth of that name among all providers, in the order of
  // ids in each; untrusted providers are looked at only if trusted ones have none of these. `name`
  // alone is one instance of each registration, the one with the smallest id; `name#*` are all of
  // this name. `set/x` is counter x in each set that has one, and
  // instance x in the others. Instances that were closed before are not selected; those
  // that close later keep their rows until update(). `excluded` are globs over
  // set/instance/counter, set/instance#id/counter and set/counter, in symbols.
  static Result<Query> compile(const Catalog& catalog, const std::vector<std::string>& patterns,
                               const std::vector<std::string>& excluded = {});
  // A part of another query: it sends no request, registers no interest, and finds the rows of the
  // other's answers, as the other's plan has them now. Instances are the same objects.
  static Result<Query> compile_part(const Query& whole, const Catalog& catalog,
                                    const std::vector<std::string>& patterns,
                                    const std::vector<std::string>& excluded = {});

  // Adapts to a catalog that was refreshed. Cheap if it saw no change, else the work is that of the
  // registrations that changed. Returns true if the query now selects other rows or counters.
  bool update(const Catalog& catalog);

  // The first form takes the caller's time stamp and touches no clock
  // unless a cut is asked for.
  //
  // A cut covers the rows of the plan. What was created since is not in it, and an instance younger
  // than the epoch shows the values that it began with; one that was closed since shows those of
  // the epoch, as kClosed. Cuts of kEpoch need sets that were registered with cuts, and are as old
  // as their provider's heartbeat, which may hang: they do not become wrong by that. A row never
  // shows less than the query has returned of it before, so a kEpoch that follows another kind of
  // collect() within a heartbeat is done as kTry. Rows of several providers are of one moment only
  // if they are exact.
  CollectSummary collect(Sample& sample, Timestamp time, Cut cut = Cut::kNone) noexcept;
  CollectSummary collect(Sample& sample, Cut cut = Cut::kNone) noexcept {
    return collect(sample, Timestamp::now(), cut);
  }

  // Whether there are rows to ask for: whether the two below do anything.
  [[nodiscard]] bool asks() const noexcept;
  // Asks all providers that it touches, at once, for the values, waits until each has answered or
  // the timeout has expired, whichever comes first, adapts the plan to the rows that came, and
  // collects. The time stamp is taken then. Only providers that the patterns name
  // are asked. One that did not answer costs the others nothing and is told to stop. Allocates,
  // calls the kernel, may throw std::bad_alloc. Not for a callback about its own process: see
  // AnswerOutcome::kReentrant. Windows waits 5 s here, and 1 s in what follows.
  CollectSummary collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut = Cut::kNone);
  // Asks for the names only, so that patterns find them. Returns true if the query now selects
  // other rows. Sample::callbacks of the next collect() has what came of it.
  bool enumerate(std::chrono::nanoseconds timeout);
  [[nodiscard]] AskCounts ask_counts() const noexcept;
  // The answers of the last of these two; null if no provider was asked. Sample::callbacks is the
  // same.
  [[nodiscard]] std::shared_ptr<const std::vector<CallbackAnswer>> answers() const noexcept;

  // Grows whenever the rows of collect() become others, or other objects. One load.
  [[nodiscard]] std::uint64_t version() const noexcept;

  // Sizes a sample for the current plan, so that collect() need not allocate. If it throws, the
  // sample is empty.
  void prepare(Sample& sample) const;

  // What the patterns select at present, in their order; valid until the query changes.
  [[nodiscard]] std::vector<SelectedSet> selected() const;
  // Providers whose rows would be in a total if they were trusted.
  [[nodiscard]] std::span<const std::shared_ptr<const ProviderView>> left_out() const noexcept;
  [[nodiscard]] const std::vector<Unmatched>& unmatched() const noexcept;
  // What the patterns stand for at present, one path a value, in the order of a
  // sample.
  // Windows: PdhExpandWildCardPath.
  [[nodiscard]] std::vector<std::string> expanded(PathSpelling spelling) const;

 private:
  friend struct QueryAccess;
  explicit Query(std::unique_ptr<CompiledQuery> compiled) noexcept;

  std::unique_ptr<CompiledQuery> compiled_;
};

}  // namespace meterbank
