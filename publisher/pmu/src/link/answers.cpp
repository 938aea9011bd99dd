// SPDX-License-Identifier: Apache-2.0
//
// What an arbiter says, checked against what it was asked.
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

#include "../local/local_state.hpp"
#include "../refusals.hpp"
#include "link.hpp"
#include "meterbank/base/clock.hpp"

namespace meterbank::pmu::detail {
namespace {

template <typename... Messages, typename Variant>
bool is_one_of(const Variant& message) noexcept {
  return (std::holds_alternative<Messages>(message) || ...);
}

// The answers that a request can have, beside Refused and Rejected.
bool fits(const ClientMessage& asked, const ArbiterMessage& answer) noexcept {
  if (is_one_of<Rejected>(answer)) return true;
  if (is_one_of<Hello>(asked)) return is_one_of<Welcome>(answer);
  if (is_one_of<Refused>(answer)) return true;
  if (is_one_of<Allocate>(asked)) return is_one_of<Granted, Counter, Queued>(answer);
  if (is_one_of<Read>(asked)) return is_one_of<LeaseValues>(answer);
  if (is_one_of<Probe>(asked)) return is_one_of<Room>(answer);
  if (is_one_of<Owners>(asked)) return is_one_of<OwnersAnswer>(answer);
  return is_one_of<Done>(answer);
}

bool is_dry_run(const Allocate& allocate) noexcept {
  return (allocate.head.flags & kAllocateDryRun) != 0;
}

}  // namespace

Link::Fault Link::handle_locked(std::span<const std::byte> packet, UniqueFd attached) {
  Decoded<ArbiterMessage> decoded = decode_arbiter_message(packet);
  if (decoded.rejection) return "a packet that is " + std::string(name_of(*decoded.rejection));
  ArbiterMessage& message = decoded.message;
  const bool carries = is_one_of<Welcome, Counter, NewLedger>(message);
  if (carries && !attached) return "a packet without its descriptor";
  if (!carries && attached) return "a packet with a descriptor";
  if (decoded.id != 0) return answer_locked(decoded.id, message, std::move(attached));
  if (const auto* rejected = std::get_if<Rejected>(&message)) {
    drop_locked(error_of(*rejected));  // no fault: it does not want this connection
    return std::nullopt;
  }
  if (phase_ != Phase::kOpen) return "a message before Welcome";
  if (const auto* notice = std::get_if<Notice>(&message)) return notice_locked(*notice);
  if (const auto* values = std::get_if<LeaseValues>(&message)) return values_locked(*values);
  if (is_one_of<NewLedger>(message)) return ledger_locked(std::move(attached));
  return "an answer to nothing";
}

// ---- Answers ----

Link::Fault Link::answer_locked(std::uint64_t id, ArbiterMessage& message, UniqueFd attached) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) {
    if (!abandoned_.contains(id)) return "an answer without a request";
    drop_abandoned_locked(id, message);
    return std::nullopt;
  }
  const PendingPtr pending = found->second;
  if (pending->is_done()) return "a second answer";
  if (!fits(pending->message, message)) return "an answer to another question";
  if (const auto* welcome = std::get_if<Welcome>(&message)) {
    pending_.erase(found);
    return welcome_locked(*welcome, std::move(attached));
  }
  if (const auto* queued = std::get_if<Queued>(&message)) {
    if (pending->answer) return "a request that waits though it was granted";
    pending->queued.push_back(*queued);
    return std::nullopt;
  }
  if (const auto* counter = std::get_if<Counter>(&message)) {
    if (auto fault = counter_locked(*pending, *counter, std::move(attached))) return fault;
  } else if (pending->answer) {
    return "a second answer";
  } else if (auto* granted = std::get_if<Granted>(&message)) {
    if (auto fault = granted_locked(*pending, *granted)) return fault;
  }
  if (!is_one_of<Counter>(message)) pending->answer = std::move(message);
  if (!pending->is_of_link || !pending->is_done()) return std::nullopt;
  pending_.erase(id);
  if (is_one_of<Hello>(pending->message)) {
    drop_locked(error_of(std::get<Rejected>(*pending->answer)));
    return std::nullopt;
  }
  finish_claim_locked(*pending);
  return std::nullopt;
}

Link::Fault Link::welcome_locked(const Welcome& welcome, UniqueFd attached) {
  auto ledger = LedgerView::attach(std::move(attached));
  if (!ledger) return "a false ledger: " + ledger.error().message();
  if ((*ledger)->epoch() != welcome.epoch) return "a ledger of another epoch";
  ledger_ = std::move(*ledger);
  facts_ = {.epoch = welcome.epoch,
            .client = welcome.client,
            .has_pmu = (welcome.flags & kWelcomeHasPmu) != 0,
            .is_in_grace = (welcome.flags & kWelcomeGrace) != 0,
            .is_administrator = (welcome.flags & kWelcomeAdministrator) != 0};
  phase_ = Phase::kOpen;
  retries_ = 0;
  claim_again_locked();
  return std::nullopt;
}

Link::Fault Link::granted_locked(Pending& pending, Granted& granted) {
  const auto& asked = std::get<Allocate>(pending.message);
  for (const GrantedCounter& counter : granted.counters) {
    if (!asks_for(asked, counter.item)) return "a counter for an item that was not asked for";
  }
  if (is_dry_run(asked)) {
    return granted.head.descriptor_count == 0 ? Fault() : "descriptors for nothing";
  }
  const Token token = granted.head.token;
  if (epoch_of(token) != (facts_.epoch & 0xffff)) return "a lease of another epoch";
  if (lease_of(token) >= kLedgerLeasesMax) return "a lease with a number beyond the ledger";
  const bool delegates = (asked.head.flags & kAllocateDelegates) != 0;
  const std::uint32_t descriptors_max = delegates ? granted.head.counter_count : 0;
  if (granted.head.descriptor_count > descriptors_max) return "more descriptors than counters";

  std::shared_ptr<Held> held = pending.reclaims.lock();
  const bool is_claim = pending.is_of_link;
  const auto holder = find_locked(token);
  if (holder != nullptr && holder != held) return "one lease for two requests";
  if (is_claim && (held == nullptr || held->standing != Standing::kAdrift)) {
    // Its holder has released it meanwhile.
    abandoned_.insert(next_id_);
    send_unanswered_locked(Free{.token = token}, next_id_++);
    return std::nullopt;
  }
  if (!is_claim) {
    held = std::make_shared<Held>(shared_from_this(), heartbeat_);
    held->asked = asked;
  }
  leases_.erase(held->granted.head.token);
  // An old descriptor would keep a counter that the new grant does not know.
  held->descriptors.clear();
  if (granted.head.descriptor_count != 0) held->descriptors.resize(granted.counters.size());
  pending.descriptors_due = granted.head.descriptor_count;
  held->granted = granted;
  heartbeat_->beat(clock_ns(CLOCK_MONOTONIC));  // a lease begins with a sign of life
  held->standing = Standing::kHeld;
  held->begin_term();
  held->claim_in(ledger_);
  leases_.emplace(token, held);
  pending.held = std::move(held);
  return std::nullopt;
}

Link::Fault Link::counter_locked(Pending& pending, const Counter& counter, UniqueFd attached) {
  if (!pending.answer || pending.held == nullptr) return "a descriptor of no lease";
  if (pending.descriptors_due == 0) return "more descriptors than it said";
  Held& held = *pending.held;
  if (counter.token != held.granted.head.token) return "a descriptor of another lease";
  if (counter.position >= held.descriptors.size()) return "a descriptor of no counter";
  if (held.descriptors[counter.position]) return "two descriptors of one counter";
  // Asked of nothing but what the kernel calls an event.
  if (!is_event_descriptor(attached.get())) return "a descriptor that is of no event";
  std::uint64_t kernel_id = 0;
  if (::ioctl(attached.get(), PERF_EVENT_IOC_ID, &kernel_id) != 0 ||
      kernel_id != held.granted.counters[counter.position].kernel_id) {
    return "a descriptor of another event than it said";
  }
  held.descriptors[counter.position] = std::move(attached);
  --pending.descriptors_due;
  return std::nullopt;
}

void Link::drop_abandoned_locked(std::uint64_t id, const ArbiterMessage& message) {
  if (is_one_of<Counter, Queued>(message)) return;
  if (const auto* granted = std::get_if<Granted>(&message)) {
    // Its id stays: descriptors may follow.
    abandoned_.insert(next_id_);
    send_unanswered_locked(Free{.token = granted->head.token}, next_id_++);
    return;
  }
  abandoned_.erase(id);
}

void Link::finish_claim_locked(Pending& pending) {
  const auto held = pending.reclaims.lock();
  if (held == nullptr || is_one_of<Offer>(pending.message)) return;
  if (pending.held == nullptr) {
    if (is_one_of<Granted>(*pending.answer)) return;  // released meanwhile
    return lose_locked(held, Cause::kArbiterEnds);
  }
  tell_locked({.kind = LeaseNotice::Kind::kReclaimed,
               .token = held->granted.head.token,
               .before = std::get<Allocate>(pending.message).head.reclaims});
}

// ---- Unasked ----

Link::Fault Link::values_locked(const LeaseValues& values) {
  const auto held = find_locked(values.head.token);
  if (held == nullptr) return std::nullopt;  // released while this was on its way
  for (const Value& value : values.values) {
    if (!asks_for(held->asked, value.item)) return "a value of an item that was not asked for";
  }
  held->last_values = std::make_shared<const LeaseValues>(values);
  return std::nullopt;
}

Link::Fault Link::notice_locked(const Notice& notice) {
  const auto held = find_locked(notice.token);
  if (held == nullptr) return std::nullopt;  // released while this was on its way
  LeaseNotice told{.token = notice.token, .cause = notice.cause};
  switch (notice.kind) {
    case NoticeKind::kRevoking:
      held->standing = Standing::kRevoking;
      held->cause = notice.cause;
      held->deadline_ns = notice.deadline_ns;
      told.kind = LeaseNotice::Kind::kRevoking;
      told.deadline_ns = notice.deadline_ns;
      break;
    case NoticeKind::kLost:
      lose_locked(held, notice.cause);
      return std::nullopt;
    case NoticeKind::kSuspended:
      held->standing = Standing::kSuspended;
      told.kind = LeaseNotice::Kind::kSuspended;
      break;
    case NoticeKind::kResumed:
      held->standing = Standing::kHeld;
      held->heartbeat->beat(clock_ns(CLOCK_MONOTONIC));  // its term begins anew
      told.kind = LeaseNotice::Kind::kResumed;
      break;
  }
  tell_locked(std::move(told));
  return std::nullopt;
}

Link::Fault Link::ledger_locked(UniqueFd attached) {
  auto ledger = LedgerView::attach(std::move(attached));
  if (!ledger) return "a false ledger: " + ledger.error().message();
  if ((*ledger)->epoch() != facts_.epoch) return "a ledger of another epoch";
  ledger_ = std::move(*ledger);
  for (const auto& [token, weak] : leases_) {
    const auto held = weak.lock();
    if (held != nullptr && held->standing != Standing::kAdrift) held->claim_in(ledger_);
  }
  return std::nullopt;
}

// ---- Leases ----

void Link::lose_locked(const std::shared_ptr<Held>& held, Cause cause) {
  const Token token = held->granted.head.token;
  held->claim_nothing();
  held->standing = Standing::kLost;
  held->cause = cause;
  held->descriptors.clear();
  leases_.erase(token);
  tell_locked({.kind = LeaseNotice::Kind::kLost,
               .token = token,
               .cause = cause,
               .last_values = held->last_values});
}

void Link::tell_locked(LeaseNotice notice) {
  if (!options_.on_notice) return;
  notices_.push_back(std::move(notice));
  const std::uint64_t one = 1;
  static_cast<void>(!::write(noticed_.get(), &one, sizeof one));
}

std::shared_ptr<Held> Link::find_locked(Token token) const {
  const auto found = leases_.find(token);
  return found == leases_.end() ? nullptr : found->second.lock();
}

Token Link::token_of(const Held& held) const {
  const std::lock_guard lock(mutex_);
  return held.granted.head.token;
}

}  // namespace meterbank::pmu::detail
