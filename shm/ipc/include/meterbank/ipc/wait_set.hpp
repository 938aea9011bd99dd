// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a packet server wait at: an epoll set, and a socket in it that wakes all.
//
// A program may close the descriptors of the set by their numbers, and the threads that wait at it
// learn nothing of it: they sleep on, at a set that is empty by then. So they look now and then
// whether it is still there, and before each wait, lest they take the events of a set that the
// program has by the same number. All epoll sets have the same inode, so the set is known by having
// the socket in it, which has one of its own.
//
// Thread safety: any thread, any function, but open() and close().
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "meterbank/base/known_fd.hpp"

namespace meterbank {

class WaitSet {
 public:
  WaitSet() noexcept = default;
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;
  ~WaitSet() { close(); }

  // False: errno says why.
  [[nodiscard]] bool open() noexcept;
  // Closes what is still its own.
  void close() noexcept;
  // Two system calls.
  [[nodiscard]] bool is_here() const noexcept;

  // `again`: the descriptor is in the set. `tag` is not ~0. False: errno says why.
  bool watch(int descriptor, std::uint64_t tag, std::uint32_t events, bool again) const noexcept;
  void forget(int descriptor) const noexcept;

  enum class Woke : std::uint8_t {
    kReady,
    kNothing,  // look again
    kWoken,    // by wake(), whatever else happened
    kLost,     // the program has closed it
  };
  // How long a thread may sleep at a set that is not there any more.
  static constexpr int kLookEveryMs = 1000;
  // With kReady the first `count` of `events` are what happened. Waits for kLookEveryMs at most.
  // Precondition: `events` is not empty, and `timeout_ms` is not negative.
  [[nodiscard]] Woke wait(std::span<epoll_event> events, std::size_t& count,
                          int timeout_ms = kLookEveryMs) const noexcept;
  // Every thread that waits now or later.
  void wake() const noexcept;

 private:
  [[nodiscard]] bool has_epoll() const noexcept;

  KnownFd epoll_;
  KnownFd woken_, waker_;  // connected to each other
};

}  // namespace meterbank
