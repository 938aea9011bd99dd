// SPDX-License-Identifier: Apache-2.0
//
// A sample is what one Query::collect() copied: rows, which are instances, and their values.
//
//   for (const Row& row : newer.since(older)) {
//     for (const Value& value : row) print(value.path(), value.cooked.value, value.unit());
//   }
//
// Thread safety  One thread at a time per sample; iterating counts as a use of both samples. While
//                no other function runs, any number of threads may call statuses() and stored().
// Errors         A row has a RowStatus, a value a CookStatus. Functions that return strings or
//                vectors, and iterating while it still allocates, may throw std::bad_alloc.
// Progress       Bounded by the rows of the sample; no lock, no system call.
// Cost           Iterating over numbers of one plan allocates nothing. Totals, distributions and
//                texts need memory once: a sample keeps it, and lends it to the one that it takes
//                turns with. Totals of distributions of unequal shapes allocate each time.
// Lifetime       Rows and values are valid until the iteration goes on. What they point to in the
//                catalog lives until the sample is collected again, cleared or destroyed; texts and
//                distributions live as long as the value.
// Units          Times are nanoseconds. Value::unit() is a UCUM code, of the stored value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank {

class RowCursor;
struct QueryPlan;
struct SampleContent;
struct Value;

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

// The row that a reader makes of the others, those of trusted providers. A provider may publish a
// row of this name as well: in a set whose total the reader makes, it is one more row of that
// provider, in no total and never in place of it.
inline constexpr std::string_view kTotalName = "_Total";
inline constexpr std::uint32_t kTotalInstanceId = 0xfffffffe;
// Whether a provider published the instance under the name of the total that a reader makes.
[[nodiscard]] bool is_called_total(const Counterset& set, const InstanceView& instance) noexcept;

// How the rows of one selection hang together. Rows that a provider computes, counters that are
// independent, and sharded rows in which threads share a block are never better than kPerBlock,
// unless their provider is dead.
enum class CutQuality : std::uint8_t {
  kPerBlock,  // each row for itself
  kCut,       // what a row shows, everything that led to it shows; up to a heartbeat old
  kExact,     // all were so at one moment during collect()
};
[[nodiscard]] std::string_view name_of(CutQuality quality) noexcept;

// One instance, or the total of several. Plain data, so that programs can make rows of their own;
// such a row, and a copy, has no values to iterate over.
struct Row {
  const ProviderView* provider = nullptr;
  const RegisteredSet* registered = nullptr;  // in *provider
  const InstanceView* instance = nullptr;
  RowStatus status = RowStatus::kBusy;
  RowConsistency consistency = RowConsistency::kBlock;
  CutQuality cut = CutQuality::kPerBlock;  // if the sample was collected with a cut
  std::uint64_t skew_ns = 0;  // kPerBlock: the first load was at most so long before the last
  std::uint64_t time_ns =
      0;                 // when the provider stored the values, where it says so; else collect()
  std::size_t item = 0;  // its number, of a query of items
  // Another provider has an instance of this name in a set so called. Only trusted providers
  // count for the rows of one; rows of other providers always have it.
  bool has_namesake = false;
  bool shares_name = false;  // another instance of its own provider has its name in the set
  bool is_total = false;     // made by this reader; provider and set are those of the first share
  bool is_apart = false;     // the name of the set stands for another description of it

  [[nodiscard]] const Counterset& set() const noexcept { return *registered->set; }
  [[nodiscard]] std::string_view name() const noexcept { return instance->name; }
  [[nodiscard]] std::uint32_t id() const noexcept { return instance->id; }
  // "eu", or "eu#7" with the id where it shares its name: as paths have it.
  [[nodiscard]] std::string instance_label() const;
  [[nodiscard]] std::string provider_label() const { return provider->label(); }
  // What one instance of the set is called: "venue".
  [[nodiscard]] const std::string& set_label() const noexcept { return set().label; }
  // The row would pass for one that a trusted provider or this reader makes: it belongs to an
  // untrusted provider, a provider called it `_Total`, or it is the total of a set whose name
  // stands for another one.
  [[nodiscard]] bool needs_provider() const noexcept;

  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 private:
  friend RowCursor;
  // Does not follow a row into its copies.
  struct Source {
    RowCursor* cursor = nullptr;

    Source() = default;
    Source(const Source& /*other*/) noexcept {}
    // It keeps what it has, whatever is assigned.
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp)
    Source& operator=(const Source& /*other*/) noexcept { return *this; }
    ~Source() = default;
  };
  Source source_;
};

// One counter of one row.
struct Value {
  const Row* row = nullptr;
  const CounterView* counter = nullptr;
  CookedValue cooked;
  RawValue raw;
  // Of a distribution: what was recorded between the two samples, or since its beginning where
  // there is no older one. Its cooked value is about the count. Null: it has none.
  const Distribution* distribution = nullptr;
  std::optional<std::string_view> text;  // of a text; its cooked value is zero
  std::uint64_t set_ns = 0;              // of a timed counter: CLOCK_MONOTONIC_COARSE, 0: never

  [[nodiscard]] const ProviderView& provider() const noexcept { return *row->provider; }
  [[nodiscard]] const Counterset& set() const noexcept { return row->set(); }
  [[nodiscard]] const InstanceView& instance() const noexcept { return *row->instance; }
  [[nodiscard]] RowStatus status() const noexcept { return row->status; }
  [[nodiscard]] const std::string& name() const noexcept { return counter->name; }
  [[nodiscard]] const std::string& symbol() const noexcept { return counter->symbol; }
  [[nodiscard]] CounterType kind() const noexcept { return counter->type; }
  [[nodiscard]] const std::string& unit() const noexcept { return counter->unit; }
  [[nodiscard]] const std::string& help() const noexcept { return counter->help; }

  // Names the provider where Row::needs_provider(), and where another one calls an instance the
  // same; has the id where another instance of the same provider is called the same.
  [[nodiscard]] CounterPath counter_path(PathSpelling spelling) const;
  // "\Processor Information(_Total)\% Processor Time", the printed counter_path().
  [[nodiscard]] std::string path() const;
  // "processor_information/_Total/processor_time", with a provider only where that is needed.
  [[nodiscard]] std::string short_path() const;
};

// Values are cooked as the iterator reaches them, plain numbers a few at a time. Iterators of one
// row share their values.
class Row::Iterator {
 public:
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  Iterator() = default;
  explicit Iterator(RowCursor* cursor);

  [[nodiscard]] const Value& operator*() const noexcept { return *value_; }
  [[nodiscard]] const Value* operator->() const noexcept { return value_; }
  Iterator& operator++() {
    if (++value_ != cooked_end_) return *this;
    if (next_ == count_) {
      value_ = nullptr;
    } else {
      cook_more();
    }
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& left, std::default_sentinel_t /*end*/) noexcept {
    return left.value_ == nullptr;
  }

 private:
  void cook_more();

  RowCursor* cursor_ = nullptr;
  const Value* value_ = nullptr;  // null: at the end
  const Value* cooked_end_ = nullptr;
  std::size_t next_ = 0;   // value of the row after the cooked ones
  std::size_t count_ = 0;  // values of the row
};

// The rows of a sample, in the order of the query: selection by selection, or item by item, and
// instance by instance. Rows of two samples are paired by provider segment, registration, slot and
// generation.
class Rows {
 public:
  class Iterator {
   public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator(Iterator&& other) noexcept;
    Iterator& operator=(Iterator&& other) noexcept;
    ~Iterator();

    [[nodiscard]] const Row& operator*() const noexcept;
    [[nodiscard]] const Row* operator->() const noexcept { return &**this; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& left, std::default_sentinel_t /*end*/) noexcept {
      return left.is_at_end();
    }

   private:
    friend Rows;
    explicit Iterator(const Rows& rows);
    [[nodiscard]] bool is_at_end() const noexcept;
    void give_back() noexcept;

    const SampleContent* lender_ = nullptr;  // keeps the cursor between iterations
    std::shared_ptr<RowCursor> cursor_;
  };

  [[nodiscard]] Iterator begin() const { return Iterator(*this); }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 private:
  friend struct Sample;
  Rows(const struct Sample* older, const struct Sample& newer, CookOptions options) noexcept
      : older_(older), newer_(&newer), options_(options) {}

  const struct Sample* older_;  // null: none
  const struct Sample* newer_;
  CookOptions options_;
};

// What a query takes of one registration of one provider.
class SelectedSet {
 public:
  SelectedSet(const QueryPlan& plan, std::size_t index) noexcept : plan_(&plan), index_(index) {}

  [[nodiscard]] const ProviderView& provider() const noexcept;
  [[nodiscard]] const RegisteredSet& registered() const noexcept;
  [[nodiscard]] const Counterset& set() const noexcept { return *registered().set; }
  // Indexes in Counterset::counters, in the order of the request.
  [[nodiscard]] const std::vector<std::uint32_t>& counters() const noexcept;
  [[nodiscard]] std::size_t instances() const noexcept;
  [[nodiscard]] const InstanceView& instance(std::size_t number) const noexcept;
  [[nodiscard]] bool is_total() const noexcept;      // its instances become one row
  [[nodiscard]] bool is_on_demand() const noexcept;  // its provider was asked for the rows

 private:
  const QueryPlan* plan_;
  std::size_t index_;
};

// The values of one row as they were stored.
class StoredRow {
 public:
  // `word`: CounterView::word of a counter of the row's set. If a value has several parts, this is
  // the first one.
  [[nodiscard]] std::uint64_t operator[](std::uint32_t word) const noexcept {
    return values_[word];
  }
  // All of them: BlockForm::words of the set.
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return {values_, count_}; }

 private:
  friend struct Sample;
  StoredRow(const std::uint64_t* values, std::size_t count) noexcept
      : values_(values), count_(count) {}

  const std::uint64_t* values_;
  std::size_t count_;
};

struct Sample {
  Timestamp time;
  // What came of asking last, one for each registration whose rows are asked for. Null: the query
  // touches none, or did not ask.
  std::shared_ptr<const std::vector<CallbackAnswer>> callbacks;

  Sample() noexcept;
  Sample(const Sample& other);
  Sample(Sample&& other) noexcept;
  Sample& operator=(const Sample& other);
  Sample& operator=(Sample&& other) noexcept;
  ~Sample();

  // Nothing was collected.
  [[nodiscard]] bool empty() const noexcept;
  // Lets go of the catalog and keeps the memory.
  void clear() noexcept;

  // Values since their beginning: rates say CookStatus::kFirstSample.
  [[nodiscard]] Rows rows(CookOptions options = {}) const noexcept;
  [[nodiscard]] Rows::Iterator begin() const { return rows().begin(); }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
  // Values between the two samples. The older one may be empty, or of another plan; then rows that
  // it lacks are as in rows(). Both must outlive the iteration.
  [[nodiscard]] Rows since(const Sample& older, CookOptions options = {}) const noexcept;

  // What the query took, in its order; valid until the sample is collected again.
  [[nodiscard]] std::vector<SelectedSet> selected() const;
  // Providers whose rows would be in a total if they were trusted.
  [[nodiscard]] std::span<const std::shared_ptr<const ProviderView>> left_out() const noexcept;

  // Indexed by row number, as an ItemAnswer gives it. Each share of a total is a row here.
  [[nodiscard]] std::span<const RowStatus> statuses() const noexcept;
  [[nodiscard]] std::span<const RowConsistency> consistencies() const noexcept;
  [[nodiscard]] StoredRow stored(std::size_t row) const noexcept;

 private:
  friend struct SampleAccess;
  std::unique_ptr<SampleContent> content_;  // null: empty
};

}  // namespace meterbank
