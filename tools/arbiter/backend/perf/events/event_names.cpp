// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/events/event_names.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "arbiter/backend/perf/kernel_files.hpp"

namespace meterbank::arbiter {
namespace {

struct GenericName {
  std::string_view name;
  std::uint64_t number;
  // What sysfs calls it on x86 and on Arm: its code there says which counters can count it.
  std::array<std::string_view, 2> listed_as;
};

constexpr std::array<GenericName, 10> kGenericNames = {
    {{"cycles", PERF_COUNT_HW_CPU_CYCLES, {"cpu-cycles", "cpu_cycles"}},
     {"instructions", PERF_COUNT_HW_INSTRUCTIONS, {"instructions", "inst_retired"}},
     {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES, {"cache-references", "l1d_cache"}},
     {"cache-misses", PERF_COUNT_HW_CACHE_MISSES, {"cache-misses", "l1d_cache_refill"}},
     {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, {"branch-instructions", "br_retired"}},
     {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES, {"branch-misses", "br_mis_pred"}},
     {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES, {"bus-cycles", "bus_cycles"}},
     {"stalled-cycles-frontend",
      PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
      {"stalled-cycles-frontend", "stall_frontend"}},
     {"stalled-cycles-backend",
      PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
      {"stalled-cycles-backend", "stall_backend"}},
     {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, {"ref-cycles", "cnt_cycles"}}}};

// Whether the kernel knows the event, though it may be kept from this program, or busy.
[[nodiscard]] bool is_known(PerfCalls& calls, const EventCode& code, std::uint32_t cpu) {
  const int opened = calls.open(attributes_of(code), -1, static_cast<int>(cpu));
  if (opened >= 0) calls.close(opened);
  return opened >= 0 || opened == -EACCES || opened == -EPERM || opened == -EBUSY;
}

}  // namespace

EventCode generic_event(std::uint32_t pmu_type, std::uint64_t number) noexcept {
  return {.type = PERF_TYPE_HARDWARE, .words = {std::uint64_t{pmu_type} << 32 | number}};
}

void name_listed_events(PerfMachine& machine, PmuIndex pmu, const UniqueFd& device) {
  if (!device) return;
  const UniqueFd folder = directory_at(device.get(), "events");
  if (!folder) return;
  for (const std::string& name : names_at(folder.get(), ".")) {
    // "NAME.unit" and "NAME.scale" are about NAME.
    if (name.find('.') != std::string::npos || name.size() >= pmu::kWireNameBytes) continue;
    const PerfPmu& facts = machine.pmus[pmu];
    const auto terms = text_at(folder.get(), name);
    const auto code = facts.format.encode(facts.type, terms.value_or(""));
    if (code.has_value()) machine.machine.names[pmu].emplace(name, machine.remember(pmu, *code));
  }
}

void name_generic_events(PerfMachine& machine, PmuIndex pmu, bool has_several_pmus,
                         std::uint32_t cpu, PerfCalls& calls) {
  EventNames& names = machine.machine.names[pmu];
  for (const GenericName& generic : kGenericNames) {
    const EventCode code =
        generic_event(has_several_pmus ? machine.pmus[pmu].type : 0, generic.number);
    if (!is_known(calls, code, cpu)) continue;
    Event shown;
    for (const std::string_view alias : generic.listed_as) {
      const auto listed = names.find(alias);
      if (listed == names.end()) continue;
      shown = listed->second;
      break;
    }
    names.emplace(generic.name, machine.remember(pmu, code, shown));
  }
}

void name_events(PerfMachine& machine,
                 const std::vector<std::pair<std::string, EventCode>>& events) {
  for (const auto& [name, said] : events) {
    if (name.size() >= pmu::kWireNameBytes) continue;
    for (PmuIndex pmu = 0; pmu < machine.pmus.size(); ++pmu) {
      const PerfPmu& facts = machine.pmus[pmu];
      if (facts.sort != PmuSort::kCore) continue;
      if (said.type != PERF_TYPE_RAW && said.type != facts.type) continue;
      const EventCode code{.type = facts.type, .words = said.words};
      machine.machine.names[pmu].emplace(name, machine.remember(pmu, code));
      break;
    }
  }
}

}  // namespace meterbank::arbiter
