// SPDX-License-Identifier: Apache-2.0
//
// The machine as a whole: what /proc/stat, /proc/loadavg and /proc/uptime say besides
// processors, and how many processes there are.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

enum class SystemField : std::uint8_t {
  kContextSwitches,
  kInterrupts,       // all processors, all sources
  kSoftirqs,         // all processors, all kinds
  kForks,            // processes and threads started since boot
  kRunnable,         // threads running or waiting for a processor now
  kBlocked,          // threads waiting for a device now
  kBootUnix100ns,    // when the machine started
  kUptime100ns,      // how long ago that was
  kThreads,          // threads alive now
  kLoad1Hundredths,  // load averages times 100
  kLoad5Hundredths,
  kLoad15Hundredths,
  kProcesses,  // folders of /proc when it was listed last
  kCount
};

using SystemValues = FieldValues<SystemField>;

// Takes one line of /proc/stat; lines about processors and unknown ones change nothing.
void parse_stat_line(std::string_view line, SystemValues& target) noexcept;

// False: the text is not of the expected form; `target` is as before.
bool parse_loadavg(std::string_view text, SystemValues& target) noexcept;
bool parse_uptime(std::string_view text, SystemValues& target) noexcept;

// Adds load and uptime to the values that the processor reader already took from /proc/stat.
void read_load_and_uptime(FileReader& files, SystemValues& target);

}  // namespace meterbank::host
