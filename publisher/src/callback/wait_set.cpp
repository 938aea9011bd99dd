// SPDX-License-Identifier: Apache-2.0
#include "wait_set.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace meterbank::detail {
namespace {

// How long threads sleep at a set that is not there any more, and so how long its end may take.
constexpr int kLookEveryMs = 1000;
// Tag of the socket. The tags of connections are smaller.
constexpr std::uint64_t kWaker = ~std::uint64_t{0};

}  // namespace

bool WaitSet::open() noexcept {
  std::array<int, 2> ends{-1, -1};
  epoll_ = KnownFd(UniqueFd(::epoll_create1(EPOLL_CLOEXEC)));
  if (!epoll_) return false;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return false;
  }
  woken_ = KnownFd(UniqueFd(ends[0]));
  waker_ = KnownFd(UniqueFd(ends[1]));
  watch(woken_.get(), kWaker, EPOLLIN, false);
  return is_here();
}

void WaitSet::close() noexcept {
  if (!is_here()) epoll_.abandon();
  epoll_.reset();
  woken_.reset();
  waker_.reset();
}

bool WaitSet::is_here() const noexcept { return woken_.is_here() && has_epoll(); }

bool WaitSet::has_epoll() const noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWaker;
  const int kept = errno;
  // Changes nothing where the socket is in the set, and is refused by any other.
  const bool is_in_set = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, woken_.get(), &event) == 0;
  errno = kept;
  return is_in_set;
}

void WaitSet::watch(int descriptor, std::uint64_t tag, std::uint32_t events,
                    bool again) const noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  ::epoll_ctl(epoll_.get(), again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
}

void WaitSet::forget(int descriptor) const noexcept {
  if (is_here()) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

WaitSet::Woke WaitSet::wait(std::uint64_t& tag) const noexcept {
  // After a wait that ended by time both are looked at, else the set is what it was a tick ago.
  if (!woken_.is_here_this_tick()) return Woke::kLost;
  epoll_event event{};
  const int count = ::epoll_wait(epoll_.get(), &event, 1, kLookEveryMs);
  if (count < 0) return errno == EINTR ? Woke::kNothing : Woke::kLost;
  if (count == 0) return is_here() ? Woke::kNothing : Woke::kLost;
  tag = event.data.u64;
  return tag == kWaker ? Woke::kWoken : Woke::kReady;
}

void WaitSet::wake() const noexcept {
  constexpr char kByte = 0;
  if (waker_.is_here()) ::send(waker_.get(), &kByte, sizeof kByte, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace meterbank::detail
