// SPDX-License-Identifier: Apache-2.0
#include "live_source.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "raw_counter.hpp"

namespace meterbank::pdh {
namespace {

constexpr std::chrono::seconds kTimeout{5};  // as on Windows, for values
// What changes in a provider that is attached shows in memory; new ones have to be looked for.
constexpr std::uint64_t kLookEveryNs = 1'000'000'000;

}  // namespace

PDH_STATUS LiveSource::find(const PathElements& path, FoundCounter& found) {
  if (const auto looked = catalog_.refresh(); !looked) return PDH_MEMORY_ALLOCATION_FAILURE;
  return find_counter(catalog_, path, found);
}

PDH_STATUS LiveSource::look_around() {
  const std::uint64_t now_ns = Timestamp::now().monotonic_ns;
  if (!catalog_.stale() && now_ns - looked_ns_ < kLookEveryNs) return ERROR_SUCCESS;
  looked_ns_ = now_ns;
  return catalog_.refresh() ? ERROR_SUCCESS : PDH_MEMORY_ALLOCATION_FAILURE;
}

void LiveSource::make_ready(const std::vector<FoundCounter>& counters) {
  const bool is_known =
      std::equal(counters_.begin(), counters_.end(), counters.begin(), counters.end(),
                 [](const FoundCounter& left, const FoundCounter& right) {
                   return is_same(left.item, right.item);
                 });
  if (is_known) {
    query_.update(catalog_);
    return;
  }
  std::vector<QueryItem> items;
  items.reserve(counters.size());
  for (const FoundCounter& counter : counters) items.push_back(counter.item);
  query_.replace(catalog_, std::move(items));
}

bool LiveSource::has_data() const noexcept {
  const std::span<const RowStatus> statuses = newer_.statuses();
  return std::any_of(statuses.begin(), statuses.end(), [](RowStatus status) {
    return status == RowStatus::kFresh || status == RowStatus::kCheckpoint;
  });
}

PDH_STATUS LiveSource::collect(std::vector<FoundCounter> counters) {
  if (const PDH_STATUS status = look_around(); status != ERROR_SUCCESS) return status;
  const std::uint64_t version = query_.version();
  make_ready(counters);
  const CollectSummary summary =
      query_.asks() ? query_.collect(older_, kTimeout) : query_.collect(older_, Timestamp::now());
  // What was the older sample has the values that were just collected.
  std::swap(older_, newer_);
  const bool is_renumbered = rows_.size() != counters.size() || version != query_.version();
  counters_ = std::move(counters);
  if (is_renumbered) {
    rows_.clear();
    rows_ = number_rows(query_);
  }
  if (summary.no_memory) return PDH_MEMORY_ALLOCATION_FAILURE;
  return has_data() ? ERROR_SUCCESS : PDH_NO_DATA;
}

std::int64_t LiveSource::local_time() const noexcept { return local_time_of(newer_.time); }

std::vector<std::vector<Reading>> LiveSource::readings(CookOptions options) const {
  return read_samples(older_, newer_, counters_, rows_, options);
}

DWORD LiveSource::why_absent(std::size_t counter) const noexcept {
  const ItemAnswer& answer = query_.item_answers()[counter];
  if (answer.set == nullptr || !answer.alive) return PDH_CSTATUS_NO_OBJECT;
  if (answer.status == ItemStatus::kCounterAbsent) return PDH_CSTATUS_NO_COUNTER;
  return PDH_CSTATUS_NO_INSTANCE;
}

}  // namespace meterbank::pdh
