// SPDX-License-Identifier: Apache-2.0
#include "held.hpp"

#include <algorithm>
#include <utility>

#include "meterbank/base/clock.hpp"

namespace meterbank::pmu::detail {

Result<std::shared_ptr<Heartbeat>> Heartbeat::create() {
  auto extent = OwnedExtent::create("meterbank-heartbeat", sizeof(SharedWord));
  if (!extent) return tl::make_unexpected(extent.error());
  auto heartbeat = std::make_shared<Heartbeat>(std::move(*extent));
  heartbeat->beat(clock_ns(CLOCK_MONOTONIC));
  return heartbeat;
}

bool Held::is_in_force() const noexcept {
  // [Q1] pairs with the stores in claim_in() and claim_nothing(). Without it: the pointer is seen
  // before what it points at.
  const Claim* const claim = claim_.load(std::memory_order_acquire);
  if (claim == nullptr) return false;
  if (is_late_.load(std::memory_order_relaxed)) return false;  // relaxed: stands for itself
  return claim->ledger->is_in_force(claim->token);
}

bool Held::use() noexcept {
  if (!is_in_force()) return false;
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (is_overdue(now)) {
    is_late_.store(true, std::memory_order_relaxed);  // relaxed: stands for itself
    return false;
  }
  heartbeat->beat(now);
  return true;
}

bool Held::is_overdue(std::uint64_t now_ns) const noexcept {
  const std::uint64_t term = term_ns_.load(std::memory_order_relaxed);  // relaxed: as is_late_
  const std::uint64_t last = heartbeat->last_ns();
  // Another thread may have used it after this one looked at the clock.
  return term != 0 && now_ns > last && now_ns - last > term - term / 10;
}

Token Held::claimed() const noexcept {
  const Claim* const claim = claim_.load(std::memory_order_acquire);  // [Q1]
  return claim == nullptr ? 0 : claim->token;
}

void Held::claim_in(std::shared_ptr<const LedgerView> ledger) {
  claims_.push_back(std::make_unique<const Claim>(Claim{granted.head.token, std::move(ledger)}));
  // [Q1] pairs with the loads of the hot path. Without it: they find a claim that is not yet
  // written.
  claim_.store(claims_.back().get(), std::memory_order_release);
}

void Held::begin_term() noexcept {
  // relaxed: published with the claim that follows, by [Q1].
  term_ns_.store(granted.head.term_ns, std::memory_order_relaxed);
  is_late_.store(false, std::memory_order_relaxed);
}

void Held::claim_nothing() noexcept {
  claim_.store(nullptr, std::memory_order_release);  // [Q1]
}

}  // namespace meterbank::pmu::detail
