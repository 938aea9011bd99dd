// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/ledger_words.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] pmu::CounterState counter_state_of(const CounterOwner& owner) {
  if (owner.kind == OwnerKind::kOffline) return pmu::CounterState::kOffline;
  if (!owner.unleased) return pmu::CounterState::kFree;
  switch (*owner.unleased) {
    case UnleasedKind::kOutsider:
      return pmu::CounterState::kForeign;
    case UnleasedKind::kKernel:
      return pmu::CounterState::kKernel;
    case UnleasedKind::kReserve:
      return pmu::CounterState::kFree;
    case UnleasedKind::kLimbo:
      return pmu::CounterState::kLimbo;
    case UnleasedKind::kBroken:
      return pmu::CounterState::kBroken;
  }
  return pmu::CounterState::kFree;
}

[[nodiscard]] pmu::CounterState counter_state_of(const Lease& lease) {
  switch (lease.state()) {
    case pmu::LeaseState::kRevoking:
      return pmu::CounterState::kRevoking;
    case pmu::LeaseState::kFenced:
    case pmu::LeaseState::kLimbo:
      return pmu::CounterState::kLimbo;
    default:
      return pmu::CounterState::kLeased;
  }
}

// Positions in the request's list for what a lease has without naming events.
class RestItems {
 public:
  explicit RestItems(const pmu::Allocate& asked) : items_(asked.items) {}

  [[nodiscard]] std::uint32_t of_exact(std::uint32_t counter) const {
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      const auto kind = static_cast<ItemKind>(items_[i].kind);
      const bool is_single = kind == ItemKind::kSingle && items_[i].begin == counter;
      const bool is_range =
          kind == ItemKind::kRange && items_[i].begin <= counter && counter <= items_[i].end;
      if (is_single || is_range) return i;
    }
    return pmu::RefusedHead::kNoItem;
  }
  // Of the n-th class or block.
  [[nodiscard]] std::uint32_t of(ItemKind wanted, std::size_t n) const {
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (static_cast<ItemKind>(items_[i].kind) != wanted) continue;
      if (n < items_[i].count) return i;
      n -= items_[i].count;
    }
    return pmu::RefusedHead::kNoItem;
  }

 private:
  const std::vector<Item>& items_;
};

}  // namespace

std::uint32_t LedgerWords::first_slot(PmuIndex pmu, std::uint32_t cpu) const {
  const std::vector<Pmu>& pmus = of_.book.machine().topology.pmus;
  std::uint32_t slot = 0;
  for (PmuIndex i = 0; i < pmu; ++i) {
    slot += static_cast<std::uint32_t>(pmus[i].cpus.count()) * (pmus[i].general + pmus[i].fixed);
  }
  const Pmu& own = pmus.at(pmu);
  if (cpu == 0) return slot;
  const std::size_t before = own.cpus.common_with(CpuSet::range(0, cpu - 1)).count();
  return slot + static_cast<std::uint32_t>(before) * (own.general + own.fixed);
}

std::uint32_t LedgerWords::slot_of(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counter) const {
  const std::uint32_t general = of_.book.machine().topology.pmus.at(pmu).general;
  return first_slot(pmu, cpu) + (counter < kFixedFirst ? counter : general + counter - kFixedFirst);
}

void LedgerWords::add_rest(const Lease& lease, std::vector<pmu::GrantedCounter>& counters) const {
  const RestItems items(lease.asked);
  for (const Piece& piece : pieces_of(lease)) {
    if (!piece.openings.empty()) continue;
    for (const PmuDemand& part : piece.plan.parts) {
      const CounterMask all = of_.book.machine().topology.pmus[part.pmu].counters();
      for (const std::uint32_t cpu : part.cpus.numbers()) {
        const auto placement = of_.book.placement(lease.number, part.pmu, cpu);
        if (!placement) continue;
        const auto add = [&](std::uint32_t item, std::uint32_t counter) {
          counters.push_back({.item = item,
                              .cpu = cpu,
                              .counter = counter,
                              .slot = slot_of(part.pmu, cpu, counter),
                              .kernel_id = 0});
        };
        const CounterMask exact = part.counters.whole ? all : placement->exact;
        for (CounterMask rest = exact; rest != 0; rest &= rest - 1) {
          const auto counter = static_cast<std::uint32_t>(std::countr_zero(rest));
          add(items.of_exact(counter), counter);
        }
        if (part.counters.whole) continue;
        for (std::size_t i = 0; i < placement->any.size(); ++i) {
          add(items.of(ItemKind::kClass, i), placement->any[i]);
        }
        for (std::size_t i = 0; i < placement->blocks.size(); ++i) {
          for (std::uint32_t k = 0; k < part.counters.blocks[i].length; ++k) {
            add(items.of(ItemKind::kBlock, i), placement->blocks[i] + k);
          }
        }
      }
    }
  }
}

std::vector<pmu::GrantedCounter> LedgerWords::counters_of(const Lease& lease) const {
  std::vector<pmu::GrantedCounter> counters;
  for (const CarrierNumber number : lease.carriers) {
    const Carrier& carrier = of_.carriers.at(number);
    std::map<Place, std::size_t> seen;  // how many of a place came before
    for (std::size_t i = 0; i < carrier.openings.size(); ++i) {
      const Opening& opening = carrier.openings[i];
      pmu::GrantedCounter counter{.item = lease.items.at(counters.size()),
                                  .cpu = opening.cpu,
                                  .counter = ~std::uint32_t{0},
                                  .slot = pmu::kNoSlot,
                                  .kernel_id = carrier.kernel_ids[i]};
      if (opening.cpu != pmu::kNoCpu) {
        const std::size_t position = seen[{opening.pmu, opening.cpu}]++;
        const auto placement = of_.book.placement(booking_of(number), opening.pmu, opening.cpu);
        if (placement && position < placement->any.size()) {
          counter.counter = placement->any[position];
          counter.slot = slot_of(opening.pmu, opening.cpu, counter.counter);
        }
      }
      counters.push_back(counter);
    }
  }
  if (lease.has_rest && lease.plan.task == 0) add_rest(lease, counters);
  return counters;
}

const Lease* LedgerWords::shown_holder(const CounterOwner& owner, const Place& place) const {
  const std::vector<LeaseNumber> holders = of_.carriers.holders_of(owner.lease);
  if (holders.empty() || !of_.leases.contains(holders.front())) return nullptr;
  const Lease& first = of_.leases.at(holders.front());
  if (!first.is_sliced() || of_.turns.present() == 0 || of_.turns.has_turn(first.number))
    return &first;
  // Of leases that take turns on a counter, the one that has it now is shown.
  const Lease& present = of_.leases.at(of_.turns.present());
  for (const CarrierNumber number : present.carriers) {
    const Carrier& carrier = of_.carriers.at(number);
    const auto placement = of_.book.placement(booking_of(number), place.first, place.second);
    if (!placement) continue;
    for (const PmuDemand& part : carrier.plan.parts) {
      if (part.pmu == place.first && (placement->mask(part.counters) >> owner.counter & 1) != 0) {
        return &present;
      }
    }
  }
  return &first;
}

std::uint64_t LedgerWords::flags_of(const Lease& lease) const {
  std::uint64_t flags = 0;
  if (lease.plan.tag) flags |= pmu::kSlotTagged;
  if (!lease.items.empty()) flags |= pmu::kSlotHasSource;
  if (lease.is_sliced()) flags |= pmu::kSlotSliced;
  for (const CarrierNumber number : lease.carriers) {
    if (of_.carriers.at(number).leases.size() > 1) flags |= pmu::kSlotShared;
  }
  return flags;
}

const std::vector<std::uint64_t>& LedgerWords::slot_words(PmuIndex pmu, std::uint32_t cpu) {
  Shown& shown = shown_[{pmu, cpu}];
  if (shown.clock == 0 || of_.book.has_changed_at(pmu, cpu, shown.clock)) {
    shown = {.clock = of_.book.clock(), .words = new_slot_words(pmu, cpu)};
  }
  return shown.words;
}

std::vector<std::uint64_t> LedgerWords::new_slot_words(PmuIndex pmu, std::uint32_t cpu) const {
  std::uint32_t guarded = of_.reservations.guarded_at(pmu, cpu);
  std::vector<std::uint64_t> words;
  for (const CounterOwner& owner : of_.book.owners(pmu, cpu).counters) {
    const Lease* lease = owner.lease == 0 ? nullptr : shown_holder(owner, {pmu, cpu});
    if (lease == nullptr) {
      pmu::CounterState state = counter_state_of(owner);
      const bool is_reserved = owner.unleased == UnleasedKind::kReserve;
      if (owner.kind == OwnerKind::kFree && guarded != 0) {
        state = pmu::CounterState::kGuarded;
        --guarded;
      }
      words.push_back(pmu::ledger_word(state, is_reserved ? pmu::kSlotReserved : 0, 0));
      continue;
    }
    const bool is_offline = owner.kind == OwnerKind::kOffline;
    std::uint64_t flags = flags_of(*lease);
    // A lease may have counters of both sorts: the word is about this one.
    if (owner.lease < kCarrierFirst) {
      flags &= ~(pmu::kSlotHasSource | pmu::kSlotShared);
      const auto placement = of_.book.placement(owner.lease, pmu, cpu);
      if (placement && (placement->exact >> owner.counter & 1) != 0) flags |= pmu::kSlotExact;
    }
    words.push_back(pmu::ledger_word(
        is_offline ? pmu::CounterState::kOffline : counter_state_of(*lease), flags, lease->token));
  }
  return words;
}

std::uint64_t LedgerWords::lease_word(LeaseNumber number) const {
  const Lease* lease = of_.leases.find_present(number);
  if (lease == nullptr) return pmu::ledger_word(pmu::LeaseState::kNone, 0, 0);
  return pmu::ledger_word(lease->state(), flags_of(*lease), lease->token);
}

pmu::Quality LedgerWords::quality_of(const Lease& lease) const {
  if (lease.state() == pmu::LeaseState::kFenced || lease.state() == pmu::LeaseState::kLimbo) {
    return pmu::Quality::kFenced;
  }
  if (lease.carriers.empty() || !of_.carriers.has_backend()) return pmu::Quality::kUnverified;
  if (lease.is_sliced() && of_.turns.members().size() > 1) return pmu::Quality::kSliced;
  const bool is_shared =
      std::any_of(lease.carriers.begin(), lease.carriers.end(),
                  [&](CarrierNumber number) { return of_.carriers.at(number).leases.size() > 1; });
  return is_shared ? pmu::Quality::kShared : pmu::Quality::kExact;
}

pmu::LeaseValues LedgerWords::values_of(const Lease& lease) const {
  pmu::LeaseValues values;
  values.head = {.token = lease.token, .sampled_ns = 0, .quality = quality_of(lease)};
  bool has_starved = false;
  bool has_missed = false;
  for (const CarrierNumber number : lease.carriers) {
    const Carrier* found = of_.carriers.find(number);
    if (found == nullptr) continue;
    const Carrier& carrier = *found;
    values.head.sampled_ns = std::max(values.head.sampled_ns, carrier.sampled_ns);
    for (std::size_t i = 0; i < carrier.readings.size(); ++i) {
      const std::size_t position = values.values.size();
      if (position >= lease.items.size()) break;
      const Reading& last = carrier.readings[i];
      const Reading began = position < lease.began.size() ? lease.began[position] : Reading{};
      const pmu::Value value{.item = lease.items[position],
                             .cpu = carrier.openings[i].cpu,
                             .value = last.value - began.value,
                             .enabled_ns = last.enabled_ns - began.enabled_ns,
                             .running_ns = last.running_ns - began.running_ns};
      has_starved = has_starved || (value.running_ns == 0 && value.enabled_ns != 0);
      has_missed = has_missed || value.running_ns < value.enabled_ns;
      values.values.push_back(value);
    }
  }
  values.head.value_count = static_cast<std::uint32_t>(values.values.size());
  // What was counted for no time at all is no number, whatever the counter shows. A task that has
  // not run yet is not enabled either, and has rightly counted nothing.
  if (has_starved && values.head.quality != pmu::Quality::kFenced) {
    values.head.quality = pmu::Quality::kStarved;
  }
  // A lease that took turns once has not counted all the time, even if it is alone now.
  if (lease.is_sliced() && has_missed && values.head.quality == pmu::Quality::kExact) {
    values.head.quality = pmu::Quality::kSliced;
  }
  return values;
}

}  // namespace meterbank::arbiter
