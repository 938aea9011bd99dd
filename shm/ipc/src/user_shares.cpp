// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/user_shares.hpp"

#include <algorithm>

namespace meterbank {

bool TokenBucket::take(Time now) noexcept {
  tokens_ = tokens_at(now);
  at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

bool TokenBucket::is_full(Time now) const noexcept { return tokens_at(now) >= limit_.at_once; }

double TokenBucket::tokens_at(Time now) const noexcept {
  const std::chrono::duration<double> passed = now - std::min(now, at_);
  return std::min(limit_.at_once, tokens_ + passed.count() * limit_.per_second);
}

std::size_t UserShares::connections_of(uid_t uid) const noexcept {
  const auto user = users_.find(uid);
  return user == users_.end() ? 0 : user->second.connections;
}

void UserShares::add_connection(uid_t uid, Time now) {
  if (users_.size() >= users_max_) forget_some(now);
  users_.try_emplace(uid, User{0, 0, TokenBucket(packets_, now)}).first->second.connections += 1;
  connections_ += 1;
}

void UserShares::remove_connection(uid_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user == users_.end() || user->second.connections == 0) return;
  user->second.connections -= 1;
  connections_ -= 1;
}

bool UserShares::take_packet(uid_t uid, Time now) noexcept {
  const auto user = users_.find(uid);
  return user != users_.end() && user->second.packets.take(now);
}

bool UserShares::begin_call(uid_t uid, std::size_t calls_max) noexcept {
  const auto user = users_.find(uid);
  if (user == users_.end()) return true;
  if (user->second.calls >= calls_max) return false;
  user->second.calls += 1;
  return true;
}

void UserShares::end_call(uid_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user != users_.end() && user->second.calls > 0) user->second.calls -= 1;
}

void UserShares::forget_some(Time now) noexcept {
  std::erase_if(users_, [now](const auto& known) {
    const User& user = known.second;
    return user.connections == 0 && user.calls == 0 && user.packets.is_full(now);
  });
}

}  // namespace meterbank
