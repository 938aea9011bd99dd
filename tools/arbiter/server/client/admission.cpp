// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/client/admission.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::size_t kUsersMax = 1024;  // remembered without reason

UserShares::Time time_of(std::uint64_t ns) noexcept {
  return UserShares::Time(std::chrono::nanoseconds(ns));
}

}  // namespace

Admission::Admission(AdmissionLimits limits)
    : limits_(limits), shares_(limits.packets, kUsersMax) {}

bool Admission::enter(std::uint32_t uid, std::uint64_t now) {
  const std::size_t own_max =
      uid == 0 ? limits_.root_connections_max : limits_.user_connections_max;
  if (shares_.connections() >= limits_.connections_max) return false;
  if (shares_.connections_of(uid) >= own_max) return false;
  shares_.add_connection(uid, time_of(now));
  return true;
}

bool Admission::take_packet(std::uint32_t uid, std::uint64_t now) noexcept {
  return uid == 0 || shares_.take_packet(uid, time_of(now));
}

}  // namespace meterbank::arbiter
