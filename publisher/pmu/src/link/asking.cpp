// SPDX-License-Identifier: Apache-2.0
//
// Requests, and how long a caller waits for their answers.
#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "../local/local_state.hpp"
#include "../refusals.hpp"
#include "link.hpp"
#include "meterbank/base/without_cancellation.hpp"

namespace meterbank::pmu::detail {
namespace {

using namespace std::chrono_literals;

// A destructor waits no longer: a message that was sent arrives without a waiting caller, too.
constexpr std::chrono::nanoseconds kReleaseTimeout = 1s;

}  // namespace

Asked<Lease> Link::acquire(const Allocate& allocate, const AcquireOptions& options) {
  const WithoutCancellation whole;
  if (is_inherited()) return not_decided(of_parent());
  Lock lock(mutex_);
  if (phase_ != Phase::kOpen) return not_decided(why_adrift_);
  auto pending = std::make_shared<Pending>();
  pending->message = allocate;
  const std::uint64_t id = send_locked(pending);
  lock.unlock();
  Asked<ArbiterMessage> answer;
  {
    // Runs at once if it was said already, and on the thread that says it later.
    const std::stop_callback stop(options.stop, [&] {
      const std::lock_guard cancelling(mutex_);
      send_unanswered_locked(Cancel{.request = id}, next_id_++);
    });
    lock.lock();
    answer = wait_for(lock, id, pending, options.on_queued, deadline_of(allocate));
    lock.unlock();
  }
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  return Lease(pending->held);
}

Asked<ArbiterMessage> Link::ask(ClientMessage message, std::chrono::nanoseconds timeout) {
  const WithoutCancellation whole;
  if (is_inherited()) return not_decided(of_parent());
  Lock lock(mutex_);
  if (phase_ != Phase::kOpen) return not_decided(why_adrift_);
  auto pending = std::make_shared<Pending>();
  pending->message = std::move(message);
  const std::uint64_t id = send_locked(pending);
  const auto all = std::min<std::chrono::nanoseconds>(timeout, 24h) + options_.timeout;
  return wait_for(lock, id, pending, {}, Clock::now() + all);
}

Asked<ArbiterMessage> Link::wait_for(Lock& lock, std::uint64_t id, const PendingPtr& pending,
                                     const std::function<void(const Queued&)>& on_queued,
                                     std::optional<Clock::time_point> deadline) {
  const auto has_news = [&] { return pending->is_done() || !pending->queued.empty(); };
  while (!pending->is_done()) {
    if (!wait(lock, has_news, deadline)) break;
    while (!pending->queued.empty()) {
      const Queued queued = pending->queued.front();
      pending->queued.pop_front();
      if (!on_queued) continue;
      lock.unlock();
      on_queued(queued);
      lock.lock();
    }
  }
  pending_.erase(id);
  if (pending->error) {
    if (pending->held != nullptr) leases_.erase(pending->held->granted.head.token);
    return not_decided(*pending->error);
  }
  if (!pending->is_done()) {
    abandon_locked(id, *pending);
    return not_decided(silent());
  }
  if (const auto* refused = std::get_if<Refused>(&*pending->answer)) {
    return tl::make_unexpected(refusal_of(*refused));
  }
  if (const auto* rejected = std::get_if<Rejected>(&*pending->answer)) {
    return not_decided(error_of(*rejected));
  }
  return std::move(*pending->answer);
}

// What was asked for in vain is given back when it comes.
void Link::abandon_locked(std::uint64_t id, const Pending& pending) {
  abandoned_.insert(id);
  if (pending.held == nullptr) {
    if (std::holds_alternative<Allocate>(pending.message)) {
      send_unanswered_locked(Cancel{.request = id}, next_id_++);
    }
    return;
  }
  pending.held->claim_nothing();
  leases_.erase(pending.held->granted.head.token);
  abandoned_.insert(next_id_);
  send_unanswered_locked(Free{.token = pending.held->granted.head.token}, next_id_++);
}

std::optional<Link::Clock::time_point> Link::deadline_of(const Allocate& allocate) const {
  constexpr std::uint64_t kLongest = 86'400'000'000'000;  // a day; a longer wait has no deadline
  if (allocate.head.wait_ns > kLongest) return std::nullopt;
  return Clock::now() + options_.timeout + std::chrono::nanoseconds(allocate.head.wait_ns);
}

// ---- Of a lease ----

void Link::release(Held& held) noexcept {
  const WithoutCancellation whole;
  if (is_inherited()) return;
  Lock lock(mutex_);
  const bool is_known = held.standing != Standing::kLost && held.standing != Standing::kReleased;
  const bool is_adrift = held.standing == Standing::kAdrift;
  const Token token = held.granted.head.token;
  held.claim_nothing();
  held.standing = Standing::kReleased;
  held.descriptors.clear();
  leases_.erase(token);
  if (!is_known || is_adrift || phase_ != Phase::kOpen) return;
  try {
    auto pending = std::make_shared<Pending>();
    pending->message = Free{.token = token};
    const std::uint64_t id = send_locked(pending);
    const auto deadline =
        Clock::now() + std::min<std::chrono::nanoseconds>(kReleaseTimeout, options_.timeout);
    static_cast<void>(wait_for(lock, id, pending, {}, deadline));
  } catch (const std::bad_alloc&) {
    // The arbiter takes it back with the connection.
  }
}

Result<LeaseValues> Link::read(Held& held) {
  const WithoutCancellation whole;
  if (is_inherited()) return tl::make_unexpected(of_parent());
  {
    const std::lock_guard lock(mutex_);
    if (held.standing == Standing::kLost && held.last_values) return *held.last_values;
    const bool has_ended = held.standing == Standing::kLost || held.standing == Standing::kReleased;
    if (has_ended && phase_ != Phase::kClosed) {
      return fail(ErrorCode::kClosed, "the lease has ended: " + std::string(name_of(held.cause)));
    }
  }
  const Token token = token_of(held);
  auto answer = ask(Read{.token = token});
  if (!answer) {
    const Refusal& refusal = answer.error();
    if (refusal.error) return tl::make_unexpected(*refusal.error);
    // Lost while it was asked for: the last values came before.
    const std::lock_guard lock(mutex_);
    if (held.last_values) return *held.last_values;
    return fail(ErrorCode::kClosed, "the lease has ended: " + refusal.message());
  }
  auto& values = std::get<LeaseValues>(*answer);
  const bool is_of_it =
      values.head.token == token &&
      std::all_of(values.values.begin(), values.values.end(),
                  [&held](const Value& value) { return asks_for(held.asked, value.item); });
  if (!is_of_it) return fail(ErrorCode::kCorrupt, "the arbiter sent values of something else");
  static_cast<void>(held.use());
  return std::move(values);
}

Result<LocalCounter> Link::local(const std::shared_ptr<Held>& held, std::uint32_t position) {
  if (is_inherited()) return tl::make_unexpected(of_parent());
  UniqueFd event;
  std::uint32_t task = 0;
  {
    const std::lock_guard lock(mutex_);
    if (position < held->descriptors.size() && held->descriptors[position]) {
      event.reset(::fcntl(held->descriptors[position].get(), F_DUPFD_CLOEXEC, 3));
    }
    task = held->asked.head.task;
  }
  if (!event) {
    return fail(ErrorCode::kNotFound, "no descriptor was delegated for this counter",
                "Request::this_thread() and Request::delegates()");
  }
  return open_of_lease(std::move(event), task, held);
}

}  // namespace meterbank::pmu::detail
