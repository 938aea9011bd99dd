// SPDX-License-Identifier: Apache-2.0
//
// A query is a compiled list of what to copy; a sample is what one collect() copied. What to copy
// is said in patterns, which are counter paths for people, or in items, which name sets and
// counters by number as PerfLib V2 does.
//
// collect() makes no system call, allocates nothing once the sample has its size, reads no clock,
// stores nothing that a provider can see, and ends after a bounded number of steps whatever the
// segments contain. It works under SECCOMP_MODE_STRICT.
//
// Some rows are computed by their providers when a reader asks. collect() shows the last answer;
// the form with a timeout asks first, as it says below. A query tells the providers that want to
// know it which counters it is interested in, over one connection each: when it is compiled or
// changed, never waiting for an answer. Destroying the query takes that back.
//
// Errors: compile() and compile_part() report lack of memory (base/result.hpp), collect() does in
// its summary. of_items(), add(), remove(), replace(), items(), update(), enumerate(), expanded(),
// prepare() and the collect() with a timeout may throw std::bad_alloc; the query is then what it
// was, and the call can be made again. Everything else does not allocate.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank {

class CompiledQuery;

// One moment on both clocks that counter formulas use.
struct Timestamp {
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t realtime_ns = 0;   // since 1970-01-01 UTC

  // Two clock reads. Not under strict seccomp: where the vDSO has no clock it asks the kernel.
  static Timestamp now() noexcept;
};

enum class RowStatus : std::uint8_t {
  kFresh,       // the current version
  kCheckpoint,  // an older consistent version; the writer outran every attempt, or a cut wants it
  kBusy,        // nothing could be copied within the bound
  kGone,        // the slot has a new life; refresh() finds out more
  kClosed,      // final values of a closed instance
  kDead,        // last values of a provider that is gone
  // Of rows that are asked for, after an ask that gave none. They hold nothing.
  kTimeout,     // no answer in time
  kOverloaded,  // the provider was asked by too many
  kUnanswered,  // Sample::callbacks has the reason; or they were enumerated and never collected
};
[[nodiscard]] std::string_view name_of(RowStatus status) noexcept;
// Otherwise the values of the row are zeros that mean nothing.
[[nodiscard]] constexpr bool holds_values(RowStatus status) noexcept {
  return status == RowStatus::kFresh || status == RowStatus::kCheckpoint ||
         status == RowStatus::kClosed || status == RowStatus::kDead;
}

// How the counters of one row of a sample hang together.
enum class RowConsistency : std::uint8_t {
  kBlock,        // all of them belong to one moment
  kIndependent,  // each is exact by itself
  // Of a sharded block set. Each change of its many writers is in the row wholly or not at all, but
  // one may be in without another that another thread made before.
  kShards,
  kSharedCounters,  // the same, but some threads had to share: each is exact by itself
};
[[nodiscard]] std::string_view name_of(RowConsistency consistency) noexcept;

inline constexpr std::uint32_t kAnyCounterId = 0xffffffff;  // all that are shown

// The row that a reader makes of the others, those of trusted providers. A provider may publish a
// row of this name as well: in a set whose total the reader makes, it is one more row of that
// provider, in no total and never in place of it.
inline constexpr std::string_view kTotalName = "_Total";
inline constexpr std::uint32_t kTotalInstanceId = 0xfffffffe;
// Whether a provider published the instance under the name of the total that a reader makes.
[[nodiscard]] bool is_called_total(const Counterset& set, const InstanceView& instance) noexcept;

// A request in numbers: the rows of one set whose names match and that have the id.
struct QueryItem {
  Guid set;
  // `*` and `?` match, up to case; no escapes. Empty for a set whose instances have no names.
  std::string instances = "*";
  std::uint32_t instance_id = kAnyInstanceId;
  std::uint32_t counter_id = kAnyCounterId;
};
// Up to the case of the names.
[[nodiscard]] bool is_same(const QueryItem& left, const QueryItem& right) noexcept;
// Whether sets of this kind can be asked so: without a name where instances have none, with one
// where they have.
[[nodiscard]] bool fits(const QueryItem& item, InstanceKind kind) noexcept;

enum class ItemStatus : std::uint8_t {
  kFound,             // there are rows
  kInstanceAbsent,    // none at present; they are found when they appear
  kCountersetAbsent,  // no provider has it
  kCounterAbsent,     // the set has none of this id
  kWrongKind,         // see fits()
};
[[nodiscard]] std::string_view name_of(ItemStatus status) noexcept;

// What was selected, in order; immutable and shared by a query and its samples.
struct QueryPlan {
  // Small, because a plan has one for each selected instance. The functions below have the rest.
  struct Row {
    static constexpr std::uint32_t kInstanceMask = 0x7fffffff;

    std::uint32_t selection = 0;
    std::uint32_t instance : 31 = 0;  // index in RegisteredSet::instances
    // Another provider has an instance of this name in a set so called. Only trusted providers
    // count for the rows of one; rows of other providers always have it.
    bool has_namesake : 1 = false;
  };
  // Where a group of the registration is mapped.
  struct Group {
    const std::byte* memory = nullptr;
    std::uint32_t first_slot = 0;
  };
  struct Selection {  // one registration of one provider
    std::shared_ptr<const ProviderView> provider;
    const RegisteredSet* set = nullptr;   // in *provider
    std::vector<std::uint32_t> counters;  // indexes in Counterset::counters, in order of request
    std::size_t first_row = 0, rows = 0;
    std::size_t first_value = 0;  // in Sample::values; each row has BlockForm::words
    std::size_t first_run = 0, runs = 0;
    std::size_t first_version = 0;                     // versions of its rows' blocks, one a block
    std::shared_ptr<const std::vector<Group>> groups;  // those of RegisteredSet::groups, never null
    bool total = false;                                // its rows become one: cook() adds them up
    // The same for all registrations of a set that agree(): totals are made among these.
    std::uint32_t description = 0;
    bool is_apart = false;  // the name of the set stands for another description
    // Bit x: the counter with id x is wanted, by itself or as another's base. All ones where that
    // cannot be said: all are, or one has an id above 63. Windows: PCW_MASK_INFORMATION.
    std::uint64_t counter_mask = 0;
    const SharedWord* membership = nullptr;
    const SharedWord* word = nullptr;  // registration word
    // The RowStatus of the last answer, where rows are asked for; null: they are in shared memory.
    const SharedWord* answered = nullptr;
  };
  // Rows that one kernel copies: blocks of consecutive slots, so that addresses follow by stride.
  struct Run {
    enum class Kind : std::uint8_t { kTiles, kLines, kScattered };
    std::size_t first_row = 0, rows = 0;  // tiles: a multiple of 8
    const SharedWord* head = nullptr;     // seq of the first row; scattered: see block_of()
    std::size_t head_words = 0;           // from one head to the next
    Kind kind = Kind::kScattered;
  };
  // What an item selects. Providers that describe the set alike are merged in the order of
  // comes_before(); the first describes it for them. A row says which selection it belongs to.
  struct Answer {
    QueryItem item;
    std::size_t index = 0;  // position of the item in the query
    ItemStatus status = ItemStatus::kCountersetAbsent;
    const RegisteredSet* set = nullptr;  // of the first provider; null: kCountersetAbsent
    bool alive = false;                  // that provider lives
    bool trusted = false;                // and is trusted
    // In QueryPlan::rows; shared by items that differ in the counter alone, never null.
    std::shared_ptr<const std::vector<std::uint32_t>> rows;
    // The rows that become one, `_Total`, behind the others.
    std::shared_ptr<const std::vector<std::uint32_t>> summed;
  };
  // Last values of providers that this query saw end, of a set that goes on counting them
  // (InstanceKind::kGlobalAggregateHistory), as one.
  struct Ended {
    struct Value {
      std::uint64_t raw = 0;
      double cooked = 0;
      std::uint64_t count = 0;                           // of the providers
      std::shared_ptr<const Distribution> distribution;  // of a counter that is one
    };
    std::shared_ptr<const Counterset> set;
    std::uint32_t uid = 0;      // user of the first of these providers
    std::vector<Value> values;  // one for each counter
  };
  std::vector<Selection> selections;
  std::vector<Run> runs;
  std::vector<Row> rows;
  // One an item, in their order, about the first description of its set; a query of patterns has
  // none. `others` are about further descriptions, those of untrusted providers taken together.
  std::vector<Answer> answers, others;
  // One a description of a set; of trusted providers. The sets of one user have at most 64 entries
  // and 16,384 counters together.
  std::vector<Ended> ended;
  std::uint64_t ended_left_out = 0;  // instances that ended beyond that
  // Those whose rows would be in a total if they were trusted.
  std::vector<std::shared_ptr<const ProviderView>> left_out;
  std::size_t words = 0;
  std::size_t blocks = 0;        // of all rows, which have one, or one a shard
  std::size_t widest_shard = 0;  // words of a block in a sharded set
  // Registrations that were held against the request for this plan. The parts of the others were
  // taken over from the plan before.
  std::size_t compiled = 0;
  // All providers of the catalog, selected or not: a change in any of them may concern the query.
  std::vector<std::shared_ptr<const ProviderView>> providers;

  [[nodiscard]] const Selection& selection_of(std::size_t row) const noexcept {
    return selections[rows[row].selection];
  }
  [[nodiscard]] const InstanceView& instance_of(std::size_t row) const noexcept {
    return selection_of(row).set->instances[rows[row].instance];
  }
  // Index of the row's first word in Sample::values.
  [[nodiscard]] std::size_t value_of(std::size_t row) const noexcept {
    const Selection& selection = selection_of(row);
    return selection.first_value + (row - selection.first_row) * selection.set->set->form.words;
  }
  // Finds the row's group first: use Run::head where many rows are read in order.
  [[nodiscard]] BlockParts<const SharedWord> block_of(std::size_t row) const noexcept;
};

// What the rows of one collect() shall have in common.
enum class Cut : std::uint8_t {
  kNone,   // each row is whole, and of a moment of its own
  kTry,    // all of one moment, if no writer comes in between, three times
  kEpoch,  // as of one moment a little ago, which writers cannot prevent; else as kTry
};

// How the rows of one selection hang together. Rows that a provider computes, counters that are
// independent, and sharded rows in which threads share a block are never better than kPerBlock,
// unless their provider is dead.
enum class CutQuality : std::uint8_t {
  kPerBlock,  // each row for itself
  kCut,       // what a row shows, everything that led to it shows; up to a heartbeat old
  kExact,     // all were so at one moment during collect()
};
[[nodiscard]] std::string_view name_of(CutQuality quality) noexcept;

struct SelectionCut {
  CutQuality quality = CutQuality::kPerBlock;
  std::uint64_t skew_ns = 0;  // kPerBlock: the first load was at most so long before the last
};

struct Sample {
  Timestamp time;
  std::shared_ptr<const QueryPlan> plan;
  std::vector<std::uint64_t> values;        // the words of each row, see QueryPlan::value_of()
  std::vector<RowStatus> status;            // one a row
  std::vector<RowConsistency> consistency;  // one a row
  std::vector<SelectionCut> cuts;           // one a selection; empty if no cut was asked for
  // What came of asking last, one for each registration whose rows are asked for. Null: the query
  // touches none, or did not ask.
  std::shared_ptr<const std::vector<CallbackAnswer>> callbacks;

  [[nodiscard]] const std::uint64_t* row(std::size_t index) const noexcept {
    return values.data() + plan->value_of(index);
  }
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
  // Sets and counters are matched by name or symbol. `name#7` is the instance with id 7, else the
  // one called so, else the eighth of that name among all providers; untrusted providers are looked
  // at only if trusted ones have none of these. `set/x` is counter x in each set that has one, and
  // instance x in the others. Instances that were closed before are not selected; those
  // that close later keep their rows until update(). `excluded` are globs over set/instance/counter
  // and set/counter, in symbols.
  static Result<Query> compile(const Catalog& catalog, const std::vector<std::string>& patterns,
                               const std::vector<std::string>& excluded = {});
  // A part of another query: it sends no request, registers no interest, and finds the rows of the
  // other's answers, as the other's plan has them now. Instances are the same objects.
  static Result<Query> compile_part(const Query& whole, const Catalog& catalog,
                                    const std::vector<std::string>& patterns,
                                    const std::vector<std::string>& excluded = {});

  // A query of items, perhaps none to begin with. Items that ask for what is not there are kept, as
  // patterns are. Each has its answer in the plan. An item selects a base counter by its id only.
  static Query of_items(const Catalog& catalog, std::vector<QueryItem> items);

  // More items, behind those that are there. Precondition of the three: a query of items.
  void add(const Catalog& catalog, std::vector<QueryItem> items);
  // Removes all items equal to one of these, up to the case of the names; returns how many.
  std::size_t remove(const Catalog& catalog, const std::vector<QueryItem>& items);
  void replace(const Catalog& catalog, std::vector<QueryItem> items);
  // As they were added.
  [[nodiscard]] std::vector<QueryItem> items() const;

  // Adapts to a catalog that was refreshed. Cheap if it saw no change, else the work is that of the
  // registrations that changed. Returns true if the query now selects other rows or counters.
  bool update(const Catalog& catalog);

  // See the head of this file. The first form takes the caller's time stamp and touches no clock
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
  // collects. The time stamp is taken then. Only providers that the patterns or items name
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

  // Sizes a sample for the current plan, so that collect() need not allocate. If it throws, the
  // sample is empty.
  void prepare(Sample& sample) const;

  [[nodiscard]] const std::shared_ptr<const QueryPlan>& plan() const noexcept;
  [[nodiscard]] const std::vector<Unmatched>& unmatched() const noexcept;
  // What the patterns or items stand for at present, one path a value, in the order of cook().
  // Windows: PdhExpandWildCardPath.
  [[nodiscard]] std::vector<std::string> expanded(PathSpelling spelling) const;

 private:
  explicit Query(std::unique_ptr<CompiledQuery> compiled) noexcept;

  std::unique_ptr<CompiledQuery> compiled_;
};

}  // namespace meterbank
