// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/lease_table.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] bool is_counted(const Lease& lease) {
  return lease.is_held() || lease.state() == pmu::LeaseState::kPreparing;
}

}  // namespace

LeaseTable::LeaseTable(std::uint16_t epoch, std::uint32_t leases_max, const Policy& policy)
    : epoch_(epoch),
      leases_max_(leases_max),
      classes_(policy.classes),
      by_number_(leases_max, nullptr) {}

Lease* LeaseTable::find(LeaseNumber number) {
  Lease* lease = number < leases_max_ ? by_number_[number] : nullptr;
  if (lease != nullptr) touch(*lease);
  return lease;
}

const Lease* LeaseTable::find(LeaseNumber number) const {
  return number < leases_max_ ? by_number_[number] : nullptr;
}

void LeaseTable::touch(Lease& lease) {
  if (!std::exchange(lease.is_touched_, true)) touched_.push_back(lease.number);
}

std::vector<LeaseNumber> LeaseTable::take_touched() {
  for (const LeaseNumber number : touched_) {
    if (by_number_[number] != nullptr) by_number_[number]->is_touched_ = false;
  }
  return std::exchange(touched_, {});
}

Lease* LeaseTable::find_present(LeaseNumber number) {
  Lease* lease = find(number);
  return lease == nullptr || lease->state() == pmu::LeaseState::kNone ? nullptr : lease;
}

const Lease* LeaseTable::find_present(LeaseNumber number) const {
  const Lease* lease = find(number);
  return lease == nullptr || lease->state() == pmu::LeaseState::kNone ? nullptr : lease;
}

Lease* LeaseTable::find_held(ClientNumber client, pmu::Token token) {
  Lease* lease = find_present(pmu::lease_of(token));
  const bool is_its = lease != nullptr && lease->token == token && lease->client == client;
  return is_its && lease->is_held() ? lease : nullptr;
}

std::optional<LeaseNumber> LeaseTable::free_number() const {
  // In turn: a number is not given out again at once, and tokens last as long as all numbers do.
  const std::uint32_t numbers = leases_max_ - 1;
  for (std::uint32_t tried = 0; tried < numbers; ++tried) {
    const auto candidate = static_cast<LeaseNumber>(1 + (next_arrival_ + tried) % numbers);
    if (by_number_[candidate] != nullptr) continue;
    const auto found = generations_.find(candidate);
    // A number whose generations are used up would repeat its tokens.
    if (found == generations_.end() || found->second != ~std::uint32_t{0}) return candidate;
  }
  return std::nullopt;
}

Lease& LeaseTable::add(Lease lease) {
  lease.number = free_number().value();
  lease.arrival = next_arrival_++;
  if (!lease.has(pmu::kAllocateDryRun)) renew_token(lease);
  lease.state_ = pmu::LeaseState::kQueued;
  const LeaseNumber number = lease.number;
  Lease& placed = leases_.insert_or_assign(number, std::move(lease)).first->second;
  by_number_[number] = &placed;
  touch(placed);
  count_in(placed, tally_);
  return placed;
}

void LeaseTable::renew_token(Lease& lease) {
  lease.token = pmu::make_token(epoch_, lease.number, ++generations_[lease.number]);
}

bool LeaseTable::become(Lease& lease, pmu::LeaseState state) {
  if (lease.state() == state) return false;
  touch(lease);
  count_out(lease);
  lease.state_ = state;
  count_in(lease, tally_);
  if (state == pmu::LeaseState::kNone) ended_.push_back(lease.number);
  return true;
}

void LeaseTable::forget_ended() {
  for (const LeaseNumber number : std::exchange(ended_, {})) {
    const auto found = leases_.find(number);
    if (found != leases_.end() && found->second.state() == pmu::LeaseState::kNone) {
      by_number_[number] = nullptr;
      leases_.erase(found);
    }
  }
}

void LeaseTable::adopt(const Policy& policy) {
  classes_ = policy.classes;
  tally_ = counted_anew();
}

UserCounts LeaseTable::counts_of(std::uint32_t uid) const {
  const auto known = tally_.users.find(uid);
  return known == tally_.users.end() ? UserCounts{} : known->second;
}

bool LeaseTable::gives_way(const Lease& lease) const {
  const bool is_running =
      lease.state() == pmu::LeaseState::kActive || lease.state() == pmu::LeaseState::kSuspended;
  return is_running && (classes_.at(lease.asked.head.priority).is_preemptible ||
                        lease.has(pmu::kAllocateRestorable));
}

bool LeaseTable::may_preempt(pmu::Priority priority) const {
  const auto first_above = tally_.giving_way.begin() + static_cast<std::ptrdiff_t>(priority);
  return std::any_of(tally_.giving_way.begin(), first_above,
                     [](std::uint32_t count) { return count != 0; });
}

void LeaseTable::count_in(const Lease& lease, Tally& counts) const {
  if (is_counted(lease)) ++counts.users[lease.holder.uid].leases;
  if (lease.state() == pmu::LeaseState::kQueued) ++counts.users[lease.holder.uid].waits;
  if (gives_way(lease)) ++counts.giving_way.at(lease.asked.head.priority);
}

void LeaseTable::count_out(const Lease& lease) {
  if (gives_way(lease)) --tally_.giving_way.at(lease.asked.head.priority);
  const auto counts = tally_.users.find(lease.holder.uid);
  if (counts == tally_.users.end()) return;  // nothing of this user counts
  counts->second.leases -= is_counted(lease) ? 1U : 0U;
  counts->second.waits -= lease.state() == pmu::LeaseState::kQueued ? 1U : 0U;
  if (counts->second.leases == 0 && counts->second.waits == 0) tally_.users.erase(counts);
}

LeaseTable::Tally LeaseTable::counted_anew() const {
  Tally anew;
  for (const auto& [number, lease] : leases_) count_in(lease, anew);
  return anew;
}

}  // namespace meterbank::arbiter
