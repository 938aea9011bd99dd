// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/peer_connection.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>

namespace meterbank {
namespace {

// Of as many descriptors as a packet may have.
class Numbers {
 public:
  explicit Numbers(std::span<const KnownFd> descriptors) noexcept {
    for (const KnownFd& descriptor : descriptors.first(std::min(descriptors.size(), all_.size()))) {
      all_[count_++] = descriptor.get();
    }
  }
  [[nodiscard]] std::span<const int> all() const noexcept { return std::span(all_).first(count_); }

 private:
  std::array<int, kPacketDescriptorsMax> all_{};
  std::size_t count_ = 0;
};

}  // namespace

PacketSocket::Sent PeerConnection::send_now(std::span<const std::byte> packet,
                                            std::span<const int> attached) noexcept {
  return unsent_.empty() ? socket_.send(packet, attached) : PacketSocket::Sent::kFull;
}

bool PeerConnection::has_room_for(std::size_t bytes) const noexcept {
  if (unsent_.size() >= limits_.packets_max) return false;
  return unsent_bytes_ <= limits_.bytes_max && bytes <= limits_.bytes_max - unsent_bytes_;
}

bool PeerConnection::send(std::vector<std::byte> packet, std::span<const int> attached) {
  const PacketSocket::Sent sent = send_now(packet, attached);
  if (sent != PacketSocket::Sent::kFull) return sent == PacketSocket::Sent::kAll;
  if (!has_room_for(packet.size())) return false;
  std::vector<KnownFd> kept;
  kept.reserve(attached.size());
  for (const int descriptor : attached) {
    kept.emplace_back(UniqueFd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)));
    if (!kept.back()) return false;
  }
  keep({std::move(packet), std::move(kept)});
  return true;
}

bool PeerConnection::send(std::vector<std::byte> packet, std::vector<KnownFd> attached) {
  const PacketSocket::Sent sent = send_now(packet, Numbers(attached).all());
  if (sent != PacketSocket::Sent::kFull) return sent == PacketSocket::Sent::kAll;
  if (!has_room_for(packet.size())) return false;
  keep({std::move(packet), std::move(attached)});
  return true;
}

void PeerConnection::keep(UnsentPacket packet) {
  const std::size_t bytes = packet.bytes.size();
  unsent_.push_back(std::move(packet));
  unsent_bytes_ += bytes;
}

bool PeerConnection::flush() noexcept {
  while (!unsent_.empty()) {
    const UnsentPacket& next = unsent_.front();
    const PacketSocket::Sent sent = socket_.send(next.bytes, Numbers(next.attached).all());
    if (sent != PacketSocket::Sent::kAll) return sent == PacketSocket::Sent::kFull;
    unsent_bytes_ -= next.bytes.size();
    unsent_.pop_front();
  }
  return true;
}

void PeerConnection::hang_up() noexcept {
  unsent_.clear();
  unsent_bytes_ = 0;
  socket_.hang_up();
}

void PeerConnection::abandon() noexcept {
  socket_ = PacketSocket();
  process_.reset();
}

}  // namespace meterbank
