// SPDX-License-Identifier: Apache-2.0
//
// What each user may have of a provider's socket: connections, calls under way, requests a second.
// Users other than the provider's own and root, who could stop it anyhow, get shares. Not
// thread-safe.
#pragma once

#include <sys/types.h>

#include "channel_limits.hpp"

namespace meterbank::detail {

class ChannelUsers {
 public:
  using Time = UserShares::Time;

  // `limits` outlives it.
  explicit ChannelUsers(const ChannelLimits& limits);

  [[nodiscard]] uid_t own() const noexcept { return own_; }
  [[nodiscard]] bool is_foreign(uid_t uid) const noexcept {
    return !limits_.trusts_own_user || (uid != own_ && uid != 0);
  }

  [[nodiscard]] bool has_all_connections(uid_t uid) const noexcept {
    return shares_.connections_of(uid) >= limits_.connections_per_user;
  }
  void add_connection(uid_t uid, Time now) { shares_.add_connection(uid, now); }
  void remove_connection(uid_t uid) noexcept { shares_.remove_connection(uid); }

  // False: too many requests a second.
  [[nodiscard]] bool take_request(uid_t uid, Time now) noexcept {
    return !is_foreign(uid) || shares_.take_packet(uid, now);
  }

  // False: it has its share of the calls. True: to be ended.
  [[nodiscard]] bool begin_call(uid_t uid) noexcept;
  void end_call(uid_t uid) noexcept { shares_.end_call(uid); }

 private:
  const ChannelLimits& limits_;
  const uid_t own_;
  UserShares shares_;
};

}  // namespace meterbank::detail
