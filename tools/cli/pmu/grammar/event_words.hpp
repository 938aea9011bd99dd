// SPDX-License-Identifier: Apache-2.0
//
// EVENTS of a command line: a list with commas, each one
//
//   cycles              a name that the arbiter knows
//   cycles:u            in user mode only; :k in the kernel only
//   r01c2               raw, as perf spells it: the event's code, before it its unit mask
//   mem:0x7ffe10/8:rw   a breakpoint: address, bytes watched (4 if not said), what is watched for
//   2*low4              so many counters of an event class, whatever they are to count
//   2                   so many counters of any kind
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/pmu/request.hpp"

namespace meterbank::cli {

struct EventWord {
  std::string text;  // as typed
  pmu::Item item;
  bool is_breakpoint = false;
  // Counters without an event count nothing.
  [[nodiscard]] bool counts() const noexcept {
    const auto kind = static_cast<pmu::ItemKind>(item.kind);
    return kind == pmu::ItemKind::kEvent || kind == pmu::ItemKind::kNamedEvent;
  }
};

// Errors: kInvalidArgument; breakpoints and other events in one list, too: no PMU has both.
[[nodiscard]] Result<std::vector<EventWord>> parse_events(std::string_view text);

}  // namespace meterbank::cli
