// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

namespace {

// A shift by all 64 bits would be undefined; counts stop at 32, so none is.
CounterMask lowest(std::uint32_t count) noexcept { return (CounterMask{1} << count) - 1; }

}  // namespace

CounterMask Pmu::counters() const noexcept {
  return lowest(general) | (lowest(fixed) << kFixedFirst);
}

std::optional<PmuIndex> Topology::find_pmu(std::string_view name) const noexcept {
  for (PmuIndex i = 0; i < pmus.size(); ++i) {
    if (pmus[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Topology::class_of(PmuIndex pmu, std::uint32_t code,
                                                std::uint32_t unit_mask) const noexcept {
  std::optional<std::uint32_t> found;
  for (const EventRule& rule : events) {
    if (rule.pmu != pmu || code < rule.first || code > rule.last) continue;
    if (rule.unit_mask == unit_mask) return rule.event_class;
    if (!rule.unit_mask && !found) found = rule.event_class;
  }
  return found;
}

CounterMask Topology::counters_for(PmuIndex pmu, std::uint32_t code,
                                   std::uint32_t unit_mask) const noexcept {
  if (pmu >= pmus.size()) return 0;
  const auto found = class_of(pmu, code, unit_mask);
  if (found && *found < classes.size()) return classes[*found].counters;
  return lowest(pmus[pmu].general);
}

CpuSet Topology::sharing(PmuIndex pmu, Scope scope, std::uint32_t cpu) const {
  if (pmu >= pmus.size() || !pmus[pmu].cpus.contains(cpu)) return {};
  if (scope == Scope::kPmu) return pmus[pmu].cpus;
  if (scope == Scope::kCore) {
    for (const CpuSet& core : cores) {
      if (core.contains(cpu)) return core.common_with(pmus[pmu].cpus);
    }
  }
  return CpuSet::range(cpu, cpu);
}

}  // namespace meterbank::arbiter
