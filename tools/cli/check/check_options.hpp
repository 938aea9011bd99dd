// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "cli/check/check_state.hpp"
#include "cli/check/condition.hpp"

namespace meterbank::cli {

// `meterbank check`: what is not in SelectionOptions and the moments of an Invocation.
struct CheckOptions {
  struct Rule {
    CheckState severity = CheckState::kCritical;
    Condition condition;
  };
  std::vector<Rule> rules;
  std::optional<std::chrono::nanoseconds> stale;
};

}  // namespace meterbank::cli
