// SPDX-License-Identifier: Apache-2.0
//
// Who has counters and did not ask, what is kept for them, and what is kept from them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {

void Arbiter::State::survey() {
  if (!options.has_backend || is_surveying) return;
  is_surveying = true;
  outbox.ask(Survey{});
}

void Arbiter::State::surveyed(std::vector<Outsider> found) {
  is_surveying = false;
  has_surveyed = true;
  surveyed_ns = now;
  for (Outsider& outsider : found) {
    const auto known =
        std::find_if(outsiders.begin(), outsiders.end(), [&](const Outsider& before) {
          return before.pid == outsider.pid && before.name == outsider.name &&
                 before.pmu == outsider.pmu && before.cpus == outsider.cpus;
        });
    outsider.last_ns = now;
    if (known != outsiders.end()) {
      outsider.first_ns = known->first_ns;
      continue;
    }
    outsider.first_ns = now;
    outbox.record({.pid = outsider.pid,
                   .uid = outsider.uid,
                   .kind = JournalRecord::Kind::kOutsider,
                   .counters = outsider.counters});
  }
  outsiders = std::move(found);
  book_outsiders();
  has_news = true;
  for (auto& [number, lease] : leases) {
    if (!std::exchange(lease.awaits_survey, false)) continue;
    if (!lease.failed) continue;
    // The kernel has just said no to it: it is not asked again before an outsider could have gone.
    Decision decision = *std::exchange(lease.failed, std::nullopt);
    name_outsider(lease, decision);
    enqueue(lease, decision);
  }
}

// If an outsider was found that counts there, it is named as the cause of the kernel's refusal.
void Arbiter::State::name_outsider(const Lease& lease, Decision& decision) const {
  for (const Outsider& outsider : outsiders) {
    for (const PmuDemand& part : lease.plan.parts) {
      const bool is_there =
          part.pmu == outsider.pmu &&
          (outsider.cpus.empty() || !outsider.cpus.common_with(part.cpus).empty()) &&
          (!decision.cpu || outsider.cpus.empty() || outsider.cpus.contains(*decision.cpu));
      if (!is_there) continue;
      decision.reason = Reason::kForeign;
      decision.foreign = outsider.name;
      decision.sentence =
          fmt::format("counters of {} are used by {}, which has no lease; try: end it, or wait",
                      book.machine().topology.pmus[part.pmu].name, shown_name(lease, outsider));
      return;
    }
  }
}

std::string Arbiter::State::shown_name(const Lease& lease, const Outsider& outsider) const {
  if (outsider.is_kernel || outsider.pid == 0 || !may_see(lease, outsider.uid)) {
    return outsider.name;
  }
  return fmt::format("{}@{}", outsider.name, outsider.pid);
}

// The books believed in a counter that the kernel does not have: for a while it is not lent.
void Arbiter::State::note_unknown(const Opening& opening) {
  const std::uint32_t cpu = opening.cpu == pmu::kNoCpu
                                ? book.machine().topology.pmus[opening.pmu].cpus.numbers().front()
                                : opening.cpu;
  Unknown& unknown = unknowns[{opening.pmu, cpu}];
  if (unknown.holder == 0) unknown.holder = next_holder++;
  ++unknown.counters;
  unknown.until_ns = now + kRetry;
  book_unknown({opening.pmu, cpu}, unknown);
}

void Arbiter::State::book_unknown(const Place& place, const Unknown& unknown) {
  const Pmu& pmu = book.machine().topology.pmus[place.first];
  const auto suspect =
      std::find_if(outsiders.begin(), outsiders.end(), [&](const Outsider& outsider) {
        return outsider.pmu == place.first && outsider.counters == 0 &&
               (outsider.cpus.empty() || outsider.cpus.contains(place.second));
      });
  const bool has_suspect = suspect != outsiders.end();
  (void)book.book_unleased(unknown.holder,
                           {.kind = has_suspect ? UnleasedKind::kOutsider : UnleasedKind::kBroken,
                            .name = has_suspect ? suspect->name : "an unknown process",
                            .pmu = place.first,
                            .cpus = CpuSet::range(place.second, place.second),
                            .among = pmu.counters(),
                            .counters = unknown.counters});
  ++changes;
}

void Arbiter::State::forget_unknowns() {
  for (auto place = unknowns.begin(); place != unknowns.end();) {
    if (place->second.until_ns > now) {
      ++place;
      continue;
    }
    book.forget_unleased(place->second.holder);
    place = unknowns.erase(place);
    ++changes;
    has_news = true;
  }
  const Nanoseconds period = line.empty() ? kSurveyPeriod : kRetry;
  if (!has_surveyed || (!outsiders.empty() && now >= surveyed_ns + period)) survey();
}

// Of some it is known how many counters they have. Others have opened events, of which only
// the kernel knows whether they need a counter of a PMU that is lent: what they have is found out
// when the kernel refuses it, and booked under their name until it is tried again.
void Arbiter::State::book_outsiders() {
  for (const std::uint64_t holder : std::exchange(outsider_holders, {})) {
    book.forget_unleased(holder);
  }
  for (const Outsider& outsider : outsiders) {
    if (outsider.counters == 0 || outsider.pmu >= book.machine().topology.pmus.size()) continue;
    const Pmu& pmu = book.machine().topology.pmus[outsider.pmu];
    const CpuSet cpus = outsider.cpus.empty() ? pmu.cpus : outsider.cpus;
    for (const std::uint32_t cpu : cpus.numbers()) {
      const auto unknown = unknowns.find({outsider.pmu, cpu});
      if (unknown == unknowns.end()) continue;
      book.forget_unleased(unknown->second.holder);
      unknowns.erase(unknown);
    }
    outsider_holders.push_back(next_holder);
    (void)book.book_unleased(next_holder++, {.kind = outsider.is_kernel ? UnleasedKind::kKernel
                                                                        : UnleasedKind::kOutsider,
                                             .name = outsider.name,
                                             .pmu = outsider.pmu,
                                             .cpus = cpus,
                                             .among = pmu.counters(),
                                             .counters = outsider.counters});
  }
  for (const auto& [place, unknown] : unknowns) book_unknown(place, unknown);
  ++changes;
}

void Arbiter::State::book_reserves() {
  const Topology& topology = book.machine().topology;
  for (const ReserveRule& rule : policy.reserves) {
    const std::optional<PmuIndex> pmu = topology.find_pmu(rule.pmu);
    if (!pmu) continue;
    for (const std::uint32_t cpu : rule.cpus.common_with(topology.pmus[*pmu].cpus).numbers()) {
      reserves.emplace(Place{*pmu, cpu}, rule.counters);
    }
  }
  for (const auto& [place, holder] : std::exchange(reserve_holders, {})) {
    book.forget_unleased(holder);
  }
  for (const auto& [place, counters] : reserves) {
    if (counters == 0) continue;
    reserve_holders[place] = next_holder;
    (void)book.book_unleased(next_holder++, {.kind = UnleasedKind::kReserve,
                                             .name = "the reserve for those who do not ask",
                                             .pmu = place.first,
                                             .cpus = CpuSet::range(place.second, place.second),
                                             .among = topology.pmus[place.first].counters(),
                                             .counters = counters});
  }
  ++changes;
}

void Arbiter::State::adopt(Policy rules) {
  policy = std::move(rules);
  leases.adopt(policy);
  book.touch_all();
  reserves.clear();
  book_reserves();
  outbox.record({.kind = JournalRecord::Kind::kPolicy});
  for (auto& [number, client] : clients) {
    client.rights = policy.rights_of(client.identity, options.own_uid);
  }
  for (auto& [number, lease] : leases) {
    const Rights rights = policy.rights_of(lease.holder, options.own_uid);
    const auto refused = policy_refusal(rights, lease.asked, lease.plan);
    if (!refused) continue;
    if (lease.state() == pmu::LeaseState::kQueued) {
      refuse_lease(lease, *refused);
    } else if (lease.is_held()) {
      revoke(lease, pmu::Cause::kPolicyChanged, options.drain_ns);
    }
  }
  has_news = true;
}

bool Arbiter::State::is_guarded(const Place& place) const {
  const std::string& pmu = book.machine().topology.pmus[place.first].name;
  return std::any_of(policy.guards.begin(), policy.guards.end(), [&](const GuardRule& rule) {
    return rule.pmu == pmu && rule.cpus.contains(place.second);
  });
}

void Arbiter::State::settle_guards() {
  if (!options.has_backend) return;
  const Topology& topology = book.machine().topology;
  std::map<Place, std::uint32_t> wanted;
  for (const GuardRule& rule : policy.guards) {
    const std::optional<PmuIndex> pmu = topology.find_pmu(rule.pmu);
    if (!pmu || has_ended) continue;
    for (const std::uint32_t cpu : rule.cpus.common_with(topology.pmus[*pmu].cpus).numbers()) {
      std::uint32_t& count = wanted[{*pmu, cpu}];
      count = 0;
      for (const CounterOwner& owner : book.owners(*pmu, cpu).counters) {
        count += owner.kind == OwnerKind::kFree ? 1U : 0U;
      }
    }
  }
  for (const auto& [place, count] : guards) wanted.emplace(place, 0);
  for (const auto& [place, count] : wanted) {
    const auto told = guards.find(place);
    if ((told == guards.end() ? 0 : told->second) == count) continue;
    outbox.ask(Guard{place.first, place.second, count});
    guards[place] = count;
    book.touch_all();
    ++changes;
  }
}

}  // namespace meterbank::arbiter
