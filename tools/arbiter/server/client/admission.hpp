// SPDX-License-Identifier: Apache-2.0
//
// What each user has of the arbiter's socket: connections, and packets a second. No user can take
// the places of all, and none makes the arbiter too busy for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace meterbank::arbiter {

struct AdmissionLimits {
  std::size_t connections_max = 256;
  std::size_t user_connections_max = 32;
  std::size_t root_connections_max = 128;
  double packets_per_second = 2000;  // of a user other than root
  double packets_at_once = 1000;
};

class Admission {
 public:
  explicit Admission(AdmissionLimits limits = {}) : limits_(limits) {}

  // False: there are too many, of this user or of all. True: to be taken back with leave().
  [[nodiscard]] bool enter(std::uint32_t uid);
  void leave(std::uint32_t uid) noexcept;
  // False: this user asks too often. `now` is in ns.
  [[nodiscard]] bool take_packet(std::uint32_t uid, std::uint64_t now);

  [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

 private:
  struct User {
    std::size_t connections = 0;
    double share = 0;  // packets it may send at once
    std::uint64_t last = 0;
  };
  void forget_some(std::uint64_t now) noexcept;

  AdmissionLimits limits_;
  std::map<std::uint32_t, User> users_;
  std::size_t connections_ = 0;
};

}  // namespace meterbank::arbiter
