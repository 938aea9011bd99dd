// SPDX-License-Identifier: Apache-2.0
//
// A connection's innards: one socket, the threads that wait for answers, the leases that it
// carries.
//
//     adrift --socket--> greeting --Welcome, ledger--> open --end, violation, hung up on--> adrift
//        ^                   |                                                                |
//        +---- retry --------+                         closed <-- the connection is destroyed +
//
// A thread that waits for an answer receives packets meanwhile. If there is a keeper, only the
// keeper receives. Packets are handled under the mutex, callbacks run without it. What an arbiter
// sends is believed as far as this: it is decoded, it answers what was asked, and its numbers lie
// within what was asked; else the connection is dropped, as if the arbiter had died.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "held.hpp"
#include "meterbank/base/fork_watch.hpp"
#include "meterbank/base/one_process.hpp"
#include "meterbank/pmu/connection.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank::pmu::detail {

// How long a thread sleeps at descriptors that the program may have closed.
inline constexpr int kLookEveryMs = 1000;

// A request that is out.
struct Pending {
  ClientMessage message;
  std::optional<ArbiterMessage> answer;
  std::optional<Error> error;
  std::deque<Queued> queued;     // not told yet
  std::shared_ptr<Held> held;    // of Granted
  std::weak_ptr<Held> reclaims;  // claimed by the link itself; no caller waits
  bool is_of_link = false;       // of the link itself: greeting, claims
  std::uint32_t descriptors_due = 0;
  [[nodiscard]] bool is_done() const noexcept { return error || (answer && descriptors_due == 0); }
};

// Made by make_of_one_process(): a child never destroys what it inherited of its parent.
//
// The child of a fork has no leases. It must not speak on the parent's socket, where it would be
// taken for it, nor keep descriptors of counters, which would stay taken as long as the child
// lives.
class Link final : public OfOneProcess,
                   public std::enable_shared_from_this<Link>,
                   private ForkWatcher {
 public:
  explicit Link(ConnectionOptions options);
  ~Link();

  // Connects, and starts the keeper if one is wanted.
  Result<void> start();
  // Leases end. Idempotent.
  void close() noexcept;

  [[nodiscard]] Asked<Lease> acquire(const Allocate& allocate, const AcquireOptions& options);
  // Returns the answer of the arbiter; Refused and Rejected are errors. `timeout` is added to that
  // of the options, for requests that are known to take long.
  [[nodiscard]] Asked<ArbiterMessage> ask(ClientMessage message,
                                          std::chrono::nanoseconds timeout = {});

  void release(Held& held) noexcept;
  [[nodiscard]] Result<LeaseValues> read(Held& held);
  // Of messages that name a lease and are answered Done.
  template <typename Message>
  [[nodiscard]] Asked<void> tell(Held& held) {
    auto answer = ask(Message{.token = token_of(held)});
    if (!answer) return tl::make_unexpected(std::move(answer.error()));
    return {};
  }
  [[nodiscard]] Result<LocalCounter> local(const std::shared_ptr<Held>& held,
                                           std::uint32_t position);
  // A copy of what `held` has, made under the mutex.
  template <typename Look>
  [[nodiscard]] auto look_at(const Held& held, Look look) const {
    const std::lock_guard lock(mutex_);
    return look(held);
  }

  [[nodiscard]] ArbiterFacts facts() const;
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] std::shared_ptr<const LedgerView> ledger() const;
  [[nodiscard]] int descriptor() const noexcept { return all_.get(); }
  void dispatch();

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  using PendingPtr = std::shared_ptr<Pending>;
  enum class Phase : std::uint8_t { kAdrift, kGreeting, kOpen, kClosed };

  // ---- link.cpp: life ----
  bool lock_for_fork() noexcept override;
  void unlock_after_fork() noexcept override { mutex_.unlock(); }
  void leave_to_parent() noexcept override;
  [[nodiscard]] static Error of_parent();
  Result<void> prepare();
  Result<void> connect_locked();
  [[nodiscard]] Error silent() const;
  void drop_locked(const Error& reason) noexcept;
  // Whether the program has closed none of the descriptors by their numbers. One system call.
  [[nodiscard]] bool has_descriptors() const noexcept {
    return heartbeat_ != nullptr && heartbeat_->has_descriptor();
  }
  // The end, without touching the numbers: they may be of files of the program.
  void lose_descriptors_locked() noexcept;
  void end_leases_locked() noexcept;
  void claim_again_locked();
  void claim_again_locked(const std::shared_ptr<Held>& held);
  static void* keep(void* self) noexcept;

  // ---- packets.cpp: in and out ----
  std::uint64_t send_locked(const PendingPtr& pending, int attached = -1);
  void send_unanswered_locked(const ClientMessage& message, std::uint64_t id);
  void push_locked(std::vector<std::byte> packet, int attached);
  void flush_locked();
  void pump_locked();
  void rearm_locked() noexcept;
  void wake_locked() noexcept;  // wakes the thread that polls
  void deliver(Lock& lock);
  // Until is_done(), which is called under the mutex, or the deadline. False: it is not.
  bool wait(Lock& lock, const std::function<bool()>& is_done,
            std::optional<Clock::time_point> deadline);

  // ---- answers.cpp: what an arbiter says; a text is what was wrong with it ----
  using Fault = std::optional<std::string>;
  [[nodiscard]] Fault handle_locked(std::span<const std::byte> packet, UniqueFd attached);
  [[nodiscard]] Fault answer_locked(std::uint64_t id, ArbiterMessage& message, UniqueFd attached);
  [[nodiscard]] Fault welcome_locked(const Welcome& welcome, UniqueFd attached);
  [[nodiscard]] Fault granted_locked(Pending& pending, Granted& granted);
  [[nodiscard]] Fault counter_locked(Pending& pending, const Counter& counter, UniqueFd attached);
  [[nodiscard]] Fault values_locked(const LeaseValues& values);
  [[nodiscard]] Fault notice_locked(const Notice& notice);
  [[nodiscard]] Fault ledger_locked(UniqueFd attached);
  void drop_abandoned_locked(std::uint64_t id, const ArbiterMessage& message);
  void finish_claim_locked(Pending& pending);
  void lose_locked(const std::shared_ptr<Held>& held, Cause cause);
  void tell_locked(LeaseNotice notice);
  [[nodiscard]] std::shared_ptr<Held> find_locked(Token token) const;
  [[nodiscard]] Token token_of(const Held& held) const;

  // ---- asking.cpp ----
  [[nodiscard]] Asked<ArbiterMessage> wait_for(Lock& lock, std::uint64_t id,
                                               const PendingPtr& pending,
                                               const std::function<void(const Queued&)>& on_queued,
                                               std::optional<Clock::time_point> deadline);
  void abandon_locked(std::uint64_t id, const Pending& pending);
  [[nodiscard]] std::optional<Clock::time_point> deadline_of(const Allocate& allocate) const;

  const ConnectionOptions options_;
  const std::string path_;
  std::shared_ptr<Heartbeat> heartbeat_;

  mutable std::mutex mutex_;  // everything below
  std::condition_variable changed_;
  Phase phase_ = Phase::kAdrift;
  Error why_adrift_;
  PacketSocket socket_;
  PacketBuffer packet_;
  UniqueFd epoll_;    // the socket and the timer: what a waiter for an answer wakes for
  UniqueFd timer_;    // the time of the next retry, or now
  UniqueFd noticed_;  // readable while there are notices to deliver
  UniqueFd all_;      // epoll_ and noticed_
  std::deque<std::pair<std::vector<std::byte>, UniqueFd>> unsent_;
  bool wants_room_ = false;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, PendingPtr> pending_;
  std::set<std::uint64_t> abandoned_;  // ids whose answers no caller waits for
  ArbiterFacts facts_;
  std::shared_ptr<const LedgerView> ledger_;
  std::map<Token, std::weak_ptr<Held>> leases_;  // that are not lost or released
  std::deque<LeaseNotice> notices_;
  bool is_pumping_ = false;
  bool is_delivering_ = false;
  std::uint32_t retries_ = 0;
  Clock::time_point retry_at_;
  Clock::time_point greeted_until_;

  pthread_t keeper_{};
  std::thread::id keeper_id_;
  bool has_keeper_ = false;
};

}  // namespace meterbank::pmu::detail
