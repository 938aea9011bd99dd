// SPDX-License-Identifier: Apache-2.0
#include "host/probe/cpu.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::host {
namespace {

constexpr std::uint32_t kNodesMax = 4096;

// The kernel recomputes idle and waiting time now and then and may step back by a few ticks.
constexpr std::uint64_t kStepBackMax100ns = k100nsPerSecond;

PathText cpu_path(std::uint32_t cpu, std::string_view rest) {
  return PathText("sys/devices/system/cpu/cpu").append(cpu).append(rest);
}

PathText idle_path(std::uint32_t cpu, std::size_t state, std::string_view rest) {
  return cpu_path(cpu, "/cpuidle/state").append(state).append(rest);
}

CpuField time_field(IdleDepth depth) noexcept {
  if (depth == IdleDepth::kC1) return CpuField::kC1Time100ns;
  return depth == IdleDepth::kC2 ? CpuField::kC2Time100ns : CpuField::kC3Time100ns;
}

CpuField entries_field(IdleDepth depth) noexcept {
  if (depth == IdleDepth::kC1) return CpuField::kC1Entries;
  return depth == IdleDepth::kC2 ? CpuField::kC2Entries : CpuField::kC3Entries;
}

}  // namespace

bool CpuGroup::is_member(const CpuReading& cpu) const noexcept {
  return node_ == kEveryNode || cpu.node == node_;
}

CpuGroup::Step CpuGroup::levels(std::span<const CpuReading> now, CpuField field) const noexcept {
  Step step;
  for (const CpuReading& cpu : now) {
    if (!is_member(cpu) || !cpu.values.has(field)) continue;
    step.sum = add_saturated(step.sum, cpu.values.get(field));
    ++step.members;
  }
  return step;
}

CpuGroup::Step CpuGroup::gains(std::span<const CpuReading> before, std::span<const CpuReading> now,
                               CpuField field) const noexcept {
  Step step;
  std::size_t i = 0;
  for (const CpuReading& cpu : now) {
    while (i < before.size() && before[i].index < cpu.index) ++i;
    if (i == before.size()) break;
    if (before[i].index != cpu.index || !is_member(cpu)) continue;
    if (!before[i].values.has(field) || !cpu.values.has(field)) continue;
    ++step.members;
    const std::uint64_t old_value = before[i].values.get(field);
    const std::uint64_t new_value = cpu.values.get(field);
    // A processor that was reset between two samples gained an unknown amount: count none.
    if (new_value > old_value) step.sum = add_saturated(step.sum, new_value - old_value);
  }
  return step;
}

void CpuGroup::advance(std::span<const CpuReading> before,
                       std::span<const CpuReading> now) noexcept {
  cpus_ = 0;
  for (const CpuReading& cpu : now) cpus_ += is_member(cpu) ? 1U : 0U;
  for (std::size_t i = 0; i < CpuValues::kFields; ++i) {
    const auto field = static_cast<CpuField>(i);
    const GroupRule rule = group_rule(field);
    const bool is_level = rule == GroupRule::kMeanOfLevels;
    const bool is_first = !values_.has(field);
    const Step step = is_level || is_first ? levels(now, field) : gains(before, now, field);
    if (step.members == 0) continue;
    if (rule == GroupRule::kSumOfSteps) {
      values_.add(field, step.sum);
    } else if (is_level) {
      values_.set(field, step.sum / step.members);
    } else {
      const std::uint64_t sum = add_saturated(step.sum, remainders_[i]);
      values_.add(field, sum / step.members);
      remainders_[i] = sum % step.members;
    }
  }
}

CpuReader::CpuReader(FileReader& files, CpuSources sources, MachineUnits units)
    : files_(files), sources_(sources), units_(units) {}

bool CpuReader::sample() {
  std::swap(before_, now_);
  now_.clear();
  SystemValues system;
  const auto text = files_.read("proc/stat");
  if (!text || !parse_stat(*text, units_.ticks_per_second, now_, system)) {
    std::swap(before_, now_);
    return false;
  }
  system_ = system;
  const bool is_same = has_same_cpus_as_before();
  if (!is_same || !has_settled_traits_) load_traits();
  has_settled_traits_ = is_same;
  if (sources_.interrupts) {
    if (const auto table = files_.read("proc/interrupts")) parse_interrupts(*table, now_);
    if (const auto table = files_.read("proc/softirqs")) parse_softirqs(*table, now_);
  }
  for (CpuReading& cpu : now_.rows()) {
    const Traits& traits = traits_[cpu.index];
    cpu.node = traits.node;
    if (sources_.idle_states) read_idle_states(cpu, traits);
  }
  if (sources_.frequency) read_frequencies();
  hold_small_steps_back();
  advance_work();
  advance_groups();
  return true;
}

bool CpuReader::has_same_cpus_as_before() const noexcept {
  const auto same_index = [](const CpuReading& a, const CpuReading& b) {
    return a.index == b.index;
  };
  const auto before = before_.rows();
  const auto now = now_.rows();
  return std::equal(before.begin(), before.end(), now.begin(), now.end(), same_index);
}

void CpuReader::load_traits() {
  // Rows ascend, so the last one has the largest number; it is below kCpusMax.
  traits_.assign(std::size_t{now_.rows().back().index} + 1, Traits{});
  load_nodes();
  for (const CpuReading& cpu : now_.rows()) {
    Traits& traits = traits_[cpu.index];
    if (sources_.idle_states) load_idle_states(cpu.index, traits);
    if (sources_.frequency) load_frequencies(cpu.index, traits);
  }
}

// The maximum is no substitute for the nominal frequency: it is that of one processor alone.
void CpuReader::load_frequencies(std::uint32_t cpu, Traits& traits) {
  traits.maximum_khz = files_.read_u64(cpu_path(cpu, "/cpufreq/cpuinfo_max_freq").view());
  traits.nominal_khz = files_.read_u64(cpu_path(cpu, "/cpufreq/base_frequency").view());
  if (traits.nominal_khz) return;
  const auto megahertz = files_.read_u64(cpu_path(cpu, "/acpi_cppc/nominal_freq").view());
  if (megahertz) traits.nominal_khz = multiply_saturated(*megahertz, 1000);
}

// A kernel without nodes has no such folder; all processors are then of node 0.
void CpuReader::load_nodes() {
  const auto online = files_.read("sys/devices/system/node/online");
  if (!online) return;
  parse_cpu_list(*online, kNodesMax, node_numbers_);
  for (const std::uint32_t node : node_numbers_) {
    const PathText path = PathText("sys/devices/system/node/node").append(node).append("/cpulist");
    const auto list = files_.read(path.view());
    if (!list) continue;
    parse_cpu_list(*list, static_cast<std::uint32_t>(traits_.size()), numbers_);
    for (const std::uint32_t cpu : numbers_) traits_[cpu].node = node;
  }
}

void CpuReader::load_idle_states(std::uint32_t cpu, Traits& traits) {
  unsigned hardware_position = 1;
  for (std::size_t state = 0; state < kIdleStatesMax; ++state) {
    const auto name = files_.read(idle_path(cpu, state, "/name").view());
    if (!name) return;
    traits.depths[state] = classify_idle_state(trim(*name), hardware_position);
    if (traits.depths[state] != IdleDepth::kPoll) ++hardware_position;
    traits.idle_states = static_cast<std::uint32_t>(state) + 1;
  }
}

// A processor that leaves in the middle keeps none of these: half a sum would look like a reset.
void CpuReader::read_idle_states(CpuReading& cpu, const Traits& traits) {
  CpuValues idle;
  for (std::size_t state = 0; state < traits.idle_states; ++state) {
    const auto entries = files_.read_u64(idle_path(cpu.index, state, "/usage").view());
    const auto time_us = files_.read_u64(idle_path(cpu.index, state, "/time").view());
    if (!entries || !time_us) return;
    idle.add(CpuField::kIdleEntries, *entries);
    const IdleDepth depth = traits.depths[state];
    if (depth == IdleDepth::kPoll) continue;
    idle.add(entries_field(depth), *entries);
    idle.add(time_field(depth), multiply_saturated(*time_us, k100nsPerMicrosecond));
  }
  cpu.values.merge(idle);
}

void CpuReader::read_frequencies() {
  bool has_cpufreq = false;
  for (CpuReading& cpu : now_.rows()) {
    const auto current = files_.read_u64(cpu_path(cpu.index, "/cpufreq/scaling_cur_freq").view());
    if (!current) continue;
    has_cpufreq = true;
    cpu.values.set(CpuField::kFrequencyKhz, current);
    cpu.values.set(CpuField::kFrequencyMaximumKhz, traits_[cpu.index].maximum_khz);
    cpu.values.set(CpuField::kFrequencyNominalKhz, traits_[cpu.index].nominal_khz);
    cpu.values.set(CpuField::kFrequencyLimitKhz,
                   files_.read_u64(cpu_path(cpu.index, "/cpufreq/scaling_max_freq").view()));
  }
  if (has_cpufreq) return;
  if (const auto text = files_.read("proc/cpuinfo")) parse_cpuinfo_frequency(*text, now_);
}

// Only the two fields the kernel is known to correct are held, and only against small steps: a
// large one is a processor that was reset, which readers have a name for.
void CpuReader::hold_small_steps_back() noexcept {
  std::size_t hint = 0;
  for (CpuReading& cpu : now_.rows()) {
    const CpuReading* const before = before_.find(cpu.index, hint);
    if (before == nullptr) continue;
    for (const CpuField field : {CpuField::kIdle100ns, CpuField::kIowait100ns}) {
      if (!cpu.values.has(field) || !before->values.has(field)) continue;
      const std::uint64_t old_value = before->values.get(field);
      const std::uint64_t new_value = cpu.values.get(field);
      if (new_value < old_value && old_value - new_value <= kStepBackMax100ns) {
        cpu.values.set(field, old_value);
      }
    }
  }
}

// A processor that is new, or was reset, did an unknown amount of work before.
void CpuReader::advance_work() noexcept {
  std::size_t hint = 0;
  for (CpuReading& cpu : now_.rows()) {
    const auto khz = cpu.values.find(CpuField::kFrequencyKhz);
    const auto nominal_khz = cpu.values.find(CpuField::kFrequencyNominalKhz);
    if (!khz || nominal_khz.value_or(0) == 0) continue;
    cpu.values.set(CpuField::kWork100ns, 0);
    cpu.values.set(CpuField::kPrivilegedWork100ns, 0);
    const CpuReading* const before = before_.find(cpu.index, hint);
    if (before == nullptr || !before->values.has(CpuField::kWork100ns)) continue;
    const std::uint64_t khz_before = before->values.get(CpuField::kFrequencyKhz);
    const std::uint64_t mean_khz = add_saturated(*khz, khz_before) / 2;
    const auto advance = [&](CpuField field, std::uint64_t from, std::uint64_t to) {
      const std::uint64_t busy = to > from ? to - from : 0;
      cpu.values.set(field, add_saturated(before->values.get(field),
                                          multiply_saturated(busy, mean_khz) / *nominal_khz));
    };
    advance(CpuField::kWork100ns, busy_100ns(before->values), busy_100ns(cpu.values));
    advance(CpuField::kPrivilegedWork100ns, privileged_100ns(before->values),
            privileged_100ns(cpu.values));
  }
}

void CpuReader::advance_groups() {
  for (const CpuReading& cpu : now_.rows()) {
    const auto place = std::lower_bound(
        nodes_.begin(), nodes_.end(), cpu.node,
        [](const CpuGroup& group, std::uint32_t node) { return group.node() < node; });
    if (place == nodes_.end() || place->node() != cpu.node)
      nodes_.insert(place, CpuGroup(cpu.node));
  }
  machine_.advance(before_.rows(), now_.rows());
  for (CpuGroup& node : nodes_) node.advance(before_.rows(), now_.rows());
}

}  // namespace meterbank::host
