// SPDX-License-Identifier: Apache-2.0
//
// One peer of a packet server: its socket, its process, and the packets that it has not fetched.
// What a peer does not read is kept for it, up to a limit; then it is to be closed.
//
// Thread safety: one thread at a time may receive, another one send. The server sees to it.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "meterbank/base/known_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {

struct UnsentPacket {
  std::vector<std::byte> bytes;
  std::vector<KnownFd> attached;
};

// What may wait for one peer, beyond what the kernel keeps for it.
struct UnsentLimits {
  std::size_t packets_max = 0;
  std::size_t bytes_max = 0;
};

class PeerConnection {
 public:
  // `process` is readable when the peer's process has ended; it may be empty.
  PeerConnection(PacketSocket socket, KnownFd process, UnsentLimits limits) noexcept
      : socket_(std::move(socket)),
        process_(std::move(process)),
        peer_(socket_.peer()),
        limits_(limits) {}

  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  [[nodiscard]] int process() const noexcept { return process_.get(); }
  // As the kernel noted them when the peer connected.
  [[nodiscard]] const PeerCredentials& peer() const noexcept { return peer_; }

  // As PacketSocket does.
  PacketSocket::Got receive(PacketBuffer& packet, UniqueFd& attached) noexcept {
    return socket_.receive(packet, attached);
  }
  PacketSocket::Got receive(PacketBuffer& packet, std::span<UniqueFd> attached,
                            std::size_t& count) noexcept {
    return socket_.receive(packet, attached, count);
  }
  [[nodiscard]] bool has_packet() const noexcept { return socket_.has_packet(); }

  // Sends, or keeps until the peer has room, in the order of the calls. `attached` stays the
  // caller's. False: the connection is to be closed, for the peer has gone or leaves too much
  // unread, or no descriptor is left to keep `attached`. Errors: std::bad_alloc.
  // Precondition: kPacketDescriptorsMax descriptors at most.
  [[nodiscard]] bool send(std::vector<std::byte> packet, std::span<const int> attached);
  // The same with one descriptor, or with none: -1.
  [[nodiscard]] bool send(std::vector<std::byte> packet, int attached = -1) {
    return send(std::move(packet), std::span<const int>(&attached, attached >= 0 ? 1 : 0));
  }
  // The same with descriptors that are handed over: closed when they are sent or forgotten.
  [[nodiscard]] bool send(std::vector<std::byte> packet, std::vector<KnownFd> attached);
  // Sends what was kept, as far as there is room. False: the peer has gone.
  [[nodiscard]] bool flush() noexcept;

  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  [[nodiscard]] const std::deque<UnsentPacket>& unsent() const noexcept { return unsent_; }
  // Behind what is kept, whatever the limits.
  void keep(UnsentPacket packet);

  // Both directions end and what was kept is forgotten. The descriptor stays.
  void hang_up() noexcept;
  // Forgets the process without closing its descriptor: the program has closed it.
  void abandon_process() noexcept { process_.abandon(); }
  // In the child of a fork: closes what was inherited, and leaves the connection to the parent.
  void abandon() noexcept;

 private:
  [[nodiscard]] PacketSocket::Sent send_now(std::span<const std::byte> packet,
                                            std::span<const int> attached) noexcept;
  [[nodiscard]] bool has_room_for(std::size_t bytes) const noexcept;

  PacketSocket socket_;
  KnownFd process_;
  PeerCredentials peer_;
  UnsentLimits limits_;
  std::deque<UnsentPacket> unsent_;
  std::size_t unsent_bytes_ = 0;
};

// Accepts the peers that wait in a listener's queue, but not so many that other work waits for
// long. `admit` takes a PacketSocket; `turned_away` is called for each peer for which no descriptor
// was left.
template <typename Listener, typename Admit, typename TurnedAway>
void accept_waiting(Listener& listener, Admit admit, TurnedAway turned_away) {
  constexpr int kAcceptsAtOnce = 64;
  for (int count = 0; count < kAcceptsAtOnce; ++count) {
    PacketSocket socket;
    switch (listener.accept(socket)) {
      case ListeningSocket::Came::kNone:
        return;
      case ListeningSocket::Came::kTurnedAway:
        turned_away();
        break;
      case ListeningSocket::Came::kPeer:
        admit(std::move(socket));
        break;
    }
  }
}

}  // namespace meterbank
