// SPDX-License-Identifier: Apache-2.0
//
// The one table that a run prints. It keeps its rows for the file of results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instructions/under_callgrind.hpp"
#include "report/results.hpp"

namespace meterbank::bench {

class Table {
 public:
  // Where the processor does not count instructions.
  void use(CallgrindCounts counts) { counts_ = std::move(counts); }
  // The group of the rows that follow.
  void begin(std::string_view group) { group_ = group; }

  // Judged by the median ratio.
  void ratio_row(std::string_view what, const Comparison& result, std::optional<double> hold);
  // Judged by the measured nanoseconds; the limit is there to compare with.
  void time_row(std::string_view what, const Comparison& result, std::optional<double> hold_ns);
  // Judged by a number of `unit`.
  void plain_row(std::string_view what, double measured, std::string_view unit,
                 std::optional<double> hold);
  // A time without a limit.
  void time_alone_row(std::string_view what, const Spread& measured, std::optional<double> hold_ns);
  // Of simulations: beside what another way of doing it gives. Shares of a whole; seconds.
  void share_row(std::string_view what, double measured, double other);
  void seconds_row(std::string_view what, double measured, double other);
  void note_row(std::string_view what, std::string_view why);

  // Keeps a row without printing it: its group prints a table of another form.
  void record(ResultRow row);

  void head() const;
  [[nodiscard]] unsigned misses() const noexcept { return misses_; }
  [[nodiscard]] const std::vector<ResultRow>& rows() const noexcept { return rows_; }

 private:
  std::string verdict(double measured, std::optional<double> hold);
  // Prints the row too.
  void add(ResultRow row);

  CallgrindCounts counts_;
  std::string group_;
  std::vector<ResultRow> rows_;
  unsigned misses_ = 0;
};

// 0.62 ns, 12.3 us.
[[nodiscard]] std::string time_text(double nanoseconds);
// In the unit of a row: 0.62 ns, 256 B, 12.3 %.
[[nodiscard]] std::string value_text(double value, std::string_view unit);

}  // namespace meterbank::bench
