// SPDX-License-Identifier: Apache-2.0
//
// Which rows differ between two runs by more than the noise of both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/results.hpp"

namespace meterbank::bench {

enum class Change { kSlower, kFaster, kLarger, kSmaller, kNew, kGone };

struct ChangedRow {
  Change change = Change::kSlower;
  const ResultRow* before = nullptr;  // null: new
  const ResultRow* after = nullptr;   // null: gone
};

struct Changes {
  std::vector<ChangedRow> rows;  // slower ones first; point into the compared results
  std::size_t unchanged = 0;
  // How many of the unchanged rows changed in the measured cost or in the ratio, but not in both.
  std::size_t changed_in_part = 0;
  std::size_t not_compared = 0;  // measured once, and not in bytes

  [[nodiscard]] bool any_slower() const noexcept;
};

// The span of a row reaches from the 10th to the 90th percentile of its rounds. A row is slower if
// the spans of both files lie apart, the later one higher. A row with a limit changes only if both
// its measured cost and its ratio do: the clock rate of the machine moves the first alone, and the
// limit the second alone. Medians differ from run to run by more than within one, so those with a
// limit have to differ by 10 %, and others by 25 %. Bytes are measured once; they count as changed
// from 10 %.
[[nodiscard]] Changes compare(const Results& before, const Results& after);

// One line for each difference that makes costs incomparable: processor, compiler, build, --quick.
[[nodiscard]] std::vector<std::string> different_conditions(const Results& before,
                                                            const Results& after);

// `meterbank_bench --compare`. Returns the exit status: 0, or 1 if a row is slower or larger, or 2
// if a file cannot be used.
[[nodiscard]] int compare_files(const std::string& before, const std::string& after);

}  // namespace meterbank::bench
