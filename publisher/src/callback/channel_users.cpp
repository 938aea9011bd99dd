// SPDX-License-Identifier: Apache-2.0
#include "channel_users.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace meterbank::detail {
namespace {

constexpr std::size_t kUsersMax = 256;  // remembered without reason

}  // namespace

ChannelUsers::ChannelUsers(const ChannelLimits& limits) : limits_(limits), own_(::geteuid()) {}

bool ChannelUsers::has_all_connections(uid_t uid) const noexcept {
  const auto user = users_.find(uid);
  return user != users_.end() && user->second.connections >= limits_.connections_per_user;
}

void ChannelUsers::add_connection(uid_t uid, Time now) {
  if (users_.size() >= kUsersMax) forget_some(now);
  const TokenBucket full(limits_.requests_per_second, limits_.requests_at_once, now);
  users_.try_emplace(uid, User{0, 0, full}).first->second.connections += 1;
}

void ChannelUsers::remove_connection(uid_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user != users_.end()) user->second.connections -= 1;
}

bool ChannelUsers::take_request(uid_t uid, Time now) noexcept {
  if (!is_foreign(uid)) return true;
  const auto user = users_.find(uid);
  return user == users_.end() || user->second.bucket.take(now);
}

bool ChannelUsers::begin_call(uid_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user == users_.end()) return true;
  const std::size_t share = std::max<std::size_t>(1, limits_.callbacks_max / 2);
  if (is_foreign(uid) && user->second.calls >= share) return false;
  user->second.calls += 1;
  return true;
}

void ChannelUsers::end_call(uid_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user != users_.end()) user->second.calls -= 1;
}

void ChannelUsers::forget_some(Time now) noexcept {
  for (auto known = users_.begin(); known != users_.end();) {
    User& user = known->second;
    const bool forget = user.connections == 0 && user.calls == 0 && user.bucket.is_full(now);
    known = forget ? users_.erase(known) : std::next(known);
  }
}

}  // namespace meterbank::detail
