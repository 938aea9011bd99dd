// SPDX-License-Identifier: Apache-2.0
//
// What `meterbank pmu` was told, understood.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/pmu/grammar/event_words.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::cli {

enum class PmuAction : std::uint8_t {
  kList,
  kLeases,
  kWho,
  kRun,
  kHold,
  kWait,
  kProbe,
  kRevoke,
  kReserve
};

struct PmuOptions {
  PmuAction action = PmuAction::kList;
  std::vector<EventWord> events;
  std::string pmu;    // empty: the first one that covers the CPUs
  std::string cpus;   // "0-3,8"; empty: not said
  std::string label;  // shown to others; empty: the command, or what is done
  std::optional<std::chrono::nanoseconds> wait;
  pmu::Priority priority = pmu::Priority::kMonitoring;
  bool shares = false;
  std::uint32_t duty_permille = 1000;
  bool per_cpu = false;                              // run: a row for each CPU
  std::optional<std::chrono::nanoseconds> interval;  // run: rows at each interval
  std::vector<std::string> command;                  // run
  bool queue = false;                                // leases: the waiting clients, too
  bool details = false;                              // list: names of events
  std::vector<std::string> places;                   // who: "0-3", "c2"
  pmu::Token token = 0;                              // revoke
  std::chrono::nanoseconds drain = std::chrono::milliseconds(200);
  std::uint32_t counters = 0;  // reserve
};

}  // namespace meterbank::cli
