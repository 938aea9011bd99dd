// SPDX-License-Identifier: Apache-2.0
//
// The provider's end of the door, see shm/door.hpp. The keeper thread serves it between two
// heartbeats, so a door costs no thread.
//
// What a stranger can do here is bounded:
//
//   connecting fast      accepted at kAcceptsPerSecond; beyond it callers wait in the queue, and
//                        connect() fails for those that find it full
//   many connections     each user has a share; its oldest connection makes room
//   asking fast          DoorStatus::kTooMany, without opening anything
//   not reading          an answer that finds no room is dropped with its connection
//
// Thread safety  All functions but wait() and wake() are called under the segment's mutex.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/ipc/peer_connection.hpp"
#include "meterbank/ipc/user_shares.hpp"
#include "meterbank/ipc/wait_set.hpp"
#include "meterbank/shm/door.hpp"
#include "readers_policy.hpp"

namespace meterbank::detail {

struct DoorLimits {
  std::size_t connections_max = 128;
  std::size_t connections_per_user = 32;
  // Of all users together. Accepting takes some 10 us, so this is less than 1 % of a processor.
  RateLimit accepts{.per_second = 400, .at_once = 400};
  RateLimit requests{.per_second = 200, .at_once = 400};  // of one user
};

// Opens the memory that is handed out.
class DoorMemory {
 public:
  // Read-only descriptors of the extents from `first` on, as many as `opened` has room for; returns
  // how many. Fewer than there are: no descriptor is left.
  virtual std::size_t open_extents(std::uint32_t first, std::span<UniqueFd> opened) noexcept = 0;
  [[nodiscard]] virtual std::uint32_t extents_count() const noexcept = 0;

 protected:
  ~DoorMemory() = default;
};

class Door {
 public:
  // `memory` outlives it. Errors: kExists, kDenied, kNoDirectory, kLimit, kSystem.
  static Result<std::unique_ptr<Door>> open(const std::string& path, const ReadersPolicy& policy,
                                            DoorMemory& memory, const DoorLimits& limits = {});
  Door(PacketListener listener, const ReadersPolicy& policy, DoorMemory& memory,
       const DoorLimits& limits);

  // What a wait found; to be given to serve().
  struct Happened {
    WaitSet::Woke woke = WaitSet::Woke::kNothing;
    std::array<epoll_event, 16> events;
    std::size_t count = 0;
  };
  // Until something happens, `timeout_ms` has passed or wake() was called.
  [[nodiscard]] Happened wait(int timeout_ms) const noexcept;
  void wake() const noexcept { set_.wake(); }

  // False: the program has closed the descriptors, and the door is shut for good.
  [[nodiscard]] bool serve(const Happened& happened) noexcept;
  // Milliseconds after which serve() has something to do even if nothing happened; at most `most`.
  [[nodiscard]] int due_in_ms(int most) const noexcept;

  // All connections end. The name stays: KeptRecord::remove().
  void close() noexcept;
  void leave_to_parent() noexcept;

 private:
  using Time = TokenBucket::Time;

  [[nodiscard]] bool prepare() noexcept;
  void accept_readers() noexcept;
  void admit(PacketSocket socket);
  void make_room(uid_t uid) noexcept;
  void serve_connection(std::uint64_t number) noexcept;
  [[nodiscard]] bool answer(PeerConnection& connection, const DoorRequest& request);
  [[nodiscard]] bool may_read(const PeerConnection& connection) const;
  void drop(std::uint64_t number) noexcept;
  void drop_all() noexcept;

  const ReadersPolicy policy_;
  DoorMemory& memory_;
  const DoorLimits limits_;
  PacketListener listener_;
  WaitSet set_;
  TokenBucket accepts_;
  bool is_resting_ = false;  // the listener is not watched until accepts_ has a token
  UserShares users_;
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, PeerConnection> connections_;  // oldest first
  PacketBuffer packet_;
};

}  // namespace meterbank::detail
