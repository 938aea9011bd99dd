// SPDX-License-Identifier: Apache-2.0
//
// The holders of the units and the extra registers of a machine: what CPUs may have one by one,
// core by core, or PMU by PMU. A lease has what it asked for once in each such place, however many
// of the CPUs there it covers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/request.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

// A unit in one of its places, as the listing shows it.
struct UnitUse {
  std::string name;
  PmuIndex pmu = 0;
  CpuSet cpus;  // that share it
  std::map<LeaseId, UnitDemand> holders;
  std::uint32_t threshold = 0;  // the lowest that a holder asked for; 0: none did
  friend bool operator==(const UnitUse&, const UnitUse&) = default;
};

// Registers of one sort in one of their places.
struct ExtraUse {
  std::string name;
  PmuIndex pmu = 0;
  CpuSet cpus;
  std::map<std::uint64_t, std::vector<LeaseId>> holders;  // by configuration; leases ascend
  friend bool operator==(const ExtraUse&, const ExtraUse&) = default;
};

class UnitBook {
 public:
  explicit UnitBook(const Topology& topology);

  // What keeps a demand out: the answer of the first CPU that refuses it. Changes nothing.
  [[nodiscard]] std::optional<Decision> refusal(const PmuDemand& part) const;
  // Precondition: refusal(part) is nothing, and `lease` has nothing of this PMU.
  void take(LeaseId lease, const PmuDemand& part);
  void release(LeaseId lease);  // of nothing: does nothing

  // The lowest threshold in force where `lease` shares a unit; nothing, if it shares none.
  [[nodiscard]] std::optional<std::uint32_t> threshold(LeaseId lease) const;

  // In the order of the topology, and of CPUs.
  [[nodiscard]] const std::vector<UnitUse>& units() const noexcept { return units_; }
  [[nodiscard]] const std::vector<ExtraUse>& extras() const noexcept { return extras_; }

 private:
  [[nodiscard]] std::optional<Decision> refusal_of_unit(const UnitDemand& demand,
                                                        std::uint32_t cpu) const;
  [[nodiscard]] std::optional<Decision> refusal_of_extras(const PmuDemand& part, std::uint32_t rule,
                                                          std::uint32_t cpu) const;

  std::vector<UnitRule> unit_rules_;
  std::vector<ExtraRule> extra_rules_;
  std::vector<UnitUse> units_;
  std::vector<ExtraUse> extras_;
  // For each rule: which place of it serves a CPU, as a position in units_ or extras_.
  std::vector<std::map<std::uint32_t, std::size_t>> unit_at_;
  std::vector<std::map<std::uint32_t, std::size_t>> extra_at_;
};

}  // namespace meterbank::arbiter
