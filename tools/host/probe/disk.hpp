// SPDX-License-Identifier: Apache-2.0
//
// Disks: /proc/diskstats, narrowed to devices with hardware (or a hypervisor) behind them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

inline constexpr std::size_t kDisksMax = 4096;

enum class DiskField : std::uint8_t {
  // Since boot. A merged request was joined to a neighbour before it reached the device.
  kReads,
  kReadsMerged,
  kReadBytes,
  kReadTime100ns,  // summed over requests, so it may run faster than the clock
  kWrites,
  kWritesMerged,
  kWriteBytes,
  kWriteTime100ns,
  kInFlight,        // requests at the device now
  kBusyTime100ns,   // while at least one request was there
  kQueueTime100ns,  // in-flight requests integrated over time
  kDiscards,
  kDiscardsMerged,
  kDiscardBytes,
  kDiscardTime100ns,
  kFlushes,
  kFlushTime100ns,
  // Levels of a file system on the device, not of diskstats.
  kUsableBytes,  // what programs may fill altogether
  kFreeBytes,    // what they may still fill
  kCount
};

using DiskValues = FieldValues<DiskField>;
using DiskName = FixedText<32>;

struct DiskReading {
  DiskName name;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  // Another number means another device, even under the same name; zero on kernels without it.
  std::uint64_t life = 0;
  DiskValues values;
};

// How the values of several disks, or file systems, become one. Requests, bytes, and the times of
// requests are added up; the time a device was busy is the mean, so that it stays below the clock.
//
// As with processors, a total is not the sum of what its members show: it advances by what they
// gained between two samples, so it does not run backwards when a disk is pulled out. A disk that
// is plugged in counts from its second sample on.
class DiskTotal {
 public:
  // Takes one sample. Readings of one thing have the same name and life.
  template <typename Reading>
  void advance(std::span<const Reading> before, std::span<const Reading> now) noexcept;

  [[nodiscard]] const DiskValues& values() const noexcept { return values_; }

 private:
  struct Step {
    std::uint64_t sum = 0;
    std::uint64_t members = 0;
  };
  void take(DiskField field, const Step& step) noexcept;

  DiskValues values_;
  std::uint64_t busy_remainder_ = 0;  // of the mean, so that it does not lag behind
};

// One line of diskstats. No value: it lacks a name or one of the first eleven numbers.
[[nodiscard]] std::optional<DiskReading> parse_disk_line(std::string_view line) noexcept;

// Replaces `disks` by every device and partition of the text, at most kDisksMax.
void parse_diskstats(std::string_view text, std::vector<DiskReading>& disks);

// The kernel prints times as 32-bit milliseconds, which wrap after 50 days of waiting; the reader
// carries them on in 64 bits from the first sample of each disk.
class DiskReader {
 public:
  explicit DiskReader(FileReader& files) noexcept : files_(files) {}

  // False: diskstats was unreadable; the disks are then those of the last good sample.
  [[nodiscard]] bool sample();

  // Whole physical disks, in the order of the kernel.
  [[nodiscard]] std::span<const DiskReading> disks() const noexcept { return disks_; }
  // All of them.
  [[nodiscard]] const DiskTotal& total() const noexcept { return total_; }

  // Every block device, partitions and mapped devices included, in the order of the kernel.
  [[nodiscard]] std::span<const DiskReading> devices() const noexcept { return devices_; }

  // The fields this kernel prints for any block device, so that a schema can be drawn up on a
  // machine whose first disk is plugged in later.
  [[nodiscard]] std::uint64_t present_fields() const noexcept { return present_fields_; }

 private:
  [[nodiscard]] bool is_physical(const DiskReading& disk);
  void read_life(DiskReading& disk);
  // `position`: where the device is now, and was before if none came or went.
  void carry_times(DiskReading& disk, std::size_t position) const noexcept;

  FileReader& files_;
  std::vector<DiskReading> devices_;
  std::vector<DiskReading> devices_before_;
  std::vector<DiskReading> disks_;
  std::vector<DiskReading> disks_before_;
  DiskTotal total_;
  std::uint64_t present_fields_ = 0;
};

[[nodiscard]] constexpr bool is_level(DiskField field) noexcept {
  return field == DiskField::kInFlight || field == DiskField::kUsableBytes ||
         field == DiskField::kFreeBytes;
}

template <typename Reading>
void DiskTotal::advance(std::span<const Reading> before, std::span<const Reading> now) noexcept {
  const auto old_of = [&](const Reading& reading, std::size_t position) -> const Reading* {
    const auto is_same = [&](const Reading& old) {
      return old.life == reading.life && old.name.view() == reading.name.view();
    };
    if (position < before.size() && is_same(before[position])) return &before[position];
    for (const Reading& old : before) {
      if (is_same(old)) return &old;
    }
    return nullptr;
  };
  std::array<Step, DiskValues::kFields> steps{};
  for (std::size_t position = 0; position < now.size(); ++position) {
    const Reading& reading = now[position];
    const Reading* const old = old_of(reading, position);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto field = static_cast<DiskField>(i);
      if (!reading.values.has(field)) continue;
      std::uint64_t gained = reading.values.get(field);
      if (!is_level(field) && values_.has(field)) {
        if (old == nullptr || !old->values.has(field)) continue;
        // A device that was reset gained an unknown amount: count none.
        const std::uint64_t old_value = old->values.get(field);
        gained = gained > old_value ? gained - old_value : 0;
      }
      steps[i].sum = add_saturated(steps[i].sum, gained);
      ++steps[i].members;
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) take(static_cast<DiskField>(i), steps[i]);
}

}  // namespace meterbank::host
