// SPDX-License-Identifier: Apache-2.0
//
// What each user of a provider's socket has of it: connections, calls under way, requests a second.
// Users other than the provider's own and root, who could stop it anyhow, get shares. Not
// thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <unordered_map>

#include "channel_limits.hpp"

namespace meterbank::detail {

class ChannelUsers {
 public:
  using Time = TokenBucket::Time;

  // `limits` outlives it.
  explicit ChannelUsers(const ChannelLimits& limits);

  [[nodiscard]] uid_t own() const noexcept { return own_; }
  [[nodiscard]] bool is_foreign(uid_t uid) const noexcept {
    return !limits_.trusts_own_user || (uid != own_ && uid != 0);
  }

  [[nodiscard]] bool has_all_connections(uid_t uid) const noexcept;
  void add_connection(uid_t uid, Time now);
  void remove_connection(uid_t uid) noexcept;

  // False: too many requests a second.
  [[nodiscard]] bool take_request(uid_t uid, Time now) noexcept;

  // False: it has its share of the calls. True: to be ended.
  [[nodiscard]] bool begin_call(uid_t uid) noexcept;
  void end_call(uid_t uid) noexcept;

 private:
  struct User {
    std::size_t connections = 0;
    std::size_t calls = 0;
    TokenBucket bucket;
  };
  void forget_some(Time now) noexcept;

  const ChannelLimits& limits_;
  const uid_t own_;
  std::unordered_map<uid_t, User> users_;
};

}  // namespace meterbank::detail
