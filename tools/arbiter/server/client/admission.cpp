// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/client/admission.hpp"

#include <algorithm>

namespace meterbank::arbiter {
namespace {

// Users that have gone are kept until their share is full again: a new connection does not earn a
// new one.
constexpr std::size_t kUsersMax = 1024;

}  // namespace

bool Admission::enter(std::uint32_t uid) {
  const std::size_t own_max =
      uid == 0 ? limits_.root_connections_max : limits_.user_connections_max;
  if (connections_ >= limits_.connections_max) return false;
  const auto [user, is_new] = users_.try_emplace(uid);
  if (is_new) user->second.share = limits_.packets_at_once;
  if (user->second.connections >= own_max) return false;
  ++user->second.connections;
  ++connections_;
  return true;
}

void Admission::leave(std::uint32_t uid) noexcept {
  const auto user = users_.find(uid);
  if (user == users_.end() || user->second.connections == 0) return;
  --user->second.connections;
  --connections_;
}

bool Admission::take_packet(std::uint32_t uid, std::uint64_t now) {
  if (uid == 0) return true;
  forget_some(now);
  const auto found = users_.find(uid);
  if (found == users_.end()) return false;
  User& user = found->second;
  const auto passed = static_cast<double>(now - std::min(now, user.last)) / 1e9;
  user.last = now;
  user.share = std::min(limits_.packets_at_once, user.share + passed * limits_.packets_per_second);
  if (user.share < 1) return false;
  user.share -= 1;
  return true;
}

void Admission::forget_some(std::uint64_t now) noexcept {
  if (users_.size() <= kUsersMax) return;
  const double refill_ns = 1e9 * limits_.packets_at_once / limits_.packets_per_second;
  std::erase_if(users_, [now, refill_ns](const auto& entry) {
    const User& user = entry.second;
    return user.connections == 0 && static_cast<double>(now - std::min(now, user.last)) > refill_ns;
  });
}

}  // namespace meterbank::arbiter
