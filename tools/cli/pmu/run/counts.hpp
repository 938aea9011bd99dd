// SPDX-License-Identifier: Apache-2.0
//
// What leased counters have counted, and the table of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/format/row_writer.hpp"
#include "cli/pmu/grammar/event_words.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::cli {

struct Counts {
  pmu::Quality quality = pmu::Quality::kUnverified;
  std::vector<pmu::Value> values;
};

// What was counted between two moments of one lease. Empty where they do not fit.
[[nodiscard]] Counts since(const Counts& before, const Counts& after);
// The CPUs of each event as one: what was counted on all of them, for the time of the longest.
[[nodiscard]] Counts added_up(const Counts& counts);

struct CountsMoment {
  double seconds = 0;                    // that it took
  std::optional<double> elapsed_s = {};  // since the beginning; of intervals only
};
// One row for each value, with what it is worth. A counter that never counted has no number.
[[nodiscard]] std::string print_counts(const Counts& counts, const std::vector<EventWord>& events,
                                       const CountsMoment& moment, const RowStyle& style);
// "1.96 instructions a cycle", where both were counted; else empty.
[[nodiscard]] std::string print_ratio(const Counts& counts, const std::vector<EventWord>& events);

}  // namespace meterbank::cli
