// SPDX-License-Identifier: Apache-2.0
//
// What became of one rule of `meterbank check`, row by row, over all samples that were looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/check/check_options.hpp"
#include "cli/check/condition_rows.hpp"

namespace meterbank::cli {

struct RowHistory {
  std::string label;             // "shop:demo_orders/eu/latency.p99"
  std::string subject;           // "latency.p99 of shop:demo_orders/eu"
  std::string host;              // in a recording of several machines, at the end of both
  std::optional<double> number;  // in base units, when it was bad last, else the last one
  std::string unit;              // of it
  std::string shown;             // it, or a text, for people
  std::string why_unknown;       // of the last sample that had no value
  std::uint64_t samples = 0, held = 0, unknown = 0;
  std::uint64_t unknown_later = 0;  // without a sample that has none before it, and so no rates
  std::uint64_t in_a_row = 0, most_in_a_row = 0;
  std::uint64_t last_sample = 0;
  std::uint64_t first_held_ns = 0, last_held_ns = 0;
};

class RuleHistory {
 public:
  RuleHistory(CheckState severity, ConditionRows rows)
      : severity_(severity), rows_(std::move(rows)) {}

  // Looks at the sample that was taken last.
  void look(const Sampler& sampler, const Selection& selection);

  [[nodiscard]] CheckState severity() const noexcept { return severity_; }
  [[nodiscard]] const Condition& condition() const noexcept { return rows_.condition(); }
  [[nodiscard]] const ConditionRows& source() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  // In the order in which they appeared.
  [[nodiscard]] const std::vector<RowHistory>& rows() const noexcept { return histories_; }
  // What the row means if the rule has to hold `needed` times in a row.
  [[nodiscard]] CheckState state_of(const RowHistory& row, std::uint64_t needed) const noexcept;

 private:
  RowHistory& history_of(const Value& row);

  CheckState severity_;
  ConditionRows rows_;
  std::vector<RowHistory> histories_;
  std::map<std::string, std::size_t> places_;
  std::uint64_t samples_ = 0;
};

}  // namespace meterbank::cli
