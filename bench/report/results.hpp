// SPDX-License-Identifier: Apache-2.0
//
// What one run has found: the rows of its table, with all that `--json` writes and `--compare`
// reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "report/conditions.hpp"

namespace meterbank::bench {

struct ResultRow {
  std::string group = {}, name = {};
  std::string unit = {};  // of `measured` and `limit`: "ns", "B", "s"; empty for a number
  std::optional<Spread> measured = {};  // missing: the row could not be measured
  bool once = false;                    // measured without rounds: the three values are equal
  std::optional<Spread> limit = {}, ratio = {};
  std::optional<double> instructions = {};  // of one measured operation
  std::optional<double> hold = {};          // the figure
  bool hold_is_ratio = false;               // else it has the unit of the row
  std::string verdict = {};  // "holds", "misses", "-", or why the row could not be measured
};

struct Results {
  Conditions conditions;
  bool quick = false;
  std::vector<ResultRow> rows;
};

}  // namespace meterbank::bench
