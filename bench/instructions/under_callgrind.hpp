// SPDX-License-Identifier: Apache-2.0
//
// Instructions of rows, counted by a second run of this program under valgrind, with tiny inputs:
// for machines whose hardware counters cannot be had.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::bench {

// Whether most rows of the group are loops that do not wait, and take seconds under valgrind.
[[nodiscard]] bool is_counted_under_callgrind(std::string_view group) noexcept;

class CallgrindCounts {
 public:
  // Of no rows.
  CallgrindCounts() = default;
  // Runs the groups, precondition: this program has them. Of no rows if valgrind is not there or
  // fails; then standard error says so.
  explicit CallgrindCounts(const std::vector<std::string>& groups);

  // Of the row of this name, else of the one row of the group whose name differs in numbers only:
  // tiny inputs have other sizes. Nothing: it was not counted, or there are several.
  [[nodiscard]] std::optional<double> of(std::string_view group, std::string_view name) const;

 private:
  using Key = std::pair<std::string, std::string>;  // group, and name of a row

  std::map<Key, double> by_name_;
  std::map<Key, std::optional<double>> by_name_without_numbers_;  // nothing: several rows
};

}  // namespace meterbank::bench
