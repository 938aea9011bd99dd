// SPDX-License-Identifier: Apache-2.0
//
// A query that names sets, instances and counters by number, as PerfLib V2 does. Each item has an
// answer of its own.
//
// Thread safety  One thread at a time per query.
// Errors         A row has a RowStatus, an item an ItemStatus; nothing fails but memory:
//                collect() says no_memory, other functions throw std::bad_alloc and leave the query
//                as it was.
// Progress       collect() without a timeout is bounded and makes no system call, as Query's.
// Cost           Items that differ in the counter alone share their rows. collect() allocates
//                nothing once the sample has its size.
// Lifetime       Answers and rows are valid until the query changes; samples may outlive it.
// Units          Timeouts are std::chrono durations, time stamps nanoseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/reader/query.hpp"

namespace meterbank {

inline constexpr std::uint32_t kAnyCounterId = 0xffffffff;  // all that are shown

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

// What an item selects. Providers that describe the set alike are merged in the order of
// comes_before(); the first describes it for them. Rows are numbers, see Sample::stored() and
// ItemQuery::row().
struct ItemAnswer {
  QueryItem item;
  std::size_t index = 0;  // position of the item in the query
  ItemStatus status = ItemStatus::kCountersetAbsent;
  const RegisteredSet* set = nullptr;  // of the first provider; null: kCountersetAbsent
  bool alive = false;                  // that provider lives
  bool trusted = false;                // and is trusted
  // Those of one name are in the order of their ids in each registration, those of a pattern in the
  // order of their slots. Shared by items that differ in the counter alone, never null.
  std::shared_ptr<const std::vector<std::uint32_t>> rows;
  // The rows that become one, `_Total`, behind the others.
  std::shared_ptr<const std::vector<std::uint32_t>> summed;
};
// Last values of providers that this query saw end, of a set that goes on counting them
// (InstanceKind::kGlobalAggregateHistory), as one.
struct EndedValues {
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
class ItemQuery {
 public:
  // Perhaps no items to begin with. Items that match nothing are kept, as patterns
  // are. An item selects a base counter by its id only.
  static ItemQuery compile(const Catalog& catalog, std::vector<QueryItem> items);
  ItemQuery(ItemQuery&& other) noexcept;
  ItemQuery& operator=(ItemQuery&& other) noexcept;
  ~ItemQuery();

  // More items, behind those that are there.
  void add(const Catalog& catalog, std::vector<QueryItem> items);
  // Removes all items equal to one of these, up to the case of the names; returns how many.
  std::size_t remove(const Catalog& catalog, const std::vector<QueryItem>& items);
  void replace(const Catalog& catalog, std::vector<QueryItem> items);
  // As they were added.
  [[nodiscard]] std::vector<QueryItem> items() const;

  // One an item, in their order, about the first description of its set.
  [[nodiscard]] const std::vector<ItemAnswer>& item_answers() const noexcept;
  // About further descriptions, those of untrusted providers taken together.
  [[nodiscard]] const std::vector<ItemAnswer>& further_answers() const noexcept;
  // One a description of a set; of trusted providers. The sets of one user have at most 64 entries
  // and 16,384 counters together.
  [[nodiscard]] const std::vector<EndedValues>& ended() const noexcept;
  // Provider, set and instance of a row by its number; it has no values.
  [[nodiscard]] Row row(std::size_t number) const noexcept;
  // Changes when the answers do.
  [[nodiscard]] std::uint64_t version() const noexcept;

  // These are as in Query.
  bool update(const Catalog& catalog);
  CollectSummary collect(Sample& sample, Timestamp time, Cut cut = Cut::kNone) noexcept;
  CollectSummary collect(Sample& sample, Cut cut = Cut::kNone) noexcept {
    return collect(sample, Timestamp::now(), cut);
  }
  CollectSummary collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut = Cut::kNone);
  bool enumerate(std::chrono::nanoseconds timeout);
  // Providers are told of interest when the items or the catalog change, without waiting. This
  // waits for what their callbacks return, no longer than the timeout, and for each once.
  [[nodiscard]] std::vector<InterestAnswer> hear_interest(std::chrono::nanoseconds timeout);
  [[nodiscard]] bool asks() const noexcept;
  [[nodiscard]] AskCounts ask_counts() const noexcept;
  [[nodiscard]] std::shared_ptr<const std::vector<CallbackAnswer>> answers() const noexcept;
  void prepare(Sample& sample) const;
  [[nodiscard]] std::vector<SelectedSet> selected() const;
  [[nodiscard]] std::vector<std::string> expanded(PathSpelling spelling) const;

 private:
  friend struct QueryAccess;
  ItemQuery() noexcept;

  std::unique_ptr<CompiledQuery> compiled_;
};

}  // namespace meterbank
