// SPDX-License-Identifier: Apache-2.0
//
// What a client is told of the holders in its way: their names, since when, until when at the
// latest, and what could be done.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

// "2m14s", "830ms".
[[nodiscard]] std::string span_text(Nanoseconds span) {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  if (span < kSecond) return fmt::format("{}ms", span / 1'000'000);
  const Nanoseconds seconds = span / kSecond;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
}

[[nodiscard]] bool is_scarcity(Reason reason) {
  return reason == Reason::kTaken || reason == Reason::kWholePmu || reason == Reason::kLimbo ||
         reason == Reason::kTimeOut || reason == Reason::kTooHard;
}

}  // namespace

std::string name_of(const ClientIdentity& holder, bool with_pid) {
  const std::string program = holder.program.empty() ? "unknown process" : holder.program;
  return with_pid ? fmt::format("{}@{}", program, holder.pid) : program;
}

void Arbiter::LeasePath::refuse_lease(Lease& lease, const Decision& decision) {
  ++statistics_.refusals.at(static_cast<std::size_t>(decision.reason));
  outbox_.record(JournalRecord::Kind::kRefused, lease, 0,
                 static_cast<std::uint32_t>(decision.reason));
  outbox_.send(lease.client, lease.request, told(lease, decision));
  line_.leave(lease);
  become(lease, pmu::LeaseState::kNone);
}

pmu::Refused Arbiter::LeasePath::told(const Lease& lease, const Decision& decision) const {
  std::set<LeaseNumber> numbers;
  for (const LeaseId booking : decision.leases) {
    for (const LeaseNumber number : carriers_.holders_of(booking)) {
      const Lease* other = leases_.find(number);
      // What it holds itself is not in its way.
      if (other != nullptr && number != lease.number &&
          (lease.client == 0 || other->client != lease.client)) {
        numbers.insert(number);
      }
    }
  }
  Decision shown = decision;
  const bool is_cooling_down = shown.reason == Reason::kTaken && !shown.leases.empty() &&
                               std::all_of(shown.leases.begin(), shown.leases.end(),
                                           [&](LeaseId one) { return is_cooling(one); });
  if (is_cooling_down) shown.reason = Reason::kLimbo;

  pmu::Refused refused;
  refused.head.answer = shown.answer;
  refused.head.reason = shown.reason;
  refused.head.item = shown.item.value_or(pmu::RefusedHead::kNoItem);
  refused.head.cpu = shown.cpu.value_or(pmu::kNoCpu);
  refused.sentence = sentence(lease, shown, numbers).substr(0, pmu::kSentenceBytesMax);
  refused.head.sentence_bytes = static_cast<std::uint32_t>(refused.sentence.size());
  if (shown.reason == Reason::kGrace) {
    refused.head.earliest_ns = recovery_.grace_until_ns();
  } else if (is_scarcity(shown.reason)) {
    const Nanoseconds time_ns = earliest(lease).time_ns;
    if (time_ns != pmu::kForever) refused.head.earliest_ns = time_ns;
  }
  if (shown.answer == Answer::kInsufficientResources)
    refused.head.ahead = line_.count_ahead_of(lease);
  add_blockers(refused, lease, numbers);
  if (shown.reason == Reason::kForeign) add_outsiders(refused, lease);
  return refused;
}

// Whether a booking is one that the kernel has yet to let go of. Of a grant that was undone half
// way there may be carriers that no lease has.
bool Arbiter::LeasePath::is_cooling(LeaseId booking) const {
  const std::vector<LeaseNumber> numbers = carriers_.holders_of(booking);
  return std::all_of(numbers.begin(), numbers.end(), [&](LeaseNumber number) {
    const Lease* lease = leases_.find(number);
    return lease == nullptr || lease->state() == pmu::LeaseState::kLimbo ||
           lease->state() == pmu::LeaseState::kFenced;
  });
}

bool Arbiter::LeasePath::may_see(const Lease& lease, std::uint32_t uid) const {
  const auto client = clients_.find(lease.client);
  const bool is_administrator = client != clients_.end() && client->second.rights.is_administrator;
  return is_administrator || lease.holder.uid == uid;
}

void Arbiter::LeasePath::add_blockers(pmu::Refused& refused, const Lease& lease,
                                      const std::set<LeaseNumber>& numbers) const {
  for (const LeaseNumber number : numbers) {
    if (refused.blockers.size() == pmu::kBlockersMax) break;
    const Lease& other = leases_.at(number);
    const bool is_waiting = other.state() == pmu::LeaseState::kQueued;
    pmu::Blocker blocker{.token = other.token,
                         .since_ns = other.granted_ns != 0 ? other.granted_ns : other.asked_ns,
                         .ends_ns = other.ends_ns,
                         .pid = may_see(lease, other.holder.uid) ? other.holder.pid : 0,
                         .uid = other.holder.uid,
                         .priority = other.priority(),
                         .is_waiting = is_waiting ? 1U : 0U,
                         .name = wire_name(other.holder.program),
                         .label = other.asked.head.label};
    if (other.state() == pmu::LeaseState::kRevoking) blocker.ends_ns = other.deadline_ns;
    refused.blockers.push_back(blocker);
  }
  refused.head.blocker_count = static_cast<std::uint32_t>(refused.blockers.size());
  refused.head.blockers_left_out =
      static_cast<std::uint32_t>(numbers.size() - refused.blockers.size());
}

void Arbiter::LeasePath::add_outsiders(pmu::Refused& refused, const Lease& lease) const {
  for (const Outsider& outsider : outsiders_.all()) {
    if (refused.blockers.size() == pmu::kBlockersMax) break;
    if (!is_in_way(outsider, lease.plan)) continue;
    pmu::Blocker blocker;
    blocker.since_ns = outsider.first_ns;
    blocker.pid = may_see(lease, outsider.uid) ? outsider.pid : 0;
    blocker.uid = outsider.uid;
    blocker.priority = outsider.is_kernel ? pmu::Priority::kKernel : pmu::Priority::kMonitoring;
    blocker.name = wire_name(outsider.name);
    refused.blockers.push_back(blocker);
  }
  refused.head.blocker_count = static_cast<std::uint32_t>(refused.blockers.size());
}

std::string Arbiter::LeasePath::sentence(const Lease& lease, const Decision& decision,
                                         const std::set<LeaseNumber>& numbers) const {
  if (decision.leases.empty() || !is_scarcity(decision.reason)) return decision.sentence;
  const std::string& pmu = book_.machine().topology.pmus[lease.plan.parts.front().pmu].name;
  const std::string where =
      decision.cpu ? fmt::format("{} on CPU {}", pmu, *decision.cpu) : fmt::format("{}", pmu);
  if (numbers.empty()) {
    return decision.reason == Reason::kLimbo
               ? fmt::format("counters of {} are cooling down; try: again in a moment", where)
               : fmt::format("counters of {} are leased by this client itself; try: free some",
                             where);
  }
  const Lease& first = leases_.at(*numbers.begin());
  std::string who = name_of(first.holder, may_see(lease, first.holder.uid));
  const std::string_view label = text_of(first.asked.head.label);
  const Nanoseconds since = first.granted_ns != 0 ? first.granted_ns : first.asked_ns;
  who += label.empty() ? fmt::format(" ({})", span_text(now_ - since))
                       : fmt::format(" (\"{}\", {})", label, span_text(now_ - since));
  if (numbers.size() > 1) who += fmt::format(" and {} more", numbers.size() - 1);
  if (decision.reason == Reason::kLimbo) {
    return fmt::format(
        "counters of {} were given back by {}, and are cooling down: the kernel has "
        "not let go of them; try: again in a moment",
        where, who);
  }
  if (first.state() == pmu::LeaseState::kQueued) {
    return fmt::format(
        "counters of {} are kept for {}, who waits for them; try: wait behind it, "
        "or ask for less time",
        where, who);
  }
  const std::string until =
      first.ends_ns > now_ ? fmt::format(" for {} at the most", span_text(first.ends_ns - now_))
                           : "";
  return fmt::format(
      "counters of {} are leased by {}{}; try: wait, or ask for fewer or shared ones", where, who,
      until);
}

}  // namespace meterbank::arbiter
