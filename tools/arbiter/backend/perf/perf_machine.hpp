// SPDX-License-Identifier: Apache-2.0
//
// A machine with what perf_event_open needs to know of its PMUs and events.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/backend/perf/events/event_format.hpp"
#include "arbiter/backend/perf/perf_calls.hpp"
#include "arbiter/core/request.hpp"

namespace meterbank::arbiter {

enum class PmuSort : std::uint8_t {
  kCore,
  kUncore,
  kBreakpoint  // a counter is a slot, and counts how often its address was met
};

// Beside the Pmu of the same index.
struct PerfPmu {
  std::uint32_t type = 0;
  PmuSort sort = PmuSort::kCore;
  EventFormat format;
  EventCode filler;  // an event that any general counter can count
};

class PerfMachine {
 public:
  Machine machine;
  std::vector<PerfPmu> pmus;  // as many as machine.topology.pmus

  // How clients name the code, so that attributes() finds it again. `shown` is its code and unit
  // mask where the code itself does not have them.
  Event remember(PmuIndex pmu, const EventCode& code, const Event& shown = {});
  // Pinned and enabled. An event of zeros is any event: one that does no harm. Nothing: there is no
  // such event.
  [[nodiscard]] std::optional<perf_event_attr> attributes(PmuIndex pmu, const Event& event,
                                                          std::uint32_t flags) const;
  // Of an event that holds a counter and counts nothing.
  [[nodiscard]] perf_event_attr guard(PmuIndex pmu) const;
  [[nodiscard]] bool is_hardware(PmuIndex pmu) const noexcept {
    return pmus[pmu].sort != PmuSort::kBreakpoint;
  }

 private:
  // Events that are more than one word for their PMU, by Event::configuration.
  std::map<std::pair<PmuIndex, std::uint64_t>, EventCode> codes_;
};

[[nodiscard]] perf_event_attr attributes_of(const EventCode& code);
// Of a breakpoint that holds a slot and is never met.
[[nodiscard]] perf_event_attr idle_breakpoint(std::uint32_t type, std::uint32_t access);

// What an event says when it is read.
struct EventWords {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::uint64_t id = 0;
};
// Nothing: it has lost its counter.
[[nodiscard]] std::optional<EventWords> read_event(PerfCalls& calls, int descriptor);
// Whether an event of a CPU, pinned and enabled, has got a counter; asks again until it says so.
[[nodiscard]] bool has_run(PerfCalls& calls, int descriptor);
// How many events can be had at once. `fault` becomes the errno of the first refusal, 0 if none was
// refused at open.
[[nodiscard]] std::uint32_t count_free(PerfCalls& calls, const perf_event_attr& attributes,
                                       pid_t task, int cpu, std::uint32_t at_most, int& fault);

}  // namespace meterbank::arbiter
