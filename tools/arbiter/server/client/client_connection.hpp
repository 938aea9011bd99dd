// SPDX-License-Identifier: Apache-2.0
//
// One client of the arbiter, as its event loop knows it.
#pragma once

#include <cstddef>
#include <utility>

#include "meterbank/ipc/peer_connection.hpp"

namespace meterbank::arbiter {

struct ClientConnection {
  // A client that leaves more than that unread, beyond what the kernel keeps for it, is hung up on.
  static constexpr UnsentLimits kUnsent{1024, std::size_t{512} * 1024};

  ClientConnection(PacketSocket socket, UniqueFd process) noexcept
      : peer(std::move(socket), KnownFd(std::move(process)), kUnsent) {}

  PeerConnection peer;
  bool is_ending = false;       // nothing more of it is read; closed after what was sent before
  bool waits_for_room = false;  // the event loop waits for room to send
};

}  // namespace meterbank::arbiter
