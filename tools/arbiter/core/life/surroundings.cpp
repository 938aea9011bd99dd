// SPDX-License-Identifier: Apache-2.0
//
// What outsiders that were found, and a policy that has changed, mean for leases.
#include <fmt/format.h>

#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

void Arbiter::LeasePath::surveyed(std::vector<Outsider> found) {
  outsiders_.surveyed(std::move(found), now_);
  ++changes_;
  has_news_ = true;
  for (const auto& [number, known] : leases_) {
    if (!known.awaits_survey) continue;
    Lease& lease = leases_.at(number);
    lease.awaits_survey = false;
    if (!lease.failed) continue;
    // The kernel has just said no to it: it is not asked again before an outsider could have gone.
    Decision decision = *std::exchange(lease.failed, std::nullopt);
    name_outsider(lease, decision);
    enqueue(lease, decision);
  }
}

// If an outsider was found that counts there, it is named as the cause of the kernel's refusal.
void Arbiter::LeasePath::name_outsider(const Lease& lease, Decision& decision) const {
  for (const Outsider& outsider : outsiders_.all()) {
    if (!is_in_way(outsider, lease.plan, decision.cpu)) continue;
    const bool has_pid = !outsider.is_kernel && outsider.pid != 0 && may_see(lease, outsider.uid);
    decision.reason = Reason::kForeign;
    decision.foreign = outsider.name;
    decision.sentence =
        fmt::format("counters of {} are used by {}, which has no lease; try: end it, or wait",
                    book_.machine().topology.pmus[outsider.pmu].name,
                    has_pid ? fmt::format("{}@{}", outsider.name, outsider.pid) : outsider.name);
    return;
  }
}

void Arbiter::LeasePath::look_at_outsiders() {
  if (!outsiders_.passed(now_, !line_.empty())) return;
  ++changes_;
  has_news_ = true;
}

void Arbiter::LeasePath::adopt(Policy rules) {
  policy_ = std::move(rules);
  leases_.adopt(policy_);
  book_.touch_all();
  reservations_.adopt(policy_);
  ++changes_;
  outbox_.record({.kind = JournalRecord::Kind::kPolicy});
  for (auto& [number, client] : clients_) {
    client.rights = policy_.rights_of(client.identity, options_.own_uid);
  }
  for (const auto& [number, known] : leases_) {
    const Rights rights = policy_.rights_of(known.holder, options_.own_uid);
    const auto refused = policy_refusal(rights, known.asked, known.plan);
    if (!refused) continue;
    Lease& lease = leases_.at(number);
    if (lease.state() == pmu::LeaseState::kQueued) {
      refuse_lease(lease, *refused);
    } else if (lease.is_held()) {
      revoke(lease, pmu::Cause::kPolicyChanged, options_.drain_ns);
    }
  }
  has_news_ = true;
}

void Arbiter::LeasePath::settle_guards() {
  if (options_.has_backend && reservations_.settle_guards(has_ended_)) ++changes_;
}

}  // namespace meterbank::arbiter
