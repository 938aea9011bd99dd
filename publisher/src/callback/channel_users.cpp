// SPDX-License-Identifier: Apache-2.0
#include "channel_users.hpp"

#include <unistd.h>

#include <algorithm>

namespace meterbank::detail {
namespace {

constexpr std::size_t kUsersMax = 256;  // remembered without reason

}  // namespace

ChannelUsers::ChannelUsers(const ChannelLimits& limits)
    : limits_(limits), own_(::geteuid()), shares_(limits_.requests, kUsersMax) {}

bool ChannelUsers::begin_call(uid_t uid) noexcept {
  const std::size_t share = std::max<std::size_t>(1, limits_.callbacks_max / 2);
  return shares_.begin_call(uid, is_foreign(uid) ? share : UserShares::kNoLimit);
}

}  // namespace meterbank::detail
