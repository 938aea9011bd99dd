// SPDX-License-Identifier: Apache-2.0
//
// A SOCK_SEQPACKET endpoint that survives what a stranger sends: over-long packets, hundreds of
// descriptors, silence.
//
// Nothing here blocks. Whoever waits does so with poll() on descriptor(). No function throws.
// Company: one thread at a time per object.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

class PacketSocket {
 public:
  enum class Got : std::uint8_t {
    kPacket,
    kNothing,    // at present
    kEnd,        // the peer has closed, or is gone
    kMalformed,  // longer than kPacketBytesMax, or with more descriptors than one: disconnect
  };

  PacketSocket() noexcept = default;
  // Takes a connected socket over.
  explicit PacketSocket(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

  // To a provider's socket. kGone: nobody listens there; kDenied; kLimit: its queue is full.
  static Result<PacketSocket> connect(const std::string& path);

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] PeerCredentials peer() const noexcept;

  // The next packet replaces `packet`, and its descriptor, if any, `attached`. Descriptors that are
  // not handed over are closed. `packet` is given room for kPacketBytesMax once.
  Got receive(std::vector<std::byte>& packet, UniqueFd& attached);

  enum class Sent : std::uint8_t {
    kAll,
    kFull,  // the peer does not read; nothing was sent
    kEnd,
  };
  // `attached` is passed along if it is a descriptor; the sender keeps its own.
  Sent send(std::span<const std::byte> packet, int attached = -1) noexcept;

 private:
  UniqueFd socket_;
};

// Where a provider is asked. The name in the file system goes with the object.
class PacketListener {
 public:
  // Replaces a socket that nobody listens at. kExists: somebody does.
  static Result<PacketListener> listen(const std::string& path, int backlog);
  PacketListener(PacketListener&& other) noexcept;
  PacketListener& operator=(PacketListener&&) = delete;
  ~PacketListener();

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  // An empty socket if nobody waits, or if this process has no descriptor to give: then `full`.
  [[nodiscard]] PacketSocket accept(bool& full) noexcept;

 private:
  PacketListener(UniqueFd socket, std::string path) noexcept
      : socket_(std::move(socket)), path_(std::move(path)) {}

  UniqueFd socket_;
  std::string path_;
};

}  // namespace meterbank
