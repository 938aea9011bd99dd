// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/pieces.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

void add_openings(std::vector<Opening>& openings, const PmuDemand& part, const EventUse& use,
                  std::uint32_t task) {
  Opening opening{
      .item = use.item, .pmu = part.pmu, .task = task, .event = use.event, .flags = use.flags};
  if (task != 0) {
    openings.push_back(opening);
    return;
  }
  for (const std::uint32_t cpu : part.cpus.numbers()) {
    opening.cpu = cpu;
    openings.push_back(opening);
  }
}

// The part of a plan's part that names events, or that names none.
[[nodiscard]] PmuDemand divided(const PmuDemand& part, bool names_events) {
  PmuDemand result = part;
  result.counters.any.clear();
  result.events.clear();
  for (std::size_t i = 0; i < part.events.size(); ++i) {
    if (part.events[i].has_value() != names_events) continue;
    result.counters.any.push_back(part.counters.any[i]);
    result.events.push_back(part.events[i]);
  }
  if (names_events) {
    result.counters.exact = 0;
    result.counters.blocks.clear();
    result.units.clear();
    result.extras.clear();
  }
  return result;
}

[[nodiscard]] bool is_nothing(const PmuDemand& part) {
  const CounterDemand& counters = part.counters;
  return !counters.whole && counters.exact == 0 && counters.any.empty() &&
         counters.blocks.empty() && part.units.empty() && part.extras.empty();
}

}  // namespace

bool Carrier::counts_as(const std::vector<Opening>& others) const {
  return std::equal(openings.begin(), openings.end(), others.begin(), others.end(),
                    [](Opening one, const Opening& other) {
                      one.item = other.item;
                      return one == other;
                    });
}

bool may_share(const Lease& lease) {
  if (!lease.has(pmu::kAllocateShares) || lease.is_sliced() ||
      lease.has(pmu::kAllocateRestorable)) {
    return false;
  }
  return std::all_of(lease.asked.items.begin(), lease.asked.items.end(), [](const Item& item) {
    switch (static_cast<ItemKind>(item.kind)) {
      case ItemKind::kEvent:
        return item.count == 1;
      case ItemKind::kNamedEvent:
      case ItemKind::kIdentificationTag:
        return true;
      default:
        return false;
    }
  });
}

void set_plan(Lease& lease, Plan plan) {
  lease.plan = std::move(plan);
  Piece rest{.plan = {.parts = {}, .tag = lease.plan.tag, .task = lease.plan.task}, .openings = {}};
  Piece events = rest;
  std::vector<Piece> pieces;
  for (const PmuDemand& part : lease.plan.parts) {
    PmuDemand with_events = divided(part, true);
    with_events.counters.whole = false;
    PmuDemand without = divided(part, false);
    if (!is_nothing(without)) rest.plan.parts.push_back(std::move(without));
    if (may_share(lease)) {
      for (std::size_t i = 0; i < with_events.events.size(); ++i) {
        Piece& alone = pieces.emplace_back();
        PmuDemand one = with_events;
        one.counters.any = {with_events.counters.any[i]};
        one.events = {with_events.events[i]};
        add_openings(alone.openings, one, *one.events.front(), lease.plan.task);
        alone.plan = {.parts = {std::move(one)}, .tag = lease.plan.tag, .task = lease.plan.task};
      }
    } else if (!with_events.events.empty()) {
      for (const std::optional<EventUse>& use : with_events.events) {
        add_openings(events.openings, with_events, *use, lease.plan.task);
      }
      events.plan.parts.push_back(std::move(with_events));
    }
  }
  if (!events.openings.empty()) pieces.push_back(std::move(events));
  // Exact counters are taken before events, which find their places around them.
  if (!rest.plan.parts.empty()) pieces.insert(pieces.begin(), std::move(rest));
  lease.pieces = std::make_shared<const std::vector<Piece>>(std::move(pieces));
}

}  // namespace meterbank::arbiter
