// SPDX-License-Identifier: Apache-2.0
//
// Small machines for tests of requests and books, built in code.
#pragma once

#include "arbiter/core/request.hpp"

namespace meterbank::arbiter {

// Eight CPUs 0-7 in cores of two: 0-3 "big" (4 general counters, 2 fixed), 4-7 "little" (2 general,
// no fixed, no overflow); 8 and 9 are possible and have no PMU. An "uncore" PMU is on CPU 0.
inline Machine hybrid_machine() {
  Machine machine;
  Topology& t = machine.topology;
  t.pmus.push_back({.name = "big",
                    .cpus = CpuSet::range(0, 3),
                    .general = 4,
                    .fixed = 2,
                    .width = 48,
                    .has_overflow = true});
  t.pmus.push_back({.name = "little", .cpus = CpuSet::range(4, 7), .general = 2});
  t.pmus.push_back({.name = "uncore", .cpus = CpuSet::range(0, 0), .general = 3});
  for (std::uint32_t cpu = 0; cpu < 8; cpu += 2) t.cores.push_back(CpuSet::range(cpu, cpu + 1));
  const CounterMask cycles = 0x0f | CounterMask{1} << (kFixedFirst + 1);
  t.classes = {{.name = "low2", .pmu = 0, .counters = 0x3},
               {.name = "cycles", .pmu = 0, .counters = cycles},
               {.name = "cycles", .pmu = 1, .counters = 0x3}};
  t.blocks = {{.name = "pair", .pmu = 0, .length = 2, .alignment = 2}};
  t.units = {{.name = "eventbuf", .pmu = 0, .conflicts = {}, .is_shareable = true},
             {.name = "lbr", .pmu = 0, .conflicts = {"trace"}},
             {.name = "trace", .pmu = 0, .scope = Scope::kCore, .conflicts = {}},
             {.name = "slot", .pmu = 0, .scope = Scope::kPmu, .count = 2, .conflicts = {}}};
  t.extras = {{.name = "rsp", .pmu = 0, .scope = Scope::kCore, .count = 2}};
  t.events = {{.pmu = 0, .first = 0x3c, .last = 0x3c, .event_class = 1},
              {.pmu = 0, .first = 0x80, .last = 0x8f, .event_class = 0}};
  machine.possible = CpuSet::range(0, 9);
  machine.online = CpuSet::range(0, 7);
  return machine;
}

// Two CPUs with four counters each, all alike, and an outsider on each.
inline Machine watched_machine() {
  Machine machine;
  Topology& t = machine.topology;
  t.pmus.push_back(
      {.name = "cpu", .cpus = CpuSet::range(0, 1), .general = 4, .has_overflow = true});
  t.classes = {{.name = "any", .pmu = 0, .counters = 0xf}};
  t.foreign = {{.name = "watchdog", .pmu = 0, .cpus = CpuSet::range(0, 1), .event_class = 0}};
  machine.possible = CpuSet::range(0, 1);
  machine.online = machine.possible;
  return machine;
}

// As a well-behaved client writes it: counts agree. No mask: all CPUs.
inline Request ask(std::uint64_t cpu_mask, std::vector<Item> items) {
  Request request;
  if (cpu_mask != 0) {
    request.has_groups = true;
    request.group_count = 1;
    request.groups.push_back({.mask = cpu_mask});
  }
  request.has_items = true;
  request.item_count = static_cast<std::uint32_t>(items.size());
  request.items = std::move(items);
  return request;
}

inline Request ask_for_whole(std::uint64_t cpu_mask) {
  Request request = ask(cpu_mask, {});
  request.has_items = false;
  return request;
}

}  // namespace meterbank::arbiter
