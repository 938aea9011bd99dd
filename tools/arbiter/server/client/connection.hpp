// SPDX-License-Identifier: Apache-2.0
//
// One client's end of the socket: its packets in, and out as fast as it reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "arbiter/core/lease.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank::arbiter {

struct UnsentPacket {
  std::vector<std::byte> bytes;
  UniqueFd attached;
};

class Connection {
 public:
  // A client that leaves more than that unread, beyond what the kernel keeps for it, is hung up on.
  static constexpr std::size_t kUnsentBytesMax = std::size_t{512} * 1024;
  static constexpr std::size_t kUnsentPacketsMax = 1024;

  Connection(PacketSocket socket, UniqueFd process, std::uint32_t uid) noexcept
      : socket_(std::move(socket)), process_(std::move(process)), uid_(uid) {}

  [[nodiscard]] PacketSocket& socket() noexcept { return socket_; }
  [[nodiscard]] const UniqueFd& process() const noexcept { return process_; }
  [[nodiscard]] std::uint32_t uid() const noexcept { return uid_; }

  // In the order of the calls. `attached` stays the caller's. False: the client is gone, or does
  // not read: to be hung up on.
  [[nodiscard]] bool send(std::vector<std::byte> packet, int attached);
  [[nodiscard]] bool flush();
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }

  // After the packets before it, it is closed, and nothing more of it is read.
  void begin_end() noexcept { is_ending_ = true; }
  [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }

  // Whether the event loop waits for room to send.
  bool waits_for_room = false;

  [[nodiscard]] const std::deque<UnsentPacket>& unsent() const noexcept { return unsent_; }
  void adopt(UnsentPacket packet);

 private:
  PacketSocket socket_;
  UniqueFd process_;
  std::uint32_t uid_;
  std::deque<UnsentPacket> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool is_ending_ = false;
};

}  // namespace meterbank::arbiter
