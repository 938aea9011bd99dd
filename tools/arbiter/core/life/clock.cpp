// SPDX-License-Identifier: Apache-2.0
//
// What time does: every input begins with at() and ends with settle().
#include "arbiter/core/life/lease_path.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

// The earlier of what is known and `time`; 0 is no time.
void take_earlier(std::optional<Nanoseconds>& due, Nanoseconds time) {
  if (time != 0 && (!due || time < *due)) due = time;
}

[[nodiscard]] ArbiterOptions with_limits(ArbiterOptions options) {
  options.leases_max = std::clamp(options.leases_max, std::uint32_t{2}, pmu::kLedgerLeasesMax);
  return options;
}

}  // namespace

Arbiter::LeasePath::LeasePath(MachineBook machine_book, Policy rules, ArbiterOptions chosen)
    : book_(std::move(machine_book)),
      policy_(std::move(rules)),
      options_(with_limits(chosen)),
      outbox_(options_.epoch),
      leases_(options_.epoch, options_.leases_max, policy_),
      times_(options_.leases_max),
      carriers_(outbox_, options_.has_backend, options_.confirm_ns),
      line_(options_.ageing_ns),
      turns_(options_.slice_ns),
      outsiders_(book_, outbox_, options_.has_backend),
      reservations_(book_, outbox_, policy_),
      words_({.book = book_,
              .leases = leases_,
              .carriers = carriers_,
              .turns = turns_,
              .reservations = reservations_}) {
  reservations_.book();
  ++changes_;
  outbox_.record({.kind = JournalRecord::Kind::kStarted});
}

void Arbiter::LeasePath::at(Nanoseconds time) {
  if (!has_begun_) {
    has_begun_ = true;
    now_ = time;
    outbox_.set_time(now_);
    line_.set_time(now_);
    if (options_.grace_ns != 0) recovery_.begin_grace(now_ + options_.grace_ns);
    settle_guards();
    return;
  }
  if (time <= now_) return;
  const Nanoseconds gap = time - now_;
  now_ = time;
  outbox_.set_time(now_);
  line_.set_time(now_);
  if (gap <= kTickLate) return;
  for (const auto& [number, known] : leases_) {
    Lease& lease = leases_.at(number);
    lease.heartbeat_ns += gap;
    // A wait and a hold are promises about the clock, and run on.
    if (lease.is_held() && lease.deadline_ns != 0) lease.deadline_ns += gap;
  }
}

void Arbiter::LeasePath::settle() {
  while (has_news_ && !has_ended_) {
    has_news_ = false;
    serve_queue();
  }
  turn_over();
  settle_guards();
  note_times();
  leases_.forget_ended();
}

void Arbiter::LeasePath::note_times() {
  std::vector<LeaseNumber> changed = leases_.take_touched();
  const std::vector<LeaseNumber> due = times_.due(now_);
  changed.insert(changed.end(), due.begin(), due.end());
  for (const LeaseNumber number : changed) {
    if (const Lease* lease = std::as_const(leases_).find(number)) times_.note(*lease, now_);
  }
}

void Arbiter::LeasePath::heartbeat(ClientNumber client, Nanoseconds stamp) {
  for (const auto& [number, known] : leases_) {
    // A client that writes the future into its page gets no more than the present for it.
    if (known.client == client && stamp > known.heartbeat_ns) {
      leases_.at(number).heartbeat_ns = std::min(stamp, now_);
    }
  }
  note_times();
}

void Arbiter::LeasePath::become(Lease& lease, pmu::LeaseState state) {
  if (!leases_.become(lease, state)) return;
  book_.touch(lease.plan);
  ++changes_;
}

bool Arbiter::LeasePath::is_tallied() const {
  const auto waiting = std::count_if(leases_.begin(), leases_.end(),
                                     [](const auto& entry) { return entry.second.is_waiting; });
  LeaseTimes anew(options_.leases_max);
  for (const auto& [number, lease] : leases_) anew.note(lease, now_);
  return leases_.is_tallied() && times_ == anew && line_.is_in_order() &&
         line_.size() == static_cast<std::size_t>(waiting);
}

std::optional<Nanoseconds> Arbiter::LeasePath::deadline() const {
  std::optional<Nanoseconds> due = times_.deadline(now_);
  if (line_.size() > 1) take_earlier(due, line_.next_promotion_ns());
  take_earlier(due, carriers_.next_ns());
  take_earlier(due, outsiders_.deadline(!line_.empty()).value_or(0));
  take_earlier(due, turns_.ends_ns());
  if (recovery_.has_leases() || (is_grace() && !line_.empty())) {
    take_earlier(due, recovery_.grace_until_ns());
  }
  return due;
}

}  // namespace meterbank::arbiter
