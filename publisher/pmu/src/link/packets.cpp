// SPDX-License-Identifier: Apache-2.0
//
// Packets in and out, and the threads that wait for them.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "link.hpp"

namespace meterbank::pmu::detail {
namespace {

constexpr int kPacketsAtOnce = 64;  // then threads that wait for the mutex have their turn

}  // namespace

// ---- Out ----

std::uint64_t Link::send_locked(const PendingPtr& pending, int attached) {
  const std::uint64_t id = next_id_++;
  pending_.emplace(id, pending);
  push_locked(encode(id, pending->message), attached);
  return id;
}

void Link::send_unanswered_locked(const ClientMessage& message, std::uint64_t id) {
  push_locked(encode(id, message), -1);
}

void Link::push_locked(std::vector<std::byte> packet, int attached) {
  if (!socket_) return;
  const auto sent = unsent_.empty() ? socket_.send(packet, attached) : PacketSocket::Sent::kFull;
  // The thread that receives finds an end; requests under way fail then.
  if (sent != PacketSocket::Sent::kFull) return;
  UniqueFd kept(attached < 0 ? -1 : ::fcntl(attached, F_DUPFD_CLOEXEC, 3));
  unsent_.emplace_back(std::move(packet), std::move(kept));
  flush_locked();
}

void Link::flush_locked() {
  while (!unsent_.empty()) {
    const auto& [packet, attached] = unsent_.front();
    if (socket_.send(packet, attached.get()) == PacketSocket::Sent::kFull) break;
    unsent_.pop_front();
  }
  if (wants_room_ == !unsent_.empty()) return;
  wants_room_ = !wants_room_;
  epoll_event event{};
  event.events = wants_room_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.descriptor(), &event);
}

// ---- In ----

void Link::pump_locked() {
  if (!has_descriptors()) return lose_descriptors_locked();
  std::uint64_t expirations = 0;
  static_cast<void>(!::read(timer_.get(), &expirations, sizeof expirations));
  const auto now = Clock::now();
  if (phase_ == Phase::kAdrift && now >= retry_at_) {
    if (const auto connected = connect_locked(); !connected) drop_locked(connected.error());
  }
  if (phase_ == Phase::kGreeting && now >= greeted_until_) {
    drop_locked(silent());
  }
  for (int count = 0; socket_ && count < kPacketsAtOnce; ++count) {
    flush_locked();
    UniqueFd attached;
    const PacketSocket::Got got = socket_.receive(packet_, attached);
    if (got == PacketSocket::Got::kNothing) break;
    if (got == PacketSocket::Got::kEnd) {
      drop_locked(
          {ErrorCode::kGone, 0, "the arbiter at " + path_ + " is gone", "start meterbank-pmud"});
      break;
    }
    Fault fault = "a packet that is too long, or has too many descriptors";
    if (got == PacketSocket::Got::kPacket) {
      fault = handle_locked(packet_.bytes(), std::move(attached));
    }
    if (fault) {
      drop_locked({ErrorCode::kCorrupt, 0,
                   "the arbiter at " + path_ + " broke the protocol: " + *fault, ""});
    }
  }
  rearm_locked();
}

void Link::rearm_locked() noexcept {
  std::optional<Clock::time_point> next;
  if (phase_ == Phase::kAdrift) next = retry_at_;
  if (phase_ == Phase::kGreeting) next = greeted_until_;
  itimerspec when{};
  if (next) {
    const auto wait = std::max(*next - Clock::now(), Clock::duration(1));
    when.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(wait).count();
    when.it_value.tv_nsec = std::chrono::nanoseconds(wait % std::chrono::seconds(1)).count();
  }
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void Link::wake_locked() noexcept {
  itimerspec now{};
  now.it_value.tv_nsec = 1;
  ::timerfd_settime(timer_.get(), 0, &now, nullptr);
}

void Link::deliver(Lock& lock) {
  if (is_delivering_) return;
  is_delivering_ = true;
  while (!notices_.empty()) {
    const LeaseNotice notice = std::move(notices_.front());
    notices_.pop_front();
    lock.unlock();
    options_.on_notice(notice);
    lock.lock();
  }
  is_delivering_ = false;
  std::uint64_t told = 0;
  if (!has_descriptors()) return;
  static_cast<void>(!::read(noticed_.get(), &told, sizeof told));
}

bool Link::wait(Lock& lock, const std::function<bool()>& is_done,
                std::optional<Clock::time_point> deadline) {
  while (!is_done()) {
    const auto now = Clock::now();
    if (deadline && now >= *deadline) return false;
    const bool others_receive = has_keeper_ && keeper_id_ != std::this_thread::get_id();
    if (others_receive || is_pumping_) {
      if (deadline) {
        changed_.wait_until(lock, *deadline);
      } else {
        changed_.wait(lock);
      }
      continue;
    }
    int timeout_ms = kLookEveryMs;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now).count();
      timeout_ms = static_cast<int>(std::min<long>(left, kLookEveryMs));
    }
    is_pumping_ = true;
    lock.unlock();
    pollfd wake{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
    ::poll(&wake, 1, timeout_ms);
    lock.lock();
    is_pumping_ = false;
    if (phase_ != Phase::kClosed) pump_locked();
    changed_.notify_all();
  }
  return true;
}

}  // namespace meterbank::pmu::detail
