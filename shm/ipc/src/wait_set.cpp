// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/wait_set.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace meterbank {
namespace {

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

bool WaitSet::watch(int descriptor, std::uint64_t tag, std::uint32_t events,
                    bool again) const noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return ::epoll_ctl(epoll_.get(), again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void WaitSet::forget(int descriptor) const noexcept {
  if (is_here()) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

WaitSet::Woke WaitSet::wait(std::span<epoll_event> events, std::size_t& count,
                            int timeout_ms) const noexcept {
  count = 0;
  // After a wait that ended by time both are looked at, else the set is what it was a tick ago.
  if (!woken_.is_here_this_tick()) return Woke::kLost;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 std::min(timeout_ms, kLookEveryMs));
  if (ready < 0) return errno == EINTR ? Woke::kNothing : Woke::kLost;
  if (ready == 0) return is_here() ? Woke::kNothing : Woke::kLost;
  count = static_cast<std::size_t>(ready);
  const auto is_waker = [](const epoll_event& event) { return event.data.u64 == kWaker; };
  const auto happened = events.first(count);
  return std::any_of(happened.begin(), happened.end(), is_waker) ? Woke::kWoken : Woke::kReady;
}

void WaitSet::wake() const noexcept {
  constexpr char kByte = 0;
  if (waker_.is_here()) ::send(waker_.get(), &kByte, sizeof kByte, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace meterbank
