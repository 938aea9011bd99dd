// SPDX-License-Identifier: Apache-2.0
//
// Samples every processor of the machine, and keeps totals that survive processors coming and
// going.
//
// A group's total is not the sum of what its members show: a member that goes off line would
// take its whole past with it. Instead each total advances by what its members gained between
// two samples, so it never runs backwards. A processor that comes back counts from its second
// sample on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/probe/cpu_text.hpp"
#include "host/probe/file_reader.hpp"
#include "host/probe/system.hpp"

namespace meterbank::host {

// Reading these costs a file or more per processor; a caller that publishes none of their
// counters can do without them.
struct CpuSources {
  bool interrupts = true;
  bool idle_states = true;
  bool frequency = true;
};

// All processors of one node, or of the machine.
class CpuGroup {
 public:
  explicit CpuGroup(std::uint32_t node) noexcept : node_(node) {}

  [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
  // Zero: every processor of the node is off line.
  [[nodiscard]] std::uint32_t cpus() const noexcept { return cpus_; }
  [[nodiscard]] const CpuValues& values() const noexcept { return values_; }

  static constexpr std::uint32_t kEveryNode = 0xFFFF'FFFF;

  // Takes one sample; both spans are ascending by processor number.
  void advance(std::span<const CpuReading> before, std::span<const CpuReading> now) noexcept;

 private:
  struct Step {
    std::uint64_t sum = 0;
    std::uint64_t members = 0;
  };
  [[nodiscard]] bool is_member(const CpuReading& cpu) const noexcept;
  [[nodiscard]] Step levels(std::span<const CpuReading> now, CpuField field) const noexcept;
  [[nodiscard]] Step gains(std::span<const CpuReading> before, std::span<const CpuReading> now,
                           CpuField field) const noexcept;

  std::uint32_t node_;
  std::uint32_t cpus_ = 0;
  CpuValues values_;
  // What whole division left over, so that means do not lag behind over many small steps.
  std::array<std::uint64_t, CpuValues::kFields> remainders_{};
};

class CpuReader {
 public:
  explicit CpuReader(FileReader& files, CpuSources sources = {},
                     MachineUnits units = MachineUnits::of_this_machine());

  // False: /proc/stat was unreadable; everything is then as after the last good sample.
  [[nodiscard]] bool sample();

  [[nodiscard]] std::span<const CpuReading> cpus() const noexcept { return now_.rows(); }
  [[nodiscard]] const CpuGroup& machine() const noexcept { return machine_; }
  // Ascending by node. A node stays here once seen, with cpus() == 0 while it has none.
  [[nodiscard]] std::span<const CpuGroup> nodes() const noexcept { return nodes_; }
  // The part of /proc/stat that is not about single processors.
  [[nodiscard]] const SystemValues& system() const noexcept { return system_; }

 private:
  static constexpr std::size_t kIdleStatesMax = 10;

  // What stays the same while the set of processors does.
  struct Traits {
    std::uint32_t node = 0;
    std::uint32_t idle_states = 0;
    std::array<IdleDepth, kIdleStatesMax> depths{};
    std::optional<std::uint64_t> maximum_khz;
    std::optional<std::uint64_t> nominal_khz;
  };

  [[nodiscard]] bool has_same_cpus_as_before() const noexcept;
  void load_traits();
  void load_nodes();
  void load_idle_states(std::uint32_t cpu, Traits& traits);
  void read_idle_states(CpuReading& cpu, const Traits& traits);
  void load_frequencies(std::uint32_t cpu, Traits& traits);
  void read_frequencies();
  void hold_small_steps_back() noexcept;
  void advance_work() noexcept;
  void advance_groups();

  FileReader& files_;
  CpuSources sources_;
  MachineUnits units_;
  CpuTable before_;
  CpuTable now_;
  SystemValues system_;
  CpuGroup machine_{CpuGroup::kEveryNode};
  std::vector<CpuGroup> nodes_;
  std::vector<Traits> traits_;  // by processor number
  // Drivers of a new processor appear a little after it does, so its traits are loaded twice.
  bool has_settled_traits_ = false;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> node_numbers_;
};

}  // namespace meterbank::host
