// SPDX-License-Identifier: Apache-2.0
//
// Memory and paging: /proc/meminfo in bytes, /proc/vmstat as cumulative counts.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

enum class MemoryField : std::uint8_t {
  // Levels, from meminfo.
  kTotalBytes,
  kFreeBytes,
  kAvailableBytes,
  kBuffersBytes,
  kCachedBytes,
  kSwapCachedBytes,
  kActiveBytes,
  kInactiveBytes,
  kDirtyBytes,
  kWritebackBytes,
  kAnonymousBytes,
  kMappedBytes,
  kSharedBytes,
  kKernelReclaimableBytes,
  kSlabBytes,
  kSlabReclaimableBytes,
  kSlabUnreclaimableBytes,
  kKernelStackBytes,
  kPageTablesBytes,
  kCommitLimitBytes,
  kCommittedBytes,
  kVmallocUsedBytes,
  kPercpuBytes,
  kSwapTotalBytes,
  kSwapFreeBytes,
  // Counts since boot, from vmstat.
  kPageFaults,       // all faults
  kMajorPageFaults,  // faults that had to wait for a device
  kPagedInBytes,     // read from block devices for any reason; the kernel counts it in KiB
  kPagedOutBytes,    // written to block devices for any reason
  kSwappedInPages,
  kSwappedOutPages,
  kReclaimedPages,  // taken from the page cache or from processes for another use
  kRefaultedPages,  // reclaimed a short time ago and needed again
  kOomKills,
  kCount
};

using MemoryValues = FieldValues<MemoryField>;

// False: not one known line was found. Unknown lines are ignored; a repeated key counts once.
bool parse_meminfo(std::string_view text, MemoryValues& target) noexcept;
bool parse_vmstat(std::string_view text, MemoryValues& target) noexcept;

class MemoryReader {
 public:
  explicit MemoryReader(FileReader& files) noexcept : files_(files) {}

  // False: neither file could be read; the values are then those of the last good sample.
  [[nodiscard]] bool sample();
  [[nodiscard]] const MemoryValues& values() const noexcept { return values_; }

 private:
  FileReader& files_;
  MemoryValues values_;
};

}  // namespace meterbank::host
