// SPDX-License-Identifier: Apache-2.0
#include "door.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace meterbank::detail {
namespace {

constexpr std::uint64_t kDoorListener = 0;  // tag; connections have their numbers
constexpr std::uint32_t kWatchOnce = EPOLLONESHOT;
constexpr int kDoorBacklog = 128;
constexpr int kDoorAcceptsAtOnce = 32;
constexpr int kDoorRestMs = 50;
constexpr std::size_t kDoorUsersMax = 256;  // remembered without reason

TokenBucket::Time now() noexcept { return std::chrono::steady_clock::now(); }

std::vector<std::byte> packet_of(const DoorAnswer& answer) {
  std::vector<std::byte> packet(sizeof answer);
  std::memcpy(packet.data(), &answer, sizeof answer);
  return packet;
}

}  // namespace

Door::Door(PacketListener listener, const ReadersPolicy& policy, DoorMemory& memory,
           const DoorLimits& limits)
    : policy_(policy),
      memory_(memory),
      limits_(limits),
      listener_(std::move(listener)),
      accepts_(limits.accepts, now()),
      users_(limits.requests, kDoorUsersMax) {}

Result<std::unique_ptr<Door>> Door::open(const std::string& path, const ReadersPolicy& policy,
                                         DoorMemory& memory, const DoorLimits& limits) {
  // Connecting needs write permission. Who is admitted, the policy says for each peer.
  auto listener = PacketListener::listen(path, kDoorBacklog, 0666);
  if (!listener) return tl::make_unexpected(listener.error());
  auto door = std::make_unique<Door>(std::move(*listener), policy, memory, limits);
  if (!door->prepare()) {
    return fail(ErrorCode::kSystem, "descriptors for " + path, "raise the limit: ulimit -n", errno);
  }
  return door;
}

bool Door::prepare() noexcept {
  return set_.open() &&
         set_.watch(listener_.descriptor(), kDoorListener, EPOLLIN | kWatchOnce, false);
}

Door::Happened Door::wait(int timeout_ms) const noexcept {
  Happened happened;
  happened.woke = set_.wait(happened.events, happened.count, timeout_ms);
  return happened;
}

int Door::due_in_ms(int most) const noexcept {
  return is_resting_ ? std::min(most, kDoorRestMs) : most;
}

bool Door::serve(const Happened& happened) noexcept {
  if (happened.woke == WaitSet::Woke::kLost) {
    drop_all();
    return false;
  }
  if (is_resting_) accept_readers();
  if (happened.woke != WaitSet::Woke::kReady) return true;
  for (std::size_t index = 0; index < happened.count; ++index) {
    const std::uint64_t tag = happened.events[index].data.u64;
    if (tag == kDoorListener) {
      accept_readers();
    } else {
      serve_connection(tag);
    }
  }
  return true;
}

// ---- Connections ----

void Door::accept_readers() noexcept {
  is_resting_ = false;
  const Time at = now();
  for (int count = 0; count < kDoorAcceptsAtOnce; ++count) {
    if (!accepts_.take(at)) {
      is_resting_ = true;
      return;
    }
    PacketSocket socket;
    const auto came = listener_.accept(socket);
    if (came == ListeningSocket::Came::kNone) break;
    if (came == ListeningSocket::Came::kTurnedAway) continue;
    try {
      admit(std::move(socket));
    } catch (const std::bad_alloc&) {
      break;  // the reader sees its connection end and may come again
    }
  }
  set_.watch(listener_.descriptor(), kDoorListener, EPOLLIN | kWatchOnce, true);
}

void Door::admit(PacketSocket socket) {
  const uid_t uid = socket.peer().uid;
  make_room(uid);
  const std::uint64_t number = next_number_++;
  users_.add_connection(uid, now());
  const auto [place, is_new] =
      connections_.try_emplace(number, std::move(socket), KnownFd(), UnsentLimits{});
  if (!set_.watch(place->second.descriptor(), number, EPOLLIN, false)) drop(number);
}

// The oldest connection of a user goes when the user has its share, or of the user with the most
// when there is no room at all. Its reader keeps what it has mapped.
void Door::make_room(uid_t uid) noexcept {
  const bool user_is_full = users_.connections_of(uid) >= limits_.connections_per_user;
  if (!user_is_full && connections_.size() < limits_.connections_max) return;
  uid_t most = uid;
  if (!user_is_full) {
    for (const auto& [number, connection] : connections_) {
      const uid_t other = connection.peer().uid;
      if (users_.connections_of(other) > users_.connections_of(most)) most = other;
    }
  }
  for (const auto& [number, connection] : connections_) {
    if (connection.peer().uid == most) return drop(number);
  }
}

void Door::serve_connection(std::uint64_t number) noexcept {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;  // made room for another one
  PeerConnection& connection = found->second;
  try {
    std::size_t attached = 0;
    switch (connection.receive(packet_, {}, attached)) {
      case PacketSocket::Got::kNothing:
        return;
      case PacketSocket::Got::kPacket: {
        const auto request = decode_door<DoorRequest>(packet_.bytes());
        if (request && answer(connection, *request)) return;
        break;
      }
      case PacketSocket::Got::kEnd:
      case PacketSocket::Got::kMalformed:
        break;
    }
  } catch (const std::bad_alloc&) {
    // As if it had gone: there is no memory for an answer.
  }
  drop(number);
}

// False: the connection ends, after what was sent.
bool Door::answer(PeerConnection& connection, const DoorRequest& request) {
  DoorAnswer reply;
  reply.first_extent = request.first_extent;
  const auto refuse = [&](DoorStatus status) {
    reply.status = static_cast<std::uint32_t>(status);
    static_cast<void>(connection.send(packet_of(reply)));
    return false;
  };
  if (!users_.take_packet(connection.peer().uid, now())) return refuse(DoorStatus::kTooMany);
  if (!may_read(connection)) return refuse(DoorStatus::kNotAdmitted);
  const std::uint32_t all = memory_.extents_count();
  std::array<UniqueFd, kPacketDescriptorsMax> opened;
  const std::size_t wanted =
      std::min<std::size_t>(all - std::min(all, request.first_extent), opened.size());
  const std::size_t count =
      memory_.open_extents(request.first_extent, std::span(opened).first(wanted));
  if (count < wanted) return refuse(DoorStatus::kNoDescriptors);
  reply.count = static_cast<std::uint32_t>(count);
  std::array<int, kPacketDescriptorsMax> numbers{};
  for (std::size_t index = 0; index < count; ++index) numbers[index] = opened[index].get();
  return connection.send(packet_of(reply), std::span<const int>(numbers).first(count));
}

bool Door::may_read(const PeerConnection& connection) const {
  if (policy_.admits_everyone()) return true;
  const PeerCredentials& peer = connection.peer();
  return policy_.admits(peer.uid, peer_groups(connection.descriptor(), peer.gid));
}

void Door::drop(std::uint64_t number) noexcept {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  users_.remove_connection(found->second.peer().uid);
  set_.forget(found->second.descriptor());
  connections_.erase(found);
}

void Door::drop_all() noexcept {
  while (!connections_.empty()) drop(connections_.begin()->first);
}

// ---- Ends ----

void Door::close() noexcept {
  drop_all();
  listener_.abandon();
}

void Door::leave_to_parent() noexcept {
  for (auto& [number, connection] : connections_) connection.abandon();
  listener_.abandon();
  set_.close();
}

}  // namespace meterbank::detail
