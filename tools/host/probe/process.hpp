// SPDX-License-Identifier: Apache-2.0
//
// Processes: each numeric folder of /proc, read through one open directory, so that the numbers
// of one reading all belong to one process even when its number is given to another meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

enum class ProcessField : std::uint8_t {
  // Since the process started, all its threads together.
  kUser100ns,
  kSystem100ns,
  kPageFaults,       // all faults
  kMajorPageFaults,  // of these, the ones that waited for a device
  kReadOperations,   // read calls on anything: files, sockets, pipes
  kWriteOperations,
  kReadBytes,  // moved by those calls, from the page cache or not
  kWriteBytes,
  kStorageReadBytes,  // really fetched from block devices
  kStorageWriteBytes,
  // Levels.
  kVirtualBytes,
  kVirtualPeakBytes,
  kResidentBytes,
  kResidentPeakBytes,
  kResidentPrivateBytes,  // resident and backed by no file
  kSwapBytes,
  kPrivateDataBytes,   // of the address space: what can be written and is not shared,
  kPrivateStackBytes,  // and of it the main thread's stack, which the kernel counts apart
  kThreads,
  kHandles,  // open file descriptors
  kParentPid,
  kStartedAfterBoot100ns,
  kCount
};

using ProcessValues = FieldValues<ProcessField>;

// Kernel workers have names longer than the fifteen bytes that others get.
using ProcessName = FixedText<64>;

struct ProcessReading {
  std::uint32_t pid = 0;
  // Together with pid this names one process: a number that is used again starts at another tick.
  std::uint64_t start_ticks = 0;
  char state = '?';
  bool is_kernel_thread = false;
  std::int32_t priority = 0;  // as the kernel shows it: 0..39, below zero for real-time classes
  std::int32_t nice = 0;
  ProcessName name;  // any bytes: blanks, parentheses, newlines, broken UTF-8
  ProcessValues values;
};

// The files of /proc/PID. Each returns false, with `target` as before, if the text is not of the
// expected form. The name is taken between the first '(' and the last ')'; pid is left alone.
bool parse_process_stat(std::string_view text, const MachineUnits& units,
                        ProcessReading& target) noexcept;
bool parse_process_statm(std::string_view text, const MachineUnits& units,
                         ProcessReading& target) noexcept;
bool parse_process_status(std::string_view text, ProcessReading& target) noexcept;
bool parse_process_io(std::string_view text, ProcessReading& target) noexcept;

// The name as valid UTF-8 without control characters; each offending byte becomes '_'.
[[nodiscard]] ProcessName displayable_name(std::string_view raw) noexcept;

// Each costs a file per process.
struct ProcessSources {
  bool status = true;   // peaks, swap, private memory
  bool io = true;       // needs the same user, or privilege
  bool handles = true;  // likewise on older kernels
};

class ProcessReader {
 public:
  explicit ProcessReader(FileReader& files, ProcessSources sources = {},
                         MachineUnits units = MachineUnits::of_this_machine());

  // False: the folder could not be listed; the processes are then those of the last good sample.
  // A process that ends while it is read is left out.
  [[nodiscard]] bool sample();

  // Ascending by pid.
  [[nodiscard]] std::span<const ProcessReading> processes() const noexcept {
    return {processes_.data(), count_};
  }

 private:
  [[nodiscard]] bool read_process(std::uint32_t pid, ProcessReading& target);
  [[nodiscard]] bool is_alive_after_miss(const DirectoryHandle& process);

  FileReader& files_;
  ProcessSources sources_;
  MachineUnits units_;
  std::vector<std::uint32_t> pids_;
  std::vector<ProcessReading> processes_;  // only grows; the first count_ are current
  std::size_t count_ = 0;
};

}  // namespace meterbank::host
