// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/client/connection.hpp"

#include <fcntl.h>

#include <utility>

namespace meterbank::arbiter {

bool Connection::send(std::vector<std::byte> packet, int attached) {
  if (unsent_.empty()) {
    switch (socket_.send(packet, attached)) {
      case PacketSocket::Sent::kAll:
        return true;
      case PacketSocket::Sent::kEnd:
        return false;
      case PacketSocket::Sent::kFull:
        break;
    }
  }
  if (unsent_.size() >= kUnsentPacketsMax) return false;
  if (packet.size() > kUnsentBytesMax - unsent_bytes_) return false;
  UniqueFd kept;
  if (attached >= 0) {
    kept.reset(::fcntl(attached, F_DUPFD_CLOEXEC, 3));
    if (!kept) return false;
  }
  adopt({std::move(packet), std::move(kept)});
  return true;
}

void Connection::adopt(UnsentPacket packet) {
  unsent_bytes_ += packet.bytes.size();
  unsent_.push_back(std::move(packet));
}

bool Connection::flush() {
  while (!unsent_.empty()) {
    const UnsentPacket& next = unsent_.front();
    switch (socket_.send(next.bytes, next.attached.get())) {
      case PacketSocket::Sent::kEnd:
        return false;
      case PacketSocket::Sent::kFull:
        return true;
      case PacketSocket::Sent::kAll:
        break;
    }
    unsent_bytes_ -= next.bytes.size();
    unsent_.pop_front();
  }
  return true;
}

}  // namespace meterbank::arbiter
