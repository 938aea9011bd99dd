// SPDX-License-Identifier: Apache-2.0
//
// What the views of a catalog say of themselves.
#include <algorithm>
#include <tuple>

#include "liveness_words.hpp"
#include "memory/recorded_rows.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {

std::string_view name_of(ProviderState state) noexcept {
  switch (state) {
    case ProviderState::kLive:
      return "live";
    case ProviderState::kHung:
      return "hung";
    case ProviderState::kDead:
      return "dead";
    case ProviderState::kClosed:
      return "closed";
    case ProviderState::kUnreadable:
      return "unreadable";
    case ProviderState::kForeign:
      return "foreign";
  }
  return "unknown";
}

std::string_view name_of(LeftOutReason reason) noexcept {
  switch (reason) {
    case LeftOutReason::kProvidersMax:
      return "providers beyond the limit of one user";
    case LeftOutReason::kRecordsMax:
      return "records of dead or unreadable providers beyond the limit of one user";
    case LeftOutReason::kNotRead:
      return "more files called like records than are read at once";
    case LeftOutReason::kCannotOpen:
      return "records that cannot be opened";
    case LeftOutReason::kLargeDirectory:
      return "the rest of a directory with too many objects";
    case LeftOutReason::kProcess:
      return "processes whose descriptors may not be listed";
    case LeftOutReason::kSameMemory:
      return "records of memory that another record has brought in";
    case LeftOutReason::kNotARecord:
      return "files called like records that are not records";
    case LeftOutReason::kPolicy:
      return "records of other users";
    case LeftOutReason::kSquatted:
      return "directories called like that of a user, of another owner";
  }
  return "unknown";
}

std::string_view name_of(RegistrationState state) noexcept {
  switch (state) {
    case RegistrationState::kFree:
      return "free";
    case RegistrationState::kInserted:
      return "inserted";
    case RegistrationState::kClosing:
      return "closing";
    case RegistrationState::kClosed:
      return "closed";
  }
  return "unknown";
}

bool is_readable(const ProviderView& provider, const RegisteredSet& set) noexcept {
  return provider.segment != nullptr &&
         (set.state == RegistrationState::kInserted || set.state == RegistrationState::kClosing);
}

bool comes_before(const ProviderView& left, const ProviderView& right) noexcept {
  const auto rank = [](const ProviderView& provider) {
    const int order = provider.state == ProviderState::kForeign ? 1
                      : is_alive(provider.state)                ? 0
                                                                : 2;
    return std::tuple(!provider.trusted, order, provider.created_realtime_ns, provider.pid);
  };
  return rank(left) < rank(right);
}

const CounterView* Counterset::find(std::uint32_t id) const noexcept {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [id](const CounterView& counter) { return counter.id == id; });
  return found == counters.end() ? nullptr : &*found;
}

const CounterView* Counterset::find(std::string_view name_or_symbol) const noexcept {
  for (const CounterView& counter : counters) {
    if (!counter.name.empty() && equal_folded(counter.name, name_or_symbol)) return &counter;
  }
  for (const CounterView& counter : counters) {
    if (!counter.symbol.empty() && equal_folded(counter.symbol, name_or_symbol)) return &counter;
  }
  return nullptr;
}

std::string ProviderView::label() const { return name + "@" + std::to_string(named_pid()); }

std::uint64_t ProviderView::heartbeat_age_ns() const noexcept {
  if (segment == nullptr) return 0;
  // relaxed: a number for people, it orders nothing.
  if (recorded != nullptr) return recorded->heartbeat_age_ns.load(std::memory_order_relaxed);
  return meterbank::heartbeat_age_ns(segment->header());
}

std::uint64_t ProviderView::refused() const noexcept {
  if (segment == nullptr) return 0;
  std::uint64_t sum = 0;
  for (const SharedWord& reason : segment->header().refused) {
    sum += reason.load(std::memory_order_relaxed);  // relaxed: statistics, they order nothing
  }
  return sum;
}

std::uint64_t ProviderView::interested(const RegisteredSet& set) const noexcept {
  if (segment == nullptr) return 0;
  const auto* const declared = segment->at<RegistrationRecord>(set.registration);
  // relaxed: a number for people, it orders nothing.
  return declared == nullptr ? 0 : declared->interest.load(std::memory_order_relaxed);
}

RecordRemoval remove_record(const ProviderView& provider) {
  return remove_ended_record(provider.record, provider.record_file);
}

}  // namespace meterbank
