// SPDX-License-Identifier: Apache-2.0
#include "link.hpp"

#include <poll.h>
#include <pwd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <utility>

#include "meterbank/base/library_thread.hpp"
#include "meterbank/base/stay_loaded.hpp"
#include "meterbank/base/without_cancellation.hpp"

namespace meterbank::pmu::detail {
namespace {

using namespace std::chrono_literals;

// An arbiter that was started anew is found within the longest of these.
constexpr std::chrono::milliseconds kRetryFirst = 5ms;
constexpr std::chrono::milliseconds kRetryLast = 200ms;
// So long a claim may wait: while an arbiter has just started it gives out nothing else.
constexpr std::uint64_t kClaimWaitNs = 3'000'000'000;
constexpr const char* kArbiterAccount = "meterbank";

bool watch(const UniqueFd& set, const UniqueFd& descriptor) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(set.get(), EPOLL_CTL_ADD, descriptor.get(), &event) == 0;
}

// The uid of the account that the packages create for the arbiter, if it exists.
std::optional<uid_t> uid_of_arbiter_account() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  const int failed = ::getpwnam_r(kArbiterAccount, &entry, buffer.data(), buffer.size(), &found);
  if (failed != 0 || found == nullptr) return std::nullopt;
  return found->pw_uid;
}

// Any user may have made the socket. The kernel says whose process listens there.
Result<void> check_arbiter_user(const PacketSocket& socket, const std::string& path) {
  const PeerCredentials peer = socket.peer();
  if (peer.uid == 0 || peer.uid == ::geteuid() || peer.uid == uid_of_arbiter_account()) return {};
  return fail(ErrorCode::kCorrupt,
              "a process of uid " + std::to_string(peer.uid) + " (pid " + std::to_string(peer.pid) +
                  ") listens at " + path + ", and the arbiter has to run as root, as user " +
                  kArbiterAccount + " or as this user",
              "end that process and start meterbank-pmud");
}

}  // namespace

Link::Link(ConnectionOptions options)
    : options_(std::move(options)),
      path_(options_.socket.empty() ? default_arbiter_socket() : options_.socket) {}

Link::~Link() {
  unwatch_forks(*this);
  close();
}

Error Link::silent() const {
  return {ErrorCode::kGone, ETIMEDOUT, "the arbiter at " + path_ + " does not answer",
          "restart meterbank-pmud"};
}

Result<void> Link::prepare() {
  auto heartbeat = Heartbeat::create();
  if (!heartbeat) return tl::make_unexpected(heartbeat.error());
  heartbeat_ = std::move(*heartbeat);
  const auto make = [](UniqueFd& target, int descriptor) {
    target.reset(descriptor);
    return descriptor >= 0;
  };
  // One after the other, so that errno is that of the first one that fails.
  if (!make(epoll_, ::epoll_create1(EPOLL_CLOEXEC)) ||
      !make(timer_, ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) ||
      !make(noticed_, ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) ||
      !make(all_, ::epoll_create1(EPOLL_CLOEXEC)) || !watch(epoll_, timer_) ||
      !watch(all_, epoll_) || !watch(all_, noticed_)) {
    return fail(ErrorCode::kSystem, "descriptors for a connection", "raise the limit: ulimit -n",
                errno);
  }
  return {};
}

Result<void> Link::start() {
  const WithoutCancellation whole;
  if (auto good = stay_loaded(); !good) return good;
  if (auto prepared = prepare(); !prepared) return prepared;
  watch_forks(*this);
  Lock lock(mutex_);
  if (auto connected = connect_locked(); !connected) return connected;
  const auto settled = [this] { return phase_ != Phase::kGreeting; };
  const auto limit = std::min(options_.timeout, options_.greeting_timeout);
  if (!wait(lock, settled, Clock::now() + limit)) {
    return tl::make_unexpected(silent());
  }
  if (phase_ != Phase::kOpen) return tl::make_unexpected(why_adrift_);
  if (!options_.has_keeper) return {};
  // The keeper's own reference: the connection may end in one of its callbacks.
  auto self = std::make_unique<std::shared_ptr<Link>>(shared_from_this());
  if (const int failed = start_library_thread(keeper_, keep, self.get(), kCallbackStackBytes);
      failed != 0) {
    return fail(ErrorCode::kSystem, "a thread for a connection", "raise RLIMIT_NPROC", failed);
  }
  static_cast<void>(self.release());
  has_keeper_ = true;
  return {};
}

void* Link::keep(void* self) noexcept {
  const std::unique_ptr<std::shared_ptr<Link>> owned(static_cast<std::shared_ptr<Link>*>(self));
  Link& link = **owned;
  ::pthread_setname_np(::pthread_self(), "mb-pmu");
  {
    const std::lock_guard lock(link.mutex_);
    link.keeper_id_ = std::this_thread::get_id();
  }
  for (;;) {
    pollfd wake{.fd = link.all_.get(), .events = POLLIN, .revents = 0};
    ::poll(&wake, 1, kLookEveryMs);
    try {
      Lock lock(link.mutex_);
      if (link.phase_ == Phase::kClosed) return nullptr;
      link.pump_locked();
      link.changed_.notify_all();
      link.deliver(lock);
      if (link.phase_ == Phase::kClosed) return nullptr;
    } catch (const std::bad_alloc&) {
      // A message that could not be handled is lost, as if the arbiter had not sent it; the calls
      // that wait for it time out.
    }
  }
}

void Link::dispatch() {
  const WithoutCancellation whole;
  if (is_inherited()) return;
  Lock lock(mutex_);
  if (phase_ == Phase::kClosed || has_keeper_) return;
  if (!is_pumping_) pump_locked();
  changed_.notify_all();
  deliver(lock);
}

void Link::close() noexcept {
  const WithoutCancellation whole;
  if (is_inherited()) return;
  bool joins = false;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kClosed && !has_descriptors()) lose_descriptors_locked();
    if (phase_ != Phase::kClosed) {
      drop_locked({ErrorCode::kClosed, 0, "the connection to the arbiter was closed", ""});
      end_leases_locked();
      notices_.clear();
      wake_locked();
      changed_.notify_all();
    }
    if (!std::exchange(has_keeper_, false)) return;
    joins = keeper_id_ != std::this_thread::get_id();
  }
  if (joins) {
    ::pthread_join(keeper_, nullptr);
  } else {
    ::pthread_detach(keeper_);
  }
}

void Link::end_leases_locked() noexcept {
  phase_ = Phase::kClosed;
  for (const auto& [token, weak] : leases_) {
    if (const auto held = weak.lock()) held->standing = Standing::kReleased;
  }
  leases_.clear();
}

void Link::lose_descriptors_locked() noexcept {
  for (UniqueFd* const descriptor : {&epoll_, &timer_, &noticed_, &all_}) {
    static_cast<void>(descriptor->release());
  }
  for (auto& [packet, attached] : unsent_) static_cast<void>(attached.release());
  for (const auto& [token, weak] : leases_) {
    const auto held = weak.lock();
    if (held == nullptr) continue;
    for (UniqueFd& counter : held->descriptors) static_cast<void>(counter.release());
  }
  drop_locked({ErrorCode::kClosed, 0, "this program has closed the descriptors of the connection",
               "connect again, or leave them open"});
  end_leases_locked();
  changed_.notify_all();
}

// ---- Arbiters come and go ----

Result<void> Link::connect_locked() {
  auto socket = PacketSocket::connect(path_);
  if (!socket) {
    Error error = std::move(socket.error());
    if (error.code == ErrorCode::kGone) error.remedy = "start meterbank-pmud";
    return tl::make_unexpected(std::move(error));
  }
  if (auto trusted = check_arbiter_user(*socket, path_); !trusted) return trusted;
  socket_ = std::move(*socket);
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.descriptor(), &event) != 0) {
    const int error = errno;
    socket_ = {};
    return fail(ErrorCode::kSystem, "a descriptor to be waited for", "", error);
  }
  wants_room_ = false;
  phase_ = Phase::kGreeting;
  greeted_until_ = Clock::now() + options_.timeout;
  auto greeting = std::make_shared<Pending>();
  greeting->message = Hello{};
  greeting->is_of_link = true;
  send_locked(greeting, heartbeat_->descriptor());
  rearm_locked();
  return {};
}

void Link::drop_locked(const Error& reason) noexcept {
  if (socket_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket_.descriptor(), nullptr);
  socket_ = {};
  unsent_.clear();
  abandoned_.clear();
  why_adrift_ = reason;
  phase_ = Phase::kAdrift;
  // A false arbiter is not asked every few milliseconds.
  retries_ = reason.code == ErrorCode::kCorrupt ? std::max(retries_, 3U) + 1 : retries_ + 1;
  retry_at_ = Clock::now() + std::min(kRetryLast, kRetryFirst * (1 << std::min(retries_, 8U)));
  for (const auto& [id, pending] : pending_) {
    if (!pending->is_done()) pending->error = reason;
  }
  std::erase_if(pending_, [](const auto& each) { return each.second->is_of_link; });
  for (const auto& [token, weak] : leases_) {
    const auto held = weak.lock();
    if (held == nullptr || held->standing == Standing::kAdrift) continue;
    held->standing = Standing::kAdrift;
    held->claim_nothing();
    tell_locked({.kind = LeaseNotice::Kind::kAdrift, .token = token});
  }
}

void Link::claim_again_locked() {
  std::vector<std::shared_ptr<Held>> adrift;
  for (const auto& [token, weak] : leases_) {
    if (auto held = weak.lock()) adrift.push_back(std::move(held));
  }
  for (const auto& held : adrift) claim_again_locked(held);
}

void Link::claim_again_locked(const std::shared_ptr<Held>& held) {
  const Token before = held->granted.head.token;
  for (std::size_t at = 0; at < held->descriptors.size(); ++at) {
    if (!held->descriptors[at]) continue;
    auto offer = std::make_shared<Pending>();
    offer->message = Offer{.token = before, .kernel_id = held->granted.counters[at].kernel_id};
    offer->is_of_link = true;
    send_locked(offer, held->descriptors[at].get());
  }
  auto claim = std::make_shared<Pending>();
  Allocate allocate = held->asked;
  allocate.head.reclaims = before;
  allocate.head.wait_ns = std::max(allocate.head.wait_ns, kClaimWaitNs);
  claim->message = std::move(allocate);
  claim->reclaims = held;
  claim->is_of_link = true;
  send_locked(claim);
}

Error Link::of_parent() {
  return {ErrorCode::kForked, 0, "a connection of the parent process", "connect in this process"};
}

bool Link::lock_for_fork() noexcept {
  if (is_inherited()) return false;
  mutex_.lock();
  return true;
}

void Link::leave_to_parent() noexcept {
  if (!has_descriptors()) {
    for (UniqueFd* const descriptor : {&epoll_, &timer_, &noticed_, &all_}) {
      static_cast<void>(descriptor->release());
    }
  }
  phase_ = Phase::kClosed;
  why_adrift_ = of_parent();
  has_keeper_ = false;
  // Closed here alone: what is taken out of the epoll set would be so for the parent as well.
  socket_ = {};
  for (UniqueFd* const descriptor : {&epoll_, &timer_, &noticed_, &all_}) descriptor->reset();
  unsent_.clear();
  pending_.clear();
  notices_.clear();
  if (heartbeat_ != nullptr) heartbeat_->detach();
  for (const auto& [token, weak] : leases_) {
    const auto held = weak.lock();
    if (held == nullptr) continue;
    held->claim_nothing();
    held->standing = Standing::kReleased;
    held->descriptors.clear();
  }
  leases_.clear();
}

// ---- To be looked at ----

ArbiterFacts Link::facts() const {
  if (is_inherited()) return {};
  const std::lock_guard lock(mutex_);
  return facts_;
}

bool Link::is_connected() const {
  if (is_inherited()) return false;
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::kOpen;
}

std::shared_ptr<const LedgerView> Link::ledger() const {
  if (is_inherited()) return nullptr;
  const std::lock_guard lock(mutex_);
  return ledger_;
}

}  // namespace meterbank::pmu::detail
