// SPDX-License-Identifier: Apache-2.0
//
// The one table that a run prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure.hpp"

namespace meterbank::bench {

class Table {
 public:
  // Judged by the median ratio.
  void ratio_row(std::string_view what, const Comparison& result, std::optional<double> hold);
  // Judged by the measured nanoseconds; the limit is there to compare with.
  void time_row(std::string_view what, const Comparison& result, std::optional<double> hold_ns);
  // Judged by a number of `unit`.
  void plain_row(std::string_view what, double measured, std::string_view unit,
                 std::optional<double> hold);
  // Of times that nothing is compared with.
  void time_alone_row(std::string_view what, const Spread& measured, std::optional<double> hold_ns);
  // Of simulations: beside what another way of doing it gives. Shares of a whole; seconds.
  void share_row(std::string_view what, double measured, double other);
  void seconds_row(std::string_view what, double measured, double other);
  void note_row(std::string_view what, std::string_view why);

  void head() const;
  [[nodiscard]] unsigned misses() const noexcept { return misses_; }

 private:
  std::string verdict(double measured, std::optional<double> hold);

  unsigned misses_ = 0;
};

// 0.62 ns, 12.3 us.
[[nodiscard]] std::string time_text(double nanoseconds);

}  // namespace meterbank::bench
