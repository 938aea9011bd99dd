// SPDX-License-Identifier: Apache-2.0
//
// Disks: /proc/diskstats, narrowed to devices with hardware (or a hypervisor) behind them.
#pragma once

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

  // The fields this kernel prints for any block device, so that a schema can be drawn up on a
  // machine whose first disk is plugged in later.
  [[nodiscard]] std::uint64_t present_fields() const noexcept { return present_fields_; }

 private:
  [[nodiscard]] bool is_physical(const DiskReading& disk);
  void read_life(DiskReading& disk);
  void carry_times(DiskReading& disk) const noexcept;

  FileReader& files_;
  std::vector<DiskReading> disks_;
  std::vector<DiskReading> before_;
  std::uint64_t present_fields_ = 0;
};

}  // namespace meterbank::host
