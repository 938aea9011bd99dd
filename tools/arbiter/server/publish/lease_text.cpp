// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/publish/lease_text.hpp"

#include <fmt/format.h>

#include <bit>

namespace meterbank::arbiter {
namespace {

void append(std::string& list, const std::string& part) {
  if (!list.empty()) list += ", ";
  list += part;
}

std::string numbers_text(std::uint32_t mask) {
  CpuSet numbers;  // written as lists of CPUs are
  for (std::uint32_t counter = 0; counter < 32; ++counter) {
    if ((mask >> counter & 1) != 0) numbers.add(counter);
  }
  return numbers.text();
}

std::string text_of(const CounterDemand& demand) {
  if (demand.whole) return "all";
  std::string text;
  const auto general = static_cast<std::uint32_t>(demand.exact);
  const auto fixed = static_cast<std::uint32_t>(demand.exact >> kFixedFirst);
  if (general != 0) append(text, numbers_text(general));
  if (fixed != 0) append(text, "fixed " + numbers_text(fixed));
  if (!demand.any.empty()) append(text, fmt::format("{} of any", demand.any.size()));
  for (const Block& block : demand.blocks) append(text, fmt::format("{} adjacent", block.length));
  return text;
}

std::uint64_t count_of(const CounterDemand& demand, const Pmu& pmu) {
  if (demand.whole) return static_cast<std::uint64_t>(std::popcount(pmu.counters()));
  auto count = static_cast<std::uint64_t>(std::popcount(demand.exact)) + demand.any.size();
  for (const Block& block : demand.blocks) count += block.length;
  return count;
}

}  // namespace

LeaseText describe(const Lease& lease, const Topology& topology) {
  LeaseText text;
  CpuSet cpus;
  for (const PmuDemand& part : lease.plan.parts) {
    if (part.pmu >= topology.pmus.size()) continue;
    const Pmu& pmu = topology.pmus[part.pmu];
    append(text.pmus, pmu.name);
    if (text.counters.empty()) text.counters = text_of(part.counters);
    const bool is_task = lease.asked.head.task != 0;
    text.counters_held += count_of(part.counters, pmu) * (is_task ? 1 : part.cpus.count());
    for (const std::uint32_t cpu : part.cpus.numbers()) cpus.add(cpu);
  }
  const std::uint32_t task = lease.asked.head.task;
  text.cpus = task != 0 ? fmt::format("thread {}", task) : cpus.text();
  return text;
}

}  // namespace meterbank::arbiter
