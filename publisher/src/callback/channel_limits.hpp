// SPDX-License-Identifier: Apache-2.0
//
// What one provider allows its callers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "meterbank/shm/channel.hpp"

namespace meterbank::detail {

struct ChannelLimits {
  std::size_t callbacks_max = 8;  // under way at a time
  std::size_t connections_max = 256;
  std::size_t connections_per_user = 192;
  std::uint32_t faults_max = 3;  // packets that break a rule; then the connection is closed
  std::size_t unsent_max = 16;   // answers that a reader does not fetch; then it is closed

  // Of users other than the provider's own and root, who could stop the provider anyhow.
  double requests_per_second = 2000;
  double requests_at_once = 4000;
  std::uint32_t foreign_outstanding_max = kOutstandingRequestsMax / 2;  // of one registration
  bool trusts_own_user = true;  // false: in tests, which cannot become another user
};

// Lets `rate` events a second through in the long run, and `burst` at once.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  TokenBucket(double rate, double burst, Time now) noexcept
      : rate_(rate), burst_(burst), tokens_(burst), at_(now) {}

  [[nodiscard]] bool take(Time now) noexcept {
    refill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  [[nodiscard]] bool is_full(Time now) noexcept {
    refill(now);
    return tokens_ >= burst_;
  }

 private:
  void refill(Time now) noexcept {
    const std::chrono::duration<double> passed = now - at_;
    at_ = now;
    tokens_ = std::min(burst_, tokens_ + passed.count() * rate_);
  }

  double rate_, burst_, tokens_;
  Time at_;
};

}  // namespace meterbank::detail
