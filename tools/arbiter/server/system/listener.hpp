// SPDX-License-Identifier: Apache-2.0
//
// Where clients come in: a socket that this program made in its directory, or one that a service
// manager passed.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank::arbiter {

class Listener {
 public:
  // Replaces a socket at which no process listens. `mode`: who may connect. Errors: kExists, if a
  // process listens there; kNoDirectory, kDenied, kLimit, kSystem.
  static Result<Listener> listen(const std::string& directory, mode_t mode);
  // `name_stays`: it is a service manager's. Else it was made by the image before this one, in
  // `directory`. Errors: kLimit, kSystem.
  static Result<Listener> adopt(UniqueFd socket, const std::string& directory, bool name_stays);

  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  [[nodiscard]] bool name_stays() const noexcept { return name_stays_; }
  [[nodiscard]] ListeningSocket::Came accept(PacketSocket& peer) noexcept {
    return socket_.accept(peer);
  }
  // Takes its name away; clients that wait in its queue are hung up on.
  void close() noexcept { socket_.close(); }

 private:
  Listener(PacketListener socket, bool name_stays) noexcept
      : socket_(std::move(socket)), name_stays_(name_stays) {}

  PacketListener socket_;
  bool name_stays_;
};

}  // namespace meterbank::arbiter
