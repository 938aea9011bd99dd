// SPDX-License-Identifier: Apache-2.0
//
// All that a machine lends and its holders: a CounterBook for each PMU and CPU, and the units.
//
// A request is tested everywhere first and taken afterwards, so that a refusal leaves no trace.
// An outsider is booked like a lease that no client can release:
// it stands on as many counters of its kind as it has, and may be moved to others of them.
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
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"
#include "arbiter/core/books/place_book.hpp"
#include "arbiter/core/books/unit_book.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/request.hpp"
#include "arbiter/core/topology.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

using pmu::OwnerKind;

// A use of counters without a lease.
enum class UnleasedKind : std::uint8_t {
  kOutsider,  // did not ask
  kKernel,    // a watchdog, guests
  kReserve,   // kept for processes that do not ask
  kLimbo,     // its lease has ended, and the kernel has not let go
  kBroken     // refused though no owner is known
};
struct Unleased {
  UnleasedKind kind = UnleasedKind::kOutsider;
  std::string name;
  PmuIndex pmu = 0;
  CpuSet cpus;
  CounterMask among = 0;  // `counters` of these, on each of the CPUs
  std::uint32_t counters = 0;
};

struct CounterOwner {
  std::uint32_t counter = 0;  // its bit in a CounterMask
  OwnerKind kind = OwnerKind::kFree;
  LeaseId lease = 0;  // 0: none
  std::uint32_t tag = 0;
  std::optional<Event> source = {};
  std::string foreign = {};                   // name of the process that has it without a lease
  std::optional<UnleasedKind> unleased = {};  // and what sort that is
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

// A booking that is given up in step 1, 2, ... of what is expected.
struct Leaving {
  std::size_t step = 0;
  LeaseId lease = 0;
};
struct Coming {
  const Plan& plan;
  Alternative alternative;
};

class MachineBook {
 public:
  // Leases have numbers from 1 to below this.
  static constexpr LeaseId kForeignFirst = LeaseId{1} << 63;
  // Holders without a lease have numbers below this; those above are of the topology.
  static constexpr std::uint64_t kHoldersMax = std::uint64_t{1} << 62;

  // Errors: kInvalidArgument, if the counters have no room for the outsiders of the topology.
  [[nodiscard]] static Result<MachineBook> open(Machine machine);

  // All of it on all CPUs, or nothing. Precondition: `lease` is in range and not in use.
  [[nodiscard]] Decision try_grant(LeaseId lease, const Request& request);
  // What try_grant would say now, but for the threshold. Changes nothing.
  [[nodiscard]] Decision test(const Request& request) const;
  // The same for a request that was understood already. Counters of alternatives are shared; units
  // and extra registers are not, and count as if they were had all the time.
  [[nodiscard]] Decision try_take(LeaseId lease, const Plan& plan, const Alternative& alternative);
  [[nodiscard]] Decision test(const Plan& plan, const Alternative& alternative) const;

  // How many steps of `leaving` (ascending) it takes until the plan fits beside the leases that are
  // left and `coming`, if given: 0 is now; nothing, if it never does. No lease makes less room by
  // leaving, so that places are looked at one after the other. Changes and copies nothing but
  // units, if the plan wants some.
  [[nodiscard]] std::optional<std::size_t> steps_until_fit(const Plan& plan,
                                                           const Alternative& alternative,
                                                           std::span<const Leaving> leaving,
                                                           const Coming* coming) const;
  [[nodiscard]] bool would_fit(const Plan& plan, const Alternative& alternative) const {
    return steps_until_fit(plan, alternative, {}, nullptr).has_value();
  }
  // All holders of something where the plan wants counters; ascending.
  [[nodiscard]] std::vector<LeaseId> holders_near(const Plan& plan) const;

  // What a trial changes, as it was before: time, too, so that no waiter asks again for its sake.
  struct Before {
    struct AtPlace {
      std::size_t place;
      PlaceBook book;
      std::uint64_t changed;
    };
    std::vector<AtPlace> places;
    UnitBook units;
    std::uint64_t clock;
    std::uint64_t touched_all;
  };
  [[nodiscard]] Before before(const Plan& plan) const;
  // Precondition: what was taken meanwhile was released.
  void undo(Before before);

  // Time as the number of changes. A waiter that knows that nothing has changed where it wants
  // counters need not ask again.
  [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }
  [[nodiscard]] bool has_changed(const Plan& plan, std::uint64_t since) const noexcept;
  [[nodiscard]] bool has_changed_at(PmuIndex pmu, std::uint32_t cpu, std::uint64_t since) const {
    return touched_all_ > since || changed_.at(place_of(pmu, cpu)) > since;
  }
  // Something else has changed there than what is held.
  void touch(const Plan& plan) noexcept;
  void touch_all() noexcept { touched_all_ = ++clock_; }

  // Books an outsider, as far as there is room: returns how many counters there was
  // no room for on the worst of its CPUs. Replaces what `holder` had; no lease with an exact
  // counter moves for it. CPUs without the PMU are left out. Precondition: `holder` is below
  // kHoldersMax.
  std::uint32_t book_unleased(std::uint64_t holder, const Unleased& use);
  void forget_unleased(std::uint64_t holder);

  // False: there is no such lease; so the second release of one does no harm.
  bool release(LeaseId lease);

  // How many more counters for this event could be leased now on every one of the CPUs; 0 where
  // one of them is offline. Without a PMU: of the one that each CPU has for requests without a
  // name.
  [[nodiscard]] std::uint32_t probe(const CpuSet& cpus, const Event& event) const;
  [[nodiscard]] std::uint32_t probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                    const Alternative& alternative = {}) const;
  // The same for any single counters of `among`.
  [[nodiscard]] std::uint32_t room(PmuIndex pmu, const CpuSet& cpus, CounterMask among,
                                   const Alternative& alternative = {}) const;

  // Where a lease has its counters now; nothing, if it has none there. Of a lease that does not
  // count all the time: while it does.
  [[nodiscard]] std::optional<Placement> placement(LeaseId lease, PmuIndex pmu,
                                                   std::uint32_t cpu) const;
  // A counter is shown once. A holder for all the time goes before one that takes turns.
  [[nodiscard]] Ownership ownership() const;
  // Precondition: the PMU is on this CPU.
  [[nodiscard]] CpuOwners owners(PmuIndex pmu, std::uint32_t cpu) const;
  // The threshold in force for a lease that shares units; others may lower and raise it.
  [[nodiscard]] std::optional<std::uint32_t> threshold(LeaseId lease) const {
    return units_.threshold(lease);
  }

  // Leases on CPUs that go offline stay, and have their counters when these come back.
  void set_online(const CpuSet& cpus) {
    machine_.online = cpus;
    touch_all();
  }
  [[nodiscard]] const Machine& machine() const noexcept { return machine_; }

 private:
  using Place = std::pair<PmuIndex, std::uint32_t>;  // PMU and CPU
  struct Held {
    Plan plan;
    Alternative alternative;
  };

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  explicit MachineBook(Machine machine);
  [[nodiscard]] std::size_t place_of(PmuIndex pmu, std::uint32_t cpu) const noexcept;
  [[nodiscard]] const PlaceBook& book_at(PmuIndex pmu, std::uint32_t cpu) const {
    return books_.at(place_of(pmu, cpu));
  }
  // To change it.
  [[nodiscard]] PlaceBook& open_at(std::size_t place);
  [[nodiscard]] std::optional<std::size_t> steps_for_units(const Plan& plan,
                                                           std::span<const Leaving> leaving,
                                                           const Coming* coming) const;
  [[nodiscard]] std::optional<Decision> refusal(const Plan& plan,
                                                const Alternative& alternative) const;
  [[nodiscard]] Decision refused_on(const PmuDemand& part, std::uint32_t cpu, Fit fit,
                                    const Alternative& alternative) const;
  [[nodiscard]] bool is_whole(LeaseId lease, PmuIndex pmu, std::uint32_t cpu) const;
  std::uint32_t book(LeaseId id, const Unleased& use);

  Machine machine_;
  std::vector<PlaceBook> books_;  // by PMU, then by CPU
  std::vector<Place> places_;     // of the same
  // By PMU and CPU: position in books_, or kNowhere.
  std::vector<std::vector<std::size_t>> place_at_;
  std::vector<std::uint64_t> changed_;  // by place: when
  std::uint64_t clock_ = 1;
  std::uint64_t touched_all_ = 1;
  UnitBook units_;
  std::map<LeaseId, Held> leases_;
  std::map<LeaseId, Unleased> unleased_;  // from kForeignFirst
};

}  // namespace meterbank::arbiter
