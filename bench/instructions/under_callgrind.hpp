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
  // Has no counts.
  CallgrindCounts() = default;
  // Runs the groups. Precondition: this program has them. Has no counts if valgrind is not there or
  // fails; then standard error says so.
  explicit CallgrindCounts(const std::vector<std::string>& groups);

  // Returns the instructions of the row with this name. Tiny inputs have other sizes, so if no row
  // has the name, this looks for names that differ only in their numbers. It returns the
  // instructions of that row if there is exactly one, and otherwise nothing.
  [[nodiscard]] std::optional<double> of(std::string_view group, std::string_view name) const;

 private:
  using Key = std::pair<std::string, std::string>;  // group, and name of a row

  std::map<Key, double> by_name_;
  std::map<Key, std::optional<double>> by_name_without_numbers_;  // nothing: several rows
};

}  // namespace meterbank::bench
