// SPDX-License-Identifier: Apache-2.0
//
// What each user has of a server: connections, calls under way, packets a second. It counts; how
// much a user may have is for the server to decide.
//
// Thread safety: none. Units: packets a second.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <unordered_map>

namespace meterbank {

struct RateLimit {
  double per_second = 0;  // in the long run
  double at_once = 0;
};

// Lets as many events through as its limit says. Full when it is made.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  TokenBucket(RateLimit limit, Time now) noexcept
      : limit_(limit), tokens_(limit.at_once), at_(now) {}

  [[nodiscard]] bool take(Time now) noexcept;
  [[nodiscard]] bool is_full(Time now) const noexcept;

 private:
  [[nodiscard]] double tokens_at(Time now) const noexcept;

  RateLimit limit_;
  double tokens_;
  Time at_;
};

class UserShares {
 public:
  using Time = TokenBucket::Time;
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // Users without connections and calls are remembered until they may send at the full rate again:
  // coming back earns nothing. Beyond `users_max` the others are forgotten.
  UserShares(RateLimit packets, std::size_t users_max) noexcept
      : packets_(packets), users_max_(users_max) {}

  [[nodiscard]] std::size_t connections() const noexcept { return connections_; }
  [[nodiscard]] std::size_t connections_of(uid_t uid) const noexcept;
  // Errors: std::bad_alloc.
  void add_connection(uid_t uid, Time now);
  void remove_connection(uid_t uid) noexcept;

  // Precondition: the user has a connection. False: it sends too fast.
  [[nodiscard]] bool take_packet(uid_t uid, Time now) noexcept;

  // Calls of users without connections are not counted. False: it has `calls_max` under way. True:
  // end_call() takes it back.
  [[nodiscard]] bool begin_call(uid_t uid, std::size_t calls_max) noexcept;
  void end_call(uid_t uid) noexcept;

 private:
  struct User {
    std::size_t connections = 0;
    std::size_t calls = 0;
    TokenBucket packets;
  };
  void forget_some(Time now) noexcept;

  const RateLimit packets_;
  const std::size_t users_max_;
  std::size_t connections_ = 0;
  std::unordered_map<uid_t, User> users_;
};

}  // namespace meterbank
