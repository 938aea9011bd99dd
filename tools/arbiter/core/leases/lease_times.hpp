// SPDX-License-Identifier: Apache-2.0
//
// When time alone changes something about a lease: a wait, a drain, a hold or a term ends, or the
// kernel may be asked again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arbiter/core/lease.hpp"
#include "arbiter/core/leases/due_times.hpp"

namespace meterbank::arbiter {

inline constexpr Nanoseconds kAwayMax = 10'000'000'000;  // taken for longer: it is lost
inline constexpr Nanoseconds kTick = 500'000'000;  // how far deadline() is while an action is due

// When it ends without a sign of life from its holder; 0: it does not. A lease that is suspended
// cannot be used, so its term stands still.
[[nodiscard]] Nanoseconds term_end(const Lease& lease) noexcept;

class LeaseTimes {
 public:
  // For the numbers below `leases_max`.
  explicit LeaseTimes(std::uint32_t leases_max) : due_(leases_max), acts_(leases_max) {}

  // Has to follow every change of a lease, and its end. The kernel may be asked again once: a
  // `retry_ns` that `now` has reached is not due any more.
  void note(const Lease& lease, Nanoseconds now);
  // Nothing: never. While the arbiter or a client has to act, it is not far away.
  [[nodiscard]] std::optional<Nanoseconds> deadline(Nanoseconds now) const;
  [[nodiscard]] std::vector<LeaseNumber> due(Nanoseconds now) const { return due_.due(now); }

  friend bool operator==(const LeaseTimes&, const LeaseTimes&) = default;

 private:
  DueTimes due_;
  std::vector<bool> acts_;    // by number: a client or the arbiter has to act before
  std::uint32_t acting_ = 0;  // how many of acts_ are set
};

}  // namespace meterbank::arbiter
