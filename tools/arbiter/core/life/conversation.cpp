// SPDX-License-Identifier: Apache-2.0
//
// Clients come, say something else than Allocate, and go.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <variant>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

void Arbiter::LeasePath::connect(ClientNumber client, ClientIdentity identity) {
  Rights rights = policy_.rights_of(identity, options_.own_uid);
  clients_.insert_or_assign(client, Client{std::move(identity), std::move(rights)});
  outbox_.connect(client);
}

void Arbiter::LeasePath::disconnect(ClientNumber client) {
  if (clients_.erase(client) == 0) return;
  outbox_.disconnect(client);
  for (const auto& [number, known] : leases_) {
    if (known.client != client && known.revokers.empty()) continue;
    Lease& lease = leases_.at(number);
    std::erase_if(lease.revokers, [&](const Revoker& who) { return who.client == client; });
    if (lease.client != client) continue;
    if (lease.state() == pmu::LeaseState::kQueued || lease.state() == pmu::LeaseState::kPreparing) {
      line_.leave(lease);
      undo(lease);
      outbox_.record(JournalRecord::Kind::kRefused, lease, 0,
                     static_cast<std::uint32_t>(pmu::Reason::kCancelled));
      let_go(lease);
    } else if (lease.is_held() && lease.has(pmu::kAllocateDetached)) {
      lease.client = 0;
      if (lease.deadline_ns == 0) lease.deadline_ns = now_ + options_.detached_ns;
    } else if (lease.is_held()) {
      end(lease, pmu::Cause::kHolderGone);
    }
    lease.client = 0;
  }
  has_news_ = true;
}

void Arbiter::LeasePath::receive(ClientNumber client, std::uint64_t id,
                                 const pmu::ClientMessage& message) {
  if (!clients_.contains(client) || has_ended_) return;
  std::visit(
      [&](const auto& said) {
        using Said = std::decay_t<decltype(said)>;
        if constexpr (std::is_same_v<Said, pmu::Allocate>) {
          allocate(client, id, said);
        } else if constexpr (std::is_same_v<Said, pmu::Free>) {
          free_lease(client, id, said.token);
        } else if constexpr (std::is_same_v<Said, pmu::Cancel>) {
          cancel(client, said.request);
        } else if constexpr (std::is_same_v<Said, pmu::Renew>) {
          renew(client, id, said.token);
        } else if constexpr (std::is_same_v<Said, pmu::Drained>) {
          drained(client, id, said.token);
        } else if constexpr (std::is_same_v<Said, pmu::Read>) {
          read(client, id, said.token);
        } else if constexpr (std::is_same_v<Said, pmu::Offer>) {
          offer(client, id, said);
        } else if constexpr (std::is_same_v<Said, pmu::Probe>) {
          probe(client, id, said);
        } else if constexpr (std::is_same_v<Said, pmu::Owners>) {
          owners(client, id, said);
        } else if constexpr (std::is_same_v<Said, pmu::AdminRevoke>) {
          admin_revoke(client, id, said);
        } else if constexpr (std::is_same_v<Said, pmu::AdminReserve>) {
          admin_reserve(client, id, said);
        }
      },
      message);
}

void Arbiter::LeasePath::refuse_token(ClientNumber client, std::uint64_t id) {
  Decision decision;
  decision.answer = Answer::kInvalidParameter;
  decision.reason = Reason::kMalformed;
  decision.sentence = "this client has no such lease";
  refuse(client, id, decision);
}

void Arbiter::LeasePath::free_lease(ClientNumber client, std::uint64_t id, pmu::Token token) {
  Lease* lease = leases_.find_held(client, token);
  if (lease == nullptr) return refuse_token(client, id);
  end(*lease, pmu::Cause::kFreed);
  outbox_.send(client, id, pmu::Done{});
}

void Arbiter::LeasePath::cancel(ClientNumber client, std::uint64_t request) {
  for (const LeaseNumber number : line_.in_order()) {
    const Lease& lease = std::as_const(leases_).at(number);
    if (lease.client != client || lease.request != request) continue;
    if (lease.state() != pmu::LeaseState::kQueued) continue;
    return refuse_lease(leases_.at(number), scarce(Reason::kCancelled, "cancelled by its client"));
  }
}

void Arbiter::LeasePath::renew(ClientNumber client, std::uint64_t id, pmu::Token token) {
  Lease* lease = leases_.find_held(client, token);
  if (lease == nullptr) return refuse_token(client, id);
  const bool is_renewable = policy_.classes.at(lease->asked.head.priority).is_renewable &&
                            lease->state() != pmu::LeaseState::kRevoking;
  if (!is_renewable) {
    return refuse(client, id, scarce(Reason::kPolicy, "this lease cannot be renewed"));
  }
  settle_hold(*lease);
  lease->heartbeat_ns = now_;
  outbox_.send(client, id, pmu::Done{});
}

void Arbiter::LeasePath::drained(ClientNumber client, std::uint64_t id, pmu::Token token) {
  Lease* lease = leases_.find_held(client, token);
  if (lease == nullptr || lease->state() != pmu::LeaseState::kRevoking) {
    return refuse_token(client, id);
  }
  outbox_.send(client, id, pmu::Done{});
  end_revoked(*lease);
}

void Arbiter::LeasePath::read(ClientNumber client, std::uint64_t id, pmu::Token token) {
  Lease* lease = leases_.find_held(client, token);
  if (lease == nullptr) return refuse_token(client, id);
  lease->heartbeat_ns = now_;
  sample(*lease);
  outbox_.send_values(*lease, id);
}

void Arbiter::LeasePath::offer(ClientNumber client, std::uint64_t id, const pmu::Offer& offer) {
  if (!recovery_.expects(clients_.at(client).identity, offer)) return refuse_token(client, id);
  recovery_.accept(offer);
  outbox_.send(client, id, pmu::Done{});
}

void Arbiter::LeasePath::admin_revoke(ClientNumber client, std::uint64_t id,
                                      const pmu::AdminRevoke& message) {
  if (!clients_.at(client).rights.is_administrator) {
    return outbox_.send(client, id, pmu::Rejected{pmu::Rejection::kNotAllowed, 0});
  }
  Lease* lease = leases_.find_present(pmu::lease_of(message.token));
  if (lease == nullptr || lease->token != message.token || !lease->is_held()) {
    return refuse_token(client, id);
  }
  lease->revokers.push_back({client, id});
  revoke(*lease, pmu::Cause::kRevokedByAdministrator, message.drain_ns);
}

void Arbiter::LeasePath::admin_reserve(ClientNumber client, std::uint64_t id,
                                       const pmu::AdminReserve& message) {
  if (!clients_.at(client).rights.is_administrator) {
    return outbox_.send(client, id, pmu::Rejected{pmu::Rejection::kNotAllowed, 0});
  }
  // Which PMU and CPUs are meant is said, and may be wrong, as in a request for all of it.
  Request request;
  request.has_groups = (message.flags & pmu::kAllocateHasGroups) != 0;
  request.group_count = message.group_count;
  request.groups = message.groups;
  request.pmu = message.pmu;
  const auto plan = plan_for(request, book_.machine());
  if (!plan) return refuse(client, id, plan.error());
  for (const PmuDemand& part : plan->parts) {
    const Pmu& pmu = book_.machine().topology.pmus[part.pmu];
    const auto all = static_cast<std::uint32_t>(std::popcount(pmu.counters()));
    if (message.count > all) {
      return refuse(client, id,
                    scarce(Reason::kNeverFits, fmt::format("{} has {} counters on each CPU, not {}",
                                                           pmu.name, all, message.count)));
    }
  }
  reservations_.reserve(*plan, message.count);
  ++changes_;
  has_news_ = true;
  outbox_.send(client, id, pmu::Done{});
}

void Arbiter::LeasePath::probe(ClientNumber client, std::uint64_t id, const pmu::Probe& message) {
  pmu::Allocate asked;
  asked.head.flags = pmu::kAllocateHasItems | (message.flags & pmu::kAllocateHasGroups);
  asked.head.group_count = message.group_count;
  asked.head.item_count = 1;
  asked.head.pmu = message.pmu;
  asked.groups = message.groups;
  asked.items = {message.item};
  asked.items.front().count = 1;
  const auto plan = plan_for(request_of(asked), book_.machine());
  if (!plan) return refuse(client, id, plan.error());
  const bool is_counter =
      std::all_of(plan->parts.begin(), plan->parts.end(),
                  [](const PmuDemand& part) { return part.counters.any.size() == 1; });
  if (!is_counter) {
    Decision decision;
    decision.answer = Answer::kInvalidParameter;
    decision.reason = Reason::kMalformed;
    decision.sentence = "only room for an event or a class can be asked for";
    return refuse(client, id, decision);
  }
  std::uint32_t least = ~std::uint32_t{0};
  for (const PmuDemand& part : plan->parts) {
    least = std::min(least, book_.room(part.pmu, part.cpus, part.counters.any.front()));
  }
  const PmuDemand& first = plan->parts.front();
  // The kernel can be asked for an event on one PMU; how it is with classes, books alone know.
  if (options_.has_backend && plan->parts.size() == 1 && first.events.front() && least != 0) {
    outbox_.ask(ProbeKernel{client, id, first.pmu, first.cpus, first.events.front()->event, least});
    return;
  }
  outbox_.send(client, id, pmu::Room{least, 0});
}

void Arbiter::LeasePath::owners(ClientNumber client, std::uint64_t id, const pmu::Owners& message) {
  if (message.cpu >= kCpusMax) {
    Decision beyond;
    beyond.answer = Answer::kInvalidParameter;
    beyond.reason = Reason::kMalformed;
    beyond.sentence = "no machine has a CPU of that number";
    return refuse(client, id, beyond);
  }
  Request request;
  request.has_groups = true;
  request.group_count = 1;
  request.groups.push_back({.mask = std::uint64_t{1} << (message.cpu % 64),
                            .group = static_cast<std::uint16_t>(message.cpu / 64)});
  request.pmu = message.pmu;
  const auto plan = plan_for(request, book_.machine());
  if (!plan) return refuse(client, id, plan.error());
  pmu::OwnersAnswer answer;
  for (const CounterOwner& owner : book_.owners(plan->parts.front().pmu, message.cpu).counters) {
    pmu::CounterOwner told{.counter = owner.counter, .kind = owner.kind, .tag = owner.tag};
    if (owner.source) {
      told.code = owner.source->code;
      told.unit_mask = owner.source->unit_mask;
    }
    if (owner.lease != 0) {
      const std::vector<LeaseNumber> holders = carriers_.holders_of(owner.lease);
      const Lease* first = holders.empty() ? nullptr : leases_.find_present(holders.front());
      if (first != nullptr) told.token = first->token;
      // Closed counters stay in the books under their carrier until the kernel has let go of them.
      const bool is_ending = first == nullptr || first->state() == pmu::LeaseState::kLimbo ||
                             first->state() == pmu::LeaseState::kFenced;
      if (is_ending && owner.kind != OwnerKind::kOffline) told.kind = OwnerKind::kLimbo;
    }
    answer.owners.push_back(told);
  }
  answer.owner_count = static_cast<std::uint32_t>(answer.owners.size());
  outbox_.send(client, id, std::move(answer));
}

}  // namespace meterbank::arbiter
