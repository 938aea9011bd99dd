// SPDX-License-Identifier: Apache-2.0
//
// What the arbiter publishes: leases, waiters and processes without a lease, as rows of its
// countersets.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

// One row by the symbols of its counters; texts and numbers apart. What is not there is empty or 0.
struct ArbiterRow {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::uint64_t, std::less<>> numbers;

  [[nodiscard]] std::string text(std::string_view symbol) const;
  [[nodiscard]] std::uint64_t number(std::string_view symbol) const;
};

// By symbol of the counterset: "pmu_lease", "pmu_waiter", "pmu_outsider". Errors: kNotFound if the
// arbiter publishes nothing there that may be read.
[[nodiscard]] Result<std::map<std::string, std::vector<ArbiterRow>, std::less<>>> read_arbiter_rows(
    const std::string& directory);

}  // namespace meterbank::cli
