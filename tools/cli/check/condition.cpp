// SPDX-License-Identifier: Apache-2.0
#include "cli/check/condition.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/arguments/option_values.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

constexpr std::size_t kConditionBytesMax = kExpressionBytesMax;

struct Operator {
  std::string_view text;
  Comparison comparison;
  std::string_view words;  // between a value and the number
};
// Longer ones first.
constexpr std::array kOperators{Operator{">=", Comparison::kAtLeast, "at or above"},
                                Operator{"<=", Comparison::kAtMost, "at or below"},
                                Operator{"==", Comparison::kEqual, "equal to"},
                                Operator{"!=", Comparison::kUnequal, "not equal to"},
                                Operator{">", Comparison::kAbove, "above"},
                                Operator{"<", Comparison::kBelow, "below"}};

constexpr double kKibi = 1024;

struct UnitWord {
  std::string_view word, unit;
  double factor, divisor;
};
constexpr std::array kUnitWords{UnitWord{"%", "%", 1, 1},
                                UnitWord{"ns", "s", 1, 1e9},
                                UnitWord{"us", "s", 1, 1e6},
                                UnitWord{"µs", "s", 1, 1e6},
                                UnitWord{"ms", "s", 1, 1e3},
                                UnitWord{"s", "s", 1, 1},
                                UnitWord{"m", "s", 60, 1},
                                UnitWord{"min", "s", 60, 1},
                                UnitWord{"h", "s", 3600, 1},
                                UnitWord{"d", "s", 86400, 1},
                                UnitWord{"B", "By", 1, 1},
                                UnitWord{"By", "By", 1, 1},
                                UnitWord{"kB", "By", 1e3, 1},
                                UnitWord{"MB", "By", 1e6, 1},
                                UnitWord{"GB", "By", 1e9, 1},
                                UnitWord{"TB", "By", 1e12, 1},
                                UnitWord{"KiB", "By", kKibi, 1},
                                UnitWord{"MiB", "By", kKibi* kKibi, 1},
                                UnitWord{"GiB", "By", kKibi* kKibi* kKibi, 1},
                                UnitWord{"TiB", "By", kKibi* kKibi* kKibi* kKibi, 1},
                                UnitWord{"Hz", "Hz", 1, 1},
                                UnitWord{"kHz", "Hz", 1e3, 1},
                                UnitWord{"MHz", "Hz", 1e6, 1},
                                UnitWord{"GHz", "Hz", 1e9, 1},
                                UnitWord{"", "", 1, 1},
                                UnitWord{"k", "", 1e3, 1},
                                UnitWord{"M", "", 1e6, 1},
                                UnitWord{"G", "", 1e9, 1},
                                UnitWord{"T", "", 1e12, 1}};

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// The text between quotes that reach from end to end. A quote inside is one of the other kind.
std::optional<std::string_view> quoted(std::string_view word) {
  if (word.size() < 2 || (word.front() != '"' && word.front() != '\'')) return std::nullopt;
  if (word.find(word.front(), 1) != word.size() - 1) return std::nullopt;
  return word.substr(1, word.size() - 2);
}

// The percentile that a path ends with, as "latency.p99" does; what is left is in `path`.
Result<std::optional<Percentile>> take_percentile(std::string& path) {
  const auto mark = path.rfind(".p");
  if (mark == std::string::npos || mark + 2 == path.size()) return std::optional<Percentile>();
  const auto word = std::string_view(path).substr(mark + 2);
  if (word.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::optional<Percentile>();
  }
  const auto parsed = parse_percentiles(word);
  if (!parsed) return usage(fmt::format("'{}' is not a percentile", word), "latency.p99");
  path.resize(mark);
  return std::optional(parsed->front());
}

// Words of a status for people: "no rate yet".
std::string status_text(const Value& row) {
  std::string words(status_word(row));
  for (char& c : words) {
    if (c == '-') c = ' ';
  }
  return words;
}

}  // namespace

bool Condition::read_value(std::string_view word) {
  typed_value_ = word;
  number_.reset();
  if (const auto text = quoted(word)) {
    wanted_text_ = *text;
    return comparison_ == Comparison::kEqual || comparison_ == Comparison::kUnequal;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return false;
  auto unit = without_blanks(word.substr(static_cast<std::size_t>(end - word.data())));
  const bool per_second = unit.ends_with("/s");
  if (per_second) unit.remove_suffix(2);
  const std::string_view per = per_second ? "/s" : "";
  for (const UnitWord& known : kUnitWords) {
    if (known.word != unit) continue;
    number_ = number * known.factor / known.divisor;
    unit_ = std::string(known.unit).append(per);
    return std::isfinite(*number_);
  }
  // As a manifest has it: "{order}", "Cel". It then has to be the unit of the counter.
  if (unit.find_first_of("0123456789+-.") == 0) return false;
  if (unit.find_first_of(" \t<>=!'\"/") != std::string_view::npos) return false;
  number_ = number;
  unit_ = std::string(unit).append(per);
  return true;
}

Result<Condition> Condition::parse(std::string_view text) {
  if (text.size() > kConditionBytesMax) {
    return usage(fmt::format("a condition has more than {} bytes", kConditionBytesMax),
                 "a shorter one");
  }
  Condition condition;
  condition.text_ = without_blanks(text);
  const std::string_view whole = condition.text_;
  bool has_operator = false;
  // An instance may be called "a>b", so it is the first operator with a value behind it.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const Operator& one : kOperators) {
      if (!whole.substr(at).starts_with(one.text)) continue;
      has_operator = true;
      condition.comparison_ = one.comparison;
      if (!condition.read_value(without_blanks(whole.substr(at + one.text.size())))) break;
      condition.left_ = without_blanks(whole.substr(0, at));
      if (auto read = condition.read_left(); !read) return tl::make_unexpected(read.error());
      return condition;
    }
  }
  const auto shown = escape_for_terminal(whole.substr(0, 200));
  if (!has_operator) {
    return usage(fmt::format("'{}' has none of > >= < <= == !=", shown),
                 "'orders/*/latency.p99 > 5ms'");
  }
  return usage(fmt::format("'{}' does not end with a number, a number with a unit, or after == and "
                           "!= a text in quotes",
                           shown),
               "'orders/*/latency.p99 > 5ms'");
}

Result<void> Condition::read_left() {
  if (left_.empty()) {
    return usage(fmt::format("'{}' compares nothing", escape_for_terminal(text_)),
                 "'orders/*/latency.p99 > 5ms'");
  }
  if (left_.find('{') != std::string::npos) {
    auto expression = Expression::parse_formula(left_, "value", "condition");
    if (!expression) return tl::make_unexpected(expression.error());
    if (!number_) {
      return usage(fmt::format("'{}': an expression is not a text", escape_for_terminal(text_)),
                   "a number behind the comparison");
    }
    expression_ = *std::move(expression);
    return {};
  }
  path_ = left_;
  auto percentile = take_percentile(path_);
  if (!percentile) return tl::make_unexpected(percentile.error());
  percentile_ = *percentile;
  const auto path = meterbank::parse_path(path_);
  if (!path) return tl::make_unexpected(path.error());
  return {};
}

Answer Condition::compare(double value) const {
  const double limit = *number_;
  bool holds = false;
  switch (comparison_) {
    case Comparison::kAbove:
      holds = value > limit;
      break;
    case Comparison::kAtLeast:
      holds = value >= limit;
      break;
    case Comparison::kBelow:
      holds = value < limit;
      break;
    case Comparison::kAtMost:
      holds = value <= limit;
      break;
    case Comparison::kEqual:
      holds = value == limit;
      break;
    case Comparison::kUnequal:
      holds = value != limit;
      break;
  }
  return holds ? Answer::kYes : Answer::kNo;
}

std::string Condition::unit_clash(const std::string& unit) const {
  // What an expression makes has no unit of its own.
  if (expression_ || unit_.empty() || unit_ == unit) return {};
  if (unit_ == "/s" && !per_second(unit).empty()) return {};
  return fmt::format("cannot be compared with {}: its unit is {}", typed_value_,
                     unit.empty() || unit == "1" ? "1, a plain number" : unit);
}

Condition::Finding Condition::judge_text(std::string_view text) const {
  if (number_) return {Answer::kUnknown, "is a text and cannot be compared with a number"};
  const bool same = text == wanted_text_;
  return {same == (comparison_ == Comparison::kEqual) ? Answer::kYes : Answer::kNo, {}};
}

Condition::Finding Condition::judge(const Value& row) const {
  // Its last values may be old.
  if (row.status() == RowStatus::kDead || !row_has_value(row, false)) {
    const std::string status = status_text(row);
    return {Answer::kUnknown, status == "no value" ? "has no value" : "has no value: " + status};
  }
  if (row.text) return judge_text(*row.text);
  if (!number_) return {Answer::kUnknown, "is a number and cannot be compared with a text"};
  const auto value = in_base_unit(row.cooked.value, cooked_unit(*row.counter));
  if (auto clash = unit_clash(value.unit); !clash.empty()) {
    return {Answer::kUnknown, std::move(clash)};
  }
  if (!std::isfinite(value.value)) return {Answer::kUnknown, "has no value: not finite"};
  const auto answer = compare(value.value);
  const auto side = side_of(row.cooked.status);
  if (side == Quantile::Side::kWithin) return {answer, {}};
  // The value is somewhere beyond the end of the buckets, of which the number says nothing unless
  // both have the same answer.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool above = side == Quantile::Side::kAbove;
  if (above && comparison_ == Comparison::kAbove && value.value == *number_) {
    return {Answer::kYes, {}};
  }
  if (compare(above ? kInfinity : -kInfinity) == answer && comparison_ != Comparison::kEqual &&
      comparison_ != Comparison::kUnequal) {
    return {answer, {}};
  }
  return {Answer::kUnknown, "lies beyond the buckets of its distribution"};
}

std::string Condition::threshold_text(std::string_view unit) const {
  for (const Operator& one : kOperators) {
    if (one.comparison != comparison_) continue;
    if (!number_) return fmt::format("{} {}", one.words, typed_value_);
    const auto shown = expression_ ? typed_value_ : print_quantity(*number_, unit);
    return fmt::format("{} {}", one.words, shown);
  }
  return {};
}

std::string Condition::plugin_range() const {
  const auto limit = print_decimal(*number_);
  switch (comparison_) {
    case Comparison::kAbove:
      return "~:" + limit;
    case Comparison::kAtLeast:
      return "@" + limit + ":";
    case Comparison::kBelow:
      return limit + ":";
    case Comparison::kAtMost:
      return "@~:" + limit;
    case Comparison::kEqual:
      return "@" + limit + ":" + limit;
    case Comparison::kUnequal:
      return limit + ":" + limit;
  }
  return {};
}

}  // namespace meterbank::cli
