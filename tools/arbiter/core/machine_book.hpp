// SPDX-License-Identifier: Apache-2.0
//
// All that a machine lends and who has it: a CounterBook for each PMU and CPU, and the units.
//
// A request is tested everywhere first and taken afterwards, so that a refusal leaves no trace.
// Whoever holds counters without having asked is booked as a lease that nobody can release: like
// any holder of one event it stands on one counter of its class, and may be moved to another.
//
// A lease of a whole PMU has all of it on its CPUs and shuts out every other lease there. A unit
// that those CPUs share with others belongs to it only where the others are its own, too; else a
// lease on one CPU would reach beyond it.
//
// One thread; nothing here waits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/core/counter_book.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/request.hpp"
#include "arbiter/core/topology.hpp"
#include "arbiter/core/unit_book.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

// The first four as Windows shows them.
enum class OwnerKind : std::uint8_t {
  kFree,
  kUntagged,
  kTagged,
  kTaggedWithSource,  // and the event that is counted is known
  kForeign,
  kOffline  // whoever has it has nothing of it now
};

[[nodiscard]] std::string_view name_of(OwnerKind kind) noexcept;

struct CounterOwner {
  std::uint32_t counter = 0;  // its bit in a CounterMask
  OwnerKind kind = OwnerKind::kFree;
  LeaseId lease = 0;  // 0: none
  std::uint32_t tag = 0;
  std::optional<Event> source = {};
  std::string foreign = {};
  friend bool operator==(const CounterOwner&, const CounterOwner&) = default;
};

struct CpuOwners {
  PmuIndex pmu = 0;
  std::uint32_t cpu = 0;
  std::vector<CounterOwner> counters;  // every counter once, ascending
  friend bool operator==(const CpuOwners&, const CpuOwners&) = default;
};

struct Ownership {
  std::vector<CpuOwners> cpus;  // by PMU, then by CPU
  std::vector<UnitUse> units;
  std::vector<ExtraUse> extras;
  friend bool operator==(const Ownership&, const Ownership&) = default;
};

class MachineBook {
 public:
  // Leases have numbers from 1 to below this.
  static constexpr LeaseId kForeignFirst = LeaseId{1} << 63;

  // Errors: kInvalidArgument, if the counters have no room for those who hold some unasked.
  [[nodiscard]] static Result<MachineBook> open(Machine machine);

  // All of it on all CPUs, or nothing. Precondition: `lease` is in range and not in use.
  [[nodiscard]] Decision try_grant(LeaseId lease, const Request& request);
  // What try_grant would say now, but for the threshold. Changes nothing.
  [[nodiscard]] Decision test(const Request& request) const;
  // False: there is no such lease; so the second release of one does no harm.
  bool release(LeaseId lease);

  // How many more counters for this event could be leased now on every one of the CPUs.
  [[nodiscard]] std::uint32_t probe(const CpuSet& cpus, Event event) const;

  [[nodiscard]] Ownership ownership() const;
  // The threshold in force for a lease that shares units; others may lower and raise it.
  [[nodiscard]] std::optional<std::uint32_t> threshold(LeaseId lease) const {
    return units_.threshold(lease);
  }

  // Leases on CPUs that go offline stay, and have their counters when these come back.
  void set_online(const CpuSet& cpus) { machine_.online = cpus; }
  [[nodiscard]] const Machine& machine() const noexcept { return machine_; }

 private:
  using Place = std::pair<PmuIndex, std::uint32_t>;  // PMU and CPU

  explicit MachineBook(Machine machine);
  [[nodiscard]] std::optional<Decision> refusal(const Plan& plan) const;
  [[nodiscard]] Decision refused_on(const PmuDemand& part, std::uint32_t cpu, Fit fit) const;
  [[nodiscard]] bool is_whole(LeaseId lease, PmuIndex pmu, std::uint32_t cpu) const;
  [[nodiscard]] CpuOwners owners_on(const Place& place, const CounterBook& book) const;

  Machine machine_;
  std::map<Place, CounterBook> books_;
  UnitBook units_;
  std::map<LeaseId, Plan> leases_;
};

}  // namespace meterbank::arbiter
