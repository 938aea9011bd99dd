// SPDX-License-Identifier: Apache-2.0
//
// What `meterbank check` found, as a monitoring plugin says it and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/check/check_state.hpp"
#include "cli/check/rule_history.hpp"

namespace meterbank::cli {

// Something about a provider, a condition or the whole check, and not about one row.
struct CheckProblem {
  CheckState state = CheckState::kUnknown;
  std::string text;
};

struct CheckedRow {
  CheckState state = CheckState::kOk;
  const RowHistory* row = nullptr;
  const RuleHistory* rule = nullptr;             // that `state` is of
  std::optional<std::string> warning, critical;  // ranges of monitoring plugins
};

struct CheckReport {
  CheckState state = CheckState::kOk;
  std::vector<CheckedRow> rows;  // one a label, the worst first
  std::vector<CheckProblem> problems;
  std::vector<std::string> notes;  // what does not change the state and should be known
  std::uint64_t needed = 1;        // samples in a row
  bool is_range = false;           // of a recording: says when
  std::uint64_t now_ns = 0;        // CLOCK_REALTIME
  std::string well;                // what is said if all is well

  // Merges the rows of all rules, and derives the state from them and the problems.
  void conclude(const std::vector<RuleHistory>& rules);
  [[nodiscard]] std::string as_text() const;
  [[nodiscard]] std::string as_json() const;

 private:
  [[nodiscard]] std::string text_of(const CheckedRow& row) const;
  [[nodiscard]] std::string headline() const;
  [[nodiscard]] std::string performance_data() const;
};

}  // namespace meterbank::cli
