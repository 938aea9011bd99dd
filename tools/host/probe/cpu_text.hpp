// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's text files say about each processor, as pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/readings.hpp"
#include "host/probe/system.hpp"

namespace meterbank::host {

// More than any kernel is built for; a larger number in a file is damage.
inline constexpr std::uint32_t kCpusMax = 8192;

enum class CpuField : std::uint8_t {
  // Time since boot. Guest time is part of user time, and guest-nice time of nice time.
  kUser100ns,
  kNice100ns,
  kSystem100ns,
  kIdle100ns,
  kIowait100ns,
  kIrq100ns,
  kSoftirq100ns,
  kSteal100ns,
  kGuest100ns,
  kGuestNice100ns,
  // Counts since boot.
  kInterrupts,       // every source, as the kernel itself adds them up
  kClockInterrupts,  // of these, the local timer
  kSoftirqs,         // deferred calls raised on this processor
  // Idle states, where a cpuidle driver keeps them. C3 stands for C3 and deeper.
  kC1Time100ns,
  kC2Time100ns,
  kC3Time100ns,
  kC1Entries,
  kC2Entries,
  kC3Entries,
  kIdleEntries,  // all states, polling included: how often idleness began, hence ended
  // Levels.
  kFrequencyKhz,
  kFrequencyMaximumKhz,
  kFrequencyLimitKhz,    // the highest frequency that policy allows now
  kFrequencyNominalKhz,  // what the maker promises all processors at once; faster is a bonus
  // Busy time since the first sample, as if at the nominal frequency: a second at twice that is
  // two.
  // The frequency between two samples is taken to be the mean of what the kernel said at both.
  kWork100ns,
  kPrivilegedWork100ns,  // of it, the time in the kernel
  kCount
};

using CpuValues = FieldValues<CpuField>;

// How the values of several processors become one: the times of a group advance as fast as the
// clock, like those of a single processor, so that percentages of a group stay within 100.
enum class GroupRule { kMeanOfSteps, kSumOfSteps, kMeanOfLevels };
[[nodiscard]] GroupRule group_rule(CpuField field) noexcept;

// Combinations that leave no doubt which states they count. All of them fit a processor or group.
[[nodiscard]] std::uint64_t user_100ns(const CpuValues& values) noexcept;        // user, nice
[[nodiscard]] std::uint64_t privileged_100ns(const CpuValues& values) noexcept;  // system, irqs
[[nodiscard]] std::uint64_t idle_100ns(const CpuValues& values) noexcept;        // idle, iowait
[[nodiscard]] std::uint64_t busy_100ns(const CpuValues& values) noexcept;        // user, privileged

struct CpuReading {
  std::uint32_t index = 0;  // the kernel's number; it stays the same while others come and go
  std::uint32_t node = 0;
  CpuValues values;
};

// The processors that are on line, ascending by number.
class CpuTable {
 public:
  // nullptr: the number does not follow the last one, or lies outside the limit.
  CpuReading* append(std::uint32_t index);

  // `hint` is where the search starts and is left at the processor found; ascending questions
  // then cost one comparison each. nullptr: not on line.
  [[nodiscard]] CpuReading* find(std::uint32_t index, std::size_t& hint) noexcept;

  void clear() noexcept { rows_.clear(); }
  [[nodiscard]] std::span<CpuReading> rows() noexcept { return rows_; }
  [[nodiscard]] std::span<const CpuReading> rows() const noexcept { return rows_; }

 private:
  std::vector<CpuReading> rows_;
};

// /proc/stat. Appends a row for each processor. False: there was none.
bool parse_stat(std::string_view text, std::uint64_t ticks_per_second, CpuTable& cpus,
                SystemValues& system);

// /proc/interrupts and /proc/softirqs. Columns are matched by the processor numbers in the first
// line; those of processors without a row are dropped. False: there is no such first line.
bool parse_interrupts(std::string_view text, CpuTable& cpus) noexcept;
bool parse_softirqs(std::string_view text, CpuTable& cpus) noexcept;

// /proc/cpuinfo, for machines without cpufreq. False: it names no frequency.
bool parse_cpuinfo_frequency(std::string_view text, CpuTable& cpus) noexcept;

// "0-3,8" as in sysfs, ascending. Numbers at or above `limit` are dropped, and so is the rest
// after the first part that is not a range. An empty list is valid.
void parse_cpu_list(std::string_view text, std::uint32_t limit,
                    std::vector<std::uint32_t>& numbers);

enum class IdleDepth : std::uint8_t { kPoll, kC1, kC2, kC3 };

// `hardware_position` counts the states that are not polling, from 1, and decides where the name
// does not: drivers call a state "C6" or "C1E", but also "WFI" or "haltpoll idle".
[[nodiscard]] IdleDepth classify_idle_state(std::string_view name,
                                            unsigned hardware_position) noexcept;

}  // namespace meterbank::host
