// SPDX-License-Identifier: Apache-2.0
//
// What the ledger shows of leases and counters, and what the values of a lease are worth.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arbiter/core/leases/lease_table.hpp"
#include "arbiter/core/leases/turns.hpp"
#include "arbiter/core/parts/kernel_counters.hpp"
#include "arbiter/core/parts/reservations.hpp"

namespace meterbank::arbiter {

class LedgerWords {
 public:
  // What they are made of; all of it outlives this object. Without a backend no value is verified.
  struct Sources {
    const MachineBook& book;
    const LeaseTable& leases;
    const KernelCounters& carriers;
    const Turns& turns;
    const Reservations& reservations;
  };
  explicit LedgerWords(const Sources& sources) noexcept : of_(sources) {}

  // Slot words of a place, counter by counter. All that they are made of is booked, or said to the
  // book by touch().
  [[nodiscard]] const std::vector<std::uint64_t>& slot_words(PmuIndex pmu, std::uint32_t cpu);
  [[nodiscard]] std::uint64_t lease_word(LeaseNumber number) const;
  // As Arbiter::first_slot() says.
  [[nodiscard]] std::uint32_t first_slot(PmuIndex pmu, std::uint32_t cpu) const;
  // As in Granted.
  [[nodiscard]] std::vector<pmu::GrantedCounter> counters_of(const Lease& lease) const;
  [[nodiscard]] pmu::LeaseValues values_of(const Lease& lease) const;
  [[nodiscard]] pmu::Quality quality_of(const Lease& lease) const;

 private:
  // Slot words as they were at a time of the book's clock.
  struct Shown {
    std::uint64_t clock = 0;
    std::vector<std::uint64_t> words;
  };
  void add_rest(const Lease& lease, std::vector<pmu::GrantedCounter>& counters) const;
  [[nodiscard]] const Lease* shown_holder(const CounterOwner& owner, const Place& place) const;
  [[nodiscard]] std::uint64_t flags_of(const Lease& lease) const;
  [[nodiscard]] std::vector<std::uint64_t> new_slot_words(PmuIndex pmu, std::uint32_t cpu) const;
  [[nodiscard]] std::uint32_t slot_of(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counter) const;

  Sources of_;
  std::map<Place, Shown> shown_;
};

}  // namespace meterbank::arbiter
