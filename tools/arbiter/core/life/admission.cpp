// SPDX-License-Identifier: Apache-2.0
//
// What an Allocate is answered before anything is booked. In this order:
//
//   malformed       INVALID_PARAMETER                       whatever else is wrong as well
//   impossible      NOT_SUPPORTED                           the machine can never serve it
//   not allowed     INSUFFICIENT_RESOURCES, kPolicy         at once: no wait helps
//   too many        INSUFFICIENT_RESOURCES, kQuota          of leases or waits of a user: at once
//   a restart       INSUFFICIENT_RESOURCES, kGrace          waits, if it may
//   taken           INSUFFICIENT_RESOURCES, its holder      waits, if it may
//
// What the policy forbids is an answer of its own, because the Windows shape knows no fourth status
// and a client that only reads the status must not conclude that the hardware lacks something.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

[[nodiscard]] Decision malformed(std::string sentence) {
  Decision decision;
  decision.answer = Answer::kInvalidParameter;
  decision.reason = Reason::kMalformed;
  decision.sentence = std::move(sentence);
  return decision;
}

[[nodiscard]] bool counts_kernel(const Plan& plan) {
  for (const PmuDemand& part : plan.parts) {
    for (const std::optional<EventUse>& use : part.events) {
      if (use && (use->flags & pmu::kItemExcludesKernel) == 0) return true;
    }
  }
  return false;
}

[[nodiscard]] bool has_buffer(const Plan& plan) {
  return std::any_of(plan.parts.begin(), plan.parts.end(), [](const PmuDemand& part) {
    return !part.units.empty() || !part.extras.empty();
  });
}

[[nodiscard]] bool is_whole(const Plan& plan) {
  return std::any_of(plan.parts.begin(), plan.parts.end(),
                     [](const PmuDemand& part) { return part.counters.whole; });
}

constexpr std::uint32_t kCountersMax = 64;

[[nodiscard]] Decision quota(std::uint32_t cpu, std::string sentence) {
  Decision decision = scarce(Reason::kQuota, std::move(sentence));
  decision.cpu = cpu;
  return decision;
}

[[nodiscard]] Decision forbidden(std::string_view what) {
  return scarce(Reason::kPolicy, fmt::format("the policy does not allow this client {}", what));
}

}  // namespace

std::optional<Decision> form_fault(const pmu::Allocate& asked) {
  const pmu::AllocateHead& head = asked.head;
  if ((head.flags & ~pmu::kAllocateFlags) != 0) return malformed("it has flags that mean nothing");
  if (head.priority > static_cast<std::uint32_t>(pmu::Priority::kCritical)) {
    return malformed(fmt::format("invalid priority {}", head.priority));
  }
  if (head.duty_permille == 0 || head.duty_permille > 1000) {
    return malformed(
        fmt::format("invalid duty: {} permille (must be 1 to 1000)", head.duty_permille));
  }
  if (!is_terminated(head.label)) return malformed("the label is not NUL-terminated");
  const bool delegates = (head.flags & pmu::kAllocateDelegates) != 0;
  if (delegates && head.task == 0) return malformed("descriptors are given for own tasks only");
  // A descriptor that others count on, or that is closed in turns, is no use to a client.
  if (delegates && ((head.flags & pmu::kAllocateShares) != 0 || head.duty_permille < 1000)) {
    return malformed("descriptors are not given of counters that are shared or take turns");
  }
  const bool stands_still =
      (head.flags & pmu::kAllocateRestorable) != 0 || head.duty_permille < 1000;
  if (stands_still && std::any_of(asked.items.begin(), asked.items.end(), [](const Item& item) {
        return (item.flags & pmu::kItemInherits) != 0;
      })) {
    return malformed("events that are inherited take no turns and are not preempted");
  }
  return std::nullopt;
}

Decision scarce(Reason reason, std::string sentence) {
  Decision decision;
  decision.answer = Answer::kInsufficientResources;
  decision.reason = reason;
  decision.sentence = std::move(sentence);
  return decision;
}

std::optional<Decision> Arbiter::LeasePath::policy_refusal(const Rights& rights,
                                                           const pmu::Allocate& asked,
                                                           const Plan& plan) const {
  if (rights.is_denied) return forbidden("any counter");
  if (asked.head.priority > static_cast<std::uint32_t>(rights.priority_max)) {
    return forbidden(
        fmt::format("priority {}", name_of(static_cast<pmu::Priority>(asked.head.priority))));
  }
  const bool is_of_cpus = asked.head.task == 0;
  if (is_of_cpus && !rights.may_count_cpus) return forbidden("to count whatever runs on CPUs");
  if (counts_kernel(plan) && !rights.may_count_kernel) return forbidden("to count in the kernel");
  if (is_whole(plan) && !rights.may_have_whole) return forbidden("a PMU alone");
  if (has_buffer(plan) && !rights.may_have_buffer) return forbidden("units beside counters");
  if ((asked.head.flags & pmu::kAllocateDelegates) != 0 && !rights.may_delegate) {
    return forbidden("descriptors of its counters");
  }
  // A task goes where it likes; what it may do there is not a matter of CPUs.
  if (!is_of_cpus || !rights.cpus) return std::nullopt;
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      if (rights.cpus->contains(cpu)) continue;
      Decision decision = forbidden(fmt::format("counters of CPU {}", cpu));
      decision.cpu = cpu;
      return decision;
    }
  }
  return std::nullopt;
}

std::uint32_t Arbiter::LeasePath::counters_at(const Plan& plan, const Place& place) const {
  for (const PmuDemand& part : plan.parts) {
    if (part.pmu != place.first || !part.cpus.contains(place.second)) continue;
    const CounterDemand& demand = part.counters;
    if (demand.whole) {
      return static_cast<std::uint32_t>(
          std::popcount(book_.machine().topology.pmus[part.pmu].counters()));
    }
    auto count = static_cast<std::uint32_t>(std::popcount(demand.exact));
    count += static_cast<std::uint32_t>(demand.any.size());
    for (const Block& block : demand.blocks) count += block.length;
    return count;
  }
  return 0;
}

// How many counters of a place are in use at one time by leases of a sort, with `lease`: those that
// count always, and the most that any task or slice adds. What several share counts once.
template <typename IsOfSort>
std::uint32_t Arbiter::LeasePath::use_of(const Place& place, const Lease& lease,
                                         const IsOfSort& is_of_sort) const {
  std::map<Alternative, std::uint32_t> used;
  for (const auto& [number, carrier] : carriers_) {
    if (carrier.state() == CarrierState::kClosed) continue;
    const auto one =
        std::find_if(carrier.leases.begin(), carrier.leases.end(),
                     [&](LeaseNumber holder) { return is_of_sort(leases_.at(holder)); });
    if (one == carrier.leases.end()) continue;
    used[alternative_of(leases_.at(*one))] += counters_at(carrier.plan, place);
  }
  for (const auto& [number, other] : leases_) {
    if (!other.has_rest || !is_of_sort(other)) continue;
    const std::vector<Piece>& pieces = pieces_of(other);
    used[alternative_of(other)] += counters_at(pieces.front().plan, place);
  }
  for (const Piece& piece : pieces_of(lease)) {
    if (shared_carrier(lease, piece) != nullptr) continue;
    used[alternative_of(lease)] += counters_at(piece.plan, place);
  }
  std::uint32_t most = 0;
  for (const auto& [alternative, count] : used) {
    if (alternative != Alternative{}) most = std::max(most, count);
  }
  const auto always = used.find(Alternative{});
  return most + (always == used.end() ? 0 : always->second);
}

std::optional<Decision> Arbiter::LeasePath::quota_refusal(const Lease& lease) const {
  const auto client = clients_.find(lease.client);
  // No PMU has more counters than a mask has bits: from there on it is no limit.
  const std::uint32_t own_max =
      client == clients_.end() ? kCountersMax : client->second.rights.counters_max;
  const std::uint32_t permille = policy_.classes.at(lease.asked.head.priority).quota_permille;
  if (own_max >= kCountersMax && permille >= 1000) return std::nullopt;
  for (const PmuDemand& part : lease.plan.parts) {
    const Pmu& pmu = book_.machine().topology.pmus[part.pmu];
    const auto all = static_cast<std::uint32_t>(std::popcount(pmu.counters()));
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Place place{part.pmu, cpu};
      if (own_max < kCountersMax) {
        const std::uint32_t of_user = use_of(
            place, lease, [&](const Lease& other) { return other.holder.uid == lease.holder.uid; });
        if (of_user > own_max) {
          return quota(cpu, fmt::format("this user may have {} counters of {} on a CPU, and would "
                                        "have {}",
                                        own_max, pmu.name, of_user));
        }
      }
      // A client that may have a PMU alone has it all; the quota of its class is about parts of it.
      if (permille >= 1000 || part.counters.whole) continue;
      const std::uint32_t of_class = use_of(
          place, lease, [&](const Lease& other) { return other.priority() == lease.priority(); });
      if (std::uint64_t{of_class} * 1000 <= std::uint64_t{all} * permille) continue;
      return quota(cpu,
                   fmt::format("class {} may have {} permille of the {} counters of {} on CPU "
                               "{}, and would have {}",
                               name_of(lease.priority()), permille, all, pmu.name, cpu, of_class));
    }
  }
  return std::nullopt;
}

void Arbiter::LeasePath::refuse(ClientNumber client, std::uint64_t id, const Decision& decision) {
  pmu::Refused refused;
  refused.head.answer = decision.answer;
  refused.head.reason = decision.reason;
  refused.head.item = decision.item.value_or(pmu::RefusedHead::kNoItem);
  refused.head.cpu = decision.cpu.value_or(pmu::kNoCpu);
  refused.sentence = decision.sentence.substr(0, pmu::kSentenceBytesMax);
  refused.head.sentence_bytes = static_cast<std::uint32_t>(refused.sentence.size());
  outbox_.send(client, id, std::move(refused));
}

}  // namespace meterbank::arbiter
