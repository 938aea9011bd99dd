// SPDX-License-Identifier: Apache-2.0
//
// What each user has of the arbiter's socket: connections, and packets a second. No user can take
// the places of all, and none makes the arbiter too busy for the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "meterbank/ipc/user_shares.hpp"

namespace meterbank::arbiter {

struct AdmissionLimits {
  std::size_t connections_max = 256;
  std::size_t user_connections_max = 32;
  std::size_t root_connections_max = 128;
  RateLimit packets{.per_second = 2000, .at_once = 1000};  // of a user other than root
};

// Units: times are CLOCK_MONOTONIC in ns.
class Admission {
 public:
  explicit Admission(AdmissionLimits limits = {});

  // False: there are too many, of this user or of all. True: to be taken back with leave().
  [[nodiscard]] bool enter(std::uint32_t uid, std::uint64_t now);
  void leave(std::uint32_t uid) noexcept { shares_.remove_connection(uid); }
  // False: this user asks too often.
  [[nodiscard]] bool take_packet(std::uint32_t uid, std::uint64_t now) noexcept;

  [[nodiscard]] std::size_t connections() const noexcept { return shares_.connections(); }

 private:
  AdmissionLimits limits_;
  UserShares shares_;
};

}  // namespace meterbank::arbiter
