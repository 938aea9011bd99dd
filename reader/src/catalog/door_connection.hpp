// SPDX-License-Identifier: Apache-2.0
//
// The reader's end of the door, see shm/door.hpp.
//
// A provider may not answer, whether it is hung or hostile. So a wait is short, what the providers
// of one user may cost a refresh together is bounded, and a door that did not answer is left alone
// for a while.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/door.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {

// What was handed out by one answer, from extent `first` on.
struct HandedOut {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::array<UniqueFd, kPacketDescriptorsMax> descriptors;
};

// How long one refresh waits at doors.
class DoorTimeouts {
 public:
  using Clock = std::chrono::steady_clock;

  void begin_refresh() { waited_.clear(); }
  // The room for one packet, which is needed once.
  [[nodiscard]] PacketBuffer& packet() noexcept { return packet_; }
  // How long to wait at a door of this user; zero: not at all.
  [[nodiscard]] Clock::duration for_user(std::uint32_t uid) const;
  // Short waits are what answers take, and are free.
  void charge(std::uint32_t uid, Clock::duration waited);

 private:
  std::map<std::uint32_t, Clock::duration> waited_;
  PacketBuffer packet_;
};

class DoorConnection {
 public:
  DoorConnection() noexcept = default;

  // Never waits. kGone: nothing listens there. kLimit: it has too many callers, or this process no
  // descriptor.
  static Result<DoorConnection> connect(const std::string& path);

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  // The process that listens, as this one sees it: pid 0 if its namespace does not show it.
  [[nodiscard]] PeerCredentials peer() const noexcept { return socket_.peer(); }

  // Asks for the extents from `first` on. Each descriptor that comes is read-only; nothing else is
  // known about them. Errors: kDenied, kLimit, kGone (the connection has ended), kCorrupt (the
  // answer breaks a rule), kTimeout, which has no remedy if this provider is the one to blame.
  Result<HandedOut> ask(std::uint32_t first, std::uint32_t uid, DoorTimeouts& timeouts);

  // Whether the provider has gone or hung up. One system call.
  [[nodiscard]] bool has_ended() const noexcept;

 private:
  explicit DoorConnection(PacketSocket socket) noexcept : socket_(std::move(socket)) {}

  PacketSocket socket_;
};

}  // namespace meterbank
