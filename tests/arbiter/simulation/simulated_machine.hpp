// SPDX-License-Identifier: Apache-2.0
//
// Machines from topology files, and a clock that a test turns by hand.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "arbiter/backend/simulated/simulated_backend.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

// Copies turn the same clock.
class ManualClock {
 public:
  void advance(Nanoseconds by) const { *now_ += by; }
  [[nodiscard]] Nanoseconds now() const { return *now_; }
  [[nodiscard]] KernelClock reader() const {
    return [now = now_] { return *now; };
  }

 private:
  // Not 0, which stands for "never".
  std::shared_ptr<Nanoseconds> now_ = std::make_shared<Nanoseconds>(1'000'000'000);
};

inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

[[nodiscard]] inline Topology topology_from(const std::string& text) {
  return parse_topology(text, "test").value();
}

[[nodiscard]] inline Topology topology_in(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".toml";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return parse_topology(text.str(), path).value();
}

// One of tools/arbiter/topologies.
[[nodiscard]] inline Topology shipped_topology(const std::string& name) {
  return topology_in(METERBANK_TOPOLOGIES, name);
}

// The same, or one of the invented ones in tests/arbiter/machines.
[[nodiscard]] inline Topology topology_named(const std::string& name) {
  const bool is_invented = name == "one-counter" || name == "power-like";
  return is_invented ? topology_in(METERBANK_MACHINES, name) : shipped_topology(name);
}

// The machine with the first few CPUs of each PMU, where the number of CPUs is not what matters.
[[nodiscard]] inline Topology with_few_cpus(Topology topology, std::uint32_t count) {
  for (Pmu& pmu : topology.pmus) {
    CpuSet few;
    for (const std::uint32_t cpu : pmu.cpus.numbers()) {
      if (few.count() < count) few.add(cpu);
    }
    pmu.cpus = few;
  }
  for (ForeignHolder& holder : topology.foreign) {
    holder.cpus = holder.cpus.common_with(topology.pmus[holder.pmu].cpus);
  }
  CpuSet all;
  for (const Pmu& pmu : topology.pmus) {
    for (const std::uint32_t cpu : pmu.cpus.numbers()) all.add(cpu);
  }
  for (CpuSet& core : topology.cores) core = core.common_with(all);
  std::erase_if(topology.cores, [](const CpuSet& core) { return core.empty(); });
  return topology;
}

// Two CPUs, six general counters and one for cycles, as emulated processors of Arm have.
[[nodiscard]] inline Topology arm_toy() {
  return topology_from(
      R"([[pmu]]
name = "cpu"
cpus = "0-1"
general = 6
fixed = 1
flags = ["overflow"]
event = [{code = 0x11, class = "cycles"}]
class.cycles = {general = 0x3f, fixed = [0]}
)");
}

// Two CPUs with four debug registers each.
[[nodiscard]] inline Topology breakpoint_toy() {
  return topology_from(R"([[pmu]]
name = "breakpoint"
cpus = "0-1"
general = 4
flags = ["overflow", "named"]
)");
}

}  // namespace meterbank::arbiter
