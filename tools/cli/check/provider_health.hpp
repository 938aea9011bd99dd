// SPDX-License-Identifier: Apache-2.0
//
// Which providers keep `meterbank check` from an answer, or are what it looks for with --stale.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "cli/check/check_report.hpp"

namespace meterbank::cli {

// With `stale`, providers that are dead, hung or silent for longer are critical. Without, those
// that a rule reads from are unknown. No rule: all of the selection.
[[nodiscard]] std::vector<CheckProblem> provider_problems(
    const Selection& selection, const std::vector<RuleHistory>& rules,
    std::optional<std::chrono::nanoseconds> stale);

// Of rules that found no row, or none with a value because counters are not there.
[[nodiscard]] std::vector<CheckProblem> unmatched_problems(const Selection& selection,
                                                           const std::vector<RuleHistory>& rules);

}  // namespace meterbank::cli
