// SPDX-License-Identifier: Apache-2.0
//
// A SOCK_SEQPACKET endpoint that survives what a stranger sends: over-long packets, hundreds of
// descriptors, silence.
//
// A socket whose number the program has closed is at its end, whatever the number stands for by
// then: nothing is sent there, received or closed.
//
// Thread safety  One thread at a time per object.
// Progress       No function blocks. To wait, call poll() on descriptor().
// Errors         No function throws.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "meterbank/base/known_fd.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank {

// From the kernel, at the moment of connecting; what a peer becomes later does not change it.
struct PeerCredentials {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

// What one packet may carry. With more it is malformed.
inline constexpr std::size_t kPacketDescriptorsMax = 16;

// Room for one packet, aligned to 8.
class PacketBuffer {
 public:
  PacketBuffer() : room_(new std::uint64_t[kPacketBytesMax / sizeof(std::uint64_t)]) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(room_.get(), kPacketBytesMax / sizeof(std::uint64_t)))
        .first(bytes_);
  }

 private:
  friend class PacketSocket;
  std::unique_ptr<std::uint64_t[]> room_;  // not cleared: the kernel writes it
  std::size_t bytes_ = 0;
};

class PacketSocket {
 public:
  enum class Got : std::uint8_t {
    kPacket,
    kNothing,  // at present
    kEnd,      // the peer has closed, or is gone
    // Longer than kPacketBytesMax, or with more descriptors than the caller takes or this process
    // has room for (errno is EMFILE): disconnect.
    kMalformed,
  };

  PacketSocket() noexcept = default;
  // Takes a connected socket over.
  explicit PacketSocket(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

  // To a provider's socket. kGone: no process listens there; kDenied; kLimit: its queue is full.
  static Result<PacketSocket> connect(const std::string& path);

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] PeerCredentials peer() const noexcept;

  // The next packet replaces `packet`, and its descriptors the first `count` of `attached`; the
  // others become empty. They are close-on-exec; those that are not handed over are closed.
  Got receive(PacketBuffer& packet, std::span<UniqueFd> attached, std::size_t& count) noexcept;
  // The same for packets with one descriptor or none.
  Got receive(PacketBuffer& packet, UniqueFd& attached) noexcept {
    std::size_t count = 0;
    return receive(packet, {&attached, 1}, count);
  }

  // Whether receive() would give something other than kNothing and kEnd.
  [[nodiscard]] bool has_packet() const noexcept;

  enum class Sent : std::uint8_t {
    kAll,
    kFull,  // the peer does not read; nothing was sent
    kEnd,
  };
  // `attached` are passed along; the sender keeps its own. kEnd also for more of them than
  // kPacketDescriptorsMax.
  Sent send(std::span<const std::byte> packet, std::span<const int> attached) noexcept;
  // The same with one descriptor, or with none: -1.
  Sent send(std::span<const std::byte> packet, int attached = -1) noexcept {
    return send(packet, std::span<const int>(&attached, attached >= 0 ? 1 : 0));
  }
  // Both directions end; the descriptor stays.
  void hang_up() noexcept;

 private:
  KnownFd socket_;
};

// A socket that listens, and one descriptor in reserve: when this process has no other left, it is
// given up for a moment to accept the connection and to close it. Left in the queue it would wake
// the waiting thread for ever.
class ListeningSocket {
 public:
  enum class Came : std::uint8_t {
    kPeer,
    kNone,        // no connection is waiting
    kTurnedAway,  // a connection was accepted and closed
  };

  ListeningSocket() noexcept = default;
  // Takes a socket over that listens.
  explicit ListeningSocket(UniqueFd socket) noexcept : socket_(std::move(socket)) { reserve(); }

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] bool has_reserve() const noexcept { return static_cast<bool>(reserve_); }
  // `peer` becomes empty unless it is kPeer.
  [[nodiscard]] Came accept(PacketSocket& peer) noexcept;
  // Peers that wait in its queue are hung up on, unless another process has the socket as well.
  void close() noexcept;

 private:
  void reserve() noexcept;

  KnownFd socket_;
  KnownFd reserve_;  // the same socket once more
};

// Where a server is met. The name in the file system goes with the object.
class PacketListener {
 public:
  // Replaces a socket at which no process listens. kExists: a process does. `mode`: of the name;
  // by default as the umask says.
  static Result<PacketListener> listen(const std::string& path, int backlog,
                                       std::optional<mode_t> mode = std::nullopt);
  // Takes over a socket that listens at `path`. Empty: the name is another's and stays. kLimit: no
  // descriptor is left for the reserve.
  static Result<PacketListener> adopt(UniqueFd socket, std::string path);
  PacketListener(PacketListener&& other) noexcept;
  PacketListener& operator=(PacketListener&&) = delete;
  ~PacketListener();

  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  [[nodiscard]] ListeningSocket::Came accept(PacketSocket& peer) noexcept {
    return socket_.accept(peer);
  }
  // Takes the name away; peers that wait in its queue are hung up on.
  void close() noexcept;
  // In the child of a fork: closes what was inherited, and leaves the name to the parent.
  void abandon() noexcept;

 private:
  PacketListener(ListeningSocket socket, std::string path) noexcept
      : socket_(std::move(socket)), path_(std::move(path)) {}

  ListeningSocket socket_;
  std::string path_;
};

}  // namespace meterbank
