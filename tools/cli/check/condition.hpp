// SPDX-License-Identifier: Apache-2.0
//
// A condition on the values of counters, which states what is bad: "orders/*/latency.p99 > 5ms".
//
//   LEFT OP VALUE   LEFT   a path, a path of a distribution with a percentile behind it, or an
//                          expression, which has a path in braces
//                   OP     > >= < <= == !=
//                   VALUE  a number with an optional unit, or a text in quotes
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/derive/expression.hpp"
#include "cli/distribution/percentiles.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

enum class Comparison : std::uint8_t { kAbove, kAtLeast, kBelow, kAtMost, kEqual, kUnequal };

enum class Answer : std::uint8_t {
  kNo,
  kYes,
  kUnknown,  // the row has no value, or not one that can be compared
};

class Condition {
 public:
  // Errors are usage errors.
  [[nodiscard]] static Result<Condition> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& left() const noexcept { return left_; }
  // Of the counters, without a percentile; empty where there is an expression.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::optional<Percentile>& percentile() const noexcept { return percentile_; }
  [[nodiscard]] const std::optional<Expression>& expression() const noexcept { return expression_; }
  [[nodiscard]] Comparison comparison() const noexcept { return comparison_; }
  // In base units. Nothing: a text.
  [[nodiscard]] const std::optional<double>& number() const noexcept { return number_; }

  struct Finding {
    Answer answer = Answer::kUnknown;
    std::string why;  // it is not known: "no rate yet"
  };
  // Whether it holds for the value of this row, cooked.
  [[nodiscard]] Finding judge(const Value& row) const;

  // "above 5 ms", for a value of this unit.
  [[nodiscard]] std::string threshold_text(std::string_view unit) const;
  // As a range of monitoring plugins, which alert outside of it: "~:0.005". Precondition: number().
  [[nodiscard]] std::string plugin_range() const;

 private:
  [[nodiscard]] bool read_value(std::string_view word);
  Result<void> read_left();
  [[nodiscard]] Finding judge_text(std::string_view text) const;
  [[nodiscard]] Answer compare(double value) const;
  // What keeps a value of this unit from being compared with the number; empty: nothing.
  [[nodiscard]] std::string unit_clash(const std::string& unit) const;

  std::string text_, left_, path_;
  std::optional<Percentile> percentile_;
  std::optional<Expression> expression_;
  Comparison comparison_ = Comparison::kAbove;
  std::optional<double> number_;
  std::string unit_;  // of the number: a base unit, "/s" for any rate, or empty for any unit
  std::string typed_value_, wanted_text_;
};

}  // namespace meterbank::cli
