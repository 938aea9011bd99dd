// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "cli/derive/expression.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// By recursive descent; each function takes what it is called after, or says what is missing.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  Result<Expression> parse() {
    skip_blanks();
    result_.name_ = take_word();
    if (result_.name_.empty()) return fail_at(at_, "a name, as in 'busy = 100 - {idle}'");
    if (!take('=')) return fail_at(at_, "'=' behind the name");
    return parse_formula();
  }

  Result<Expression> parse_formula(std::string name) {
    skip_blanks();
    result_.name_ = std::move(name);
    return parse_formula();
  }

 private:
  using Operation = Expression::Operation;

  Result<Expression> parse_formula() {
    if (text_.size() > kExpressionBytesMax) {
      return fail_at(kExpressionBytesMax, fmt::format("at most {} bytes", kExpressionBytesMax));
    }
    if (auto sum = parse_sum(); !sum) return tl::make_unexpected(sum.error());
    if (at_ != text_.size()) return fail_at(at_, "an operator or the end");
    return std::move(result_);
  }

  tl::unexpected<Error> fail_at(std::size_t offset, std::string_view expected) const {
    const auto rest = text_.substr(offset);
    const auto found = rest.empty() ? std::string("the end")
                                    : fmt::format("'{}'", rest.substr(0, decode_utf8(rest).length));
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} '{}', column {}: expected {}, found {}", what_, text_.substr(0, 200),
                    count_code_points(text_.substr(0, offset)) + 1, expected, found),
        "meterbank help expressions");
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char expected) {
    if (next() != expected || at_ == text_.size()) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  std::string take_word() {
    const auto begin = at_;
    while (begins_word(next()) || (at_ > begin && is_digit(next()))) ++at_;
    auto word = std::string(text_.substr(begin, at_ - begin));
    skip_blanks();
    return word;
  }
  void put(Operation operation, double number = 0, std::size_t count = 0) {
    result_.steps_.push_back({operation, number, count});
  }

  Result<void> parse_sum() {
    if (auto product = parse_product(); !product) return product;
    for (;;) {
      const bool add = next() == '+';
      if (!take('+') && !take('-')) return {};
      if (auto product = parse_product(); !product) return product;
      put(add ? Operation::kAdd : Operation::kSubtract);
    }
  }

  Result<void> parse_product() {
    if (auto factor = parse_factor(); !factor) return factor;
    for (;;) {
      const bool multiply = next() == '*';
      if (!take('*') && !take('/')) return {};
      if (auto factor = parse_factor(); !factor) return factor;
      put(multiply ? Operation::kMultiply : Operation::kDivide);
    }
  }

  Result<void> parse_factor() {
    // Deeper than any useful expression, and far from the end of the stack.
    constexpr int kDepthMax = 100;
    if (depth_ == kDepthMax) return fail_at(at_, "fewer than 100 levels of parentheses and signs");
    ++depth_;
    auto parsed = parse_factor_inside();
    --depth_;
    return parsed;
  }

  Result<void> parse_factor_inside() {
    if (take('-')) {
      if (auto factor = parse_factor(); !factor) return factor;
      put(Operation::kNegate);
      return {};
    }
    if (take('(')) {
      if (auto sum = parse_sum(); !sum) return sum;
      if (!take(')')) return fail_at(at_, "')'");
      return {};
    }
    if (next() == '{') return parse_path_in_braces();
    if (is_digit(next()) || next() == '.') return parse_number();
    if (begins_word(next())) return parse_word();
    return fail_at(at_, "a number, a counter, '{path}' or '('");
  }

  Result<void> parse_number() {
    double number = 0;
    const auto rest = text_.substr(at_);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) return fail_at(at_, "a number");
    at_ += static_cast<std::size_t>(end - rest.data());
    skip_blanks();
    put(Operation::kNumber, number);
    return {};
  }

  Result<void> parse_path_in_braces() {
    const auto end = text_.find('}', at_);
    if (end == std::string_view::npos) return fail_at(text_.size(), "'}' behind the path");
    const auto begin = at_ + 1;
    const auto text = text_.substr(begin, end - begin);
    const auto path = parse_path(text);
    if (!path) return fail_at(begin, fmt::format("a path ({})", path.error().what));
    const auto counter = path->second_word ? path->second_word->as_counter : path->counter;
    if (functions_ == 0 && (!counter || has_wildcard(*counter))) {
      return fail_at(begin, "one counter, or sum, avg, min or max around the path");
    }
    at_ = end + 1;
    skip_blanks();
    put_input({std::string(text), false, functions_ > 0});
    return {};
  }

  Result<void> parse_word() {
    struct Function {
      std::string_view name;
      Operation operation;
    };
    constexpr std::array kFunctions{
        Function{"sum", Operation::kSum}, Function{"avg", Operation::kAverage},
        Function{"min", Operation::kMinimum}, Function{"max", Operation::kMaximum}};
    const auto begin = at_;
    const auto word = take_word();
    if (next() != '(') {
      put_input({word, true, functions_ > 0});
      return {};
    }
    for (const auto& function : kFunctions) {
      if (word == function.name) return parse_arguments(function.operation);
    }
    return fail_at(begin, "sum, avg, min or max before '('");
  }

  Result<void> parse_arguments(Operation operation) {
    take('(');
    ++functions_;
    std::size_t arguments = 0;
    do {
      if (auto sum = parse_sum(); !sum) return sum;
      ++arguments;
    } while (take(','));
    if (!take(')')) return fail_at(at_, "',' or ')'");
    --functions_;
    put(operation, 0, arguments);
    return {};
  }

  void put_input(ExpressionInput input) {
    put(Operation::kInput, 0, result_.inputs_.size());
    result_.inputs_.push_back(std::move(input));
  }

  std::string_view text_;
  std::string_view what_;  // is parsed, for errors
  std::size_t at_ = 0;
  int depth_ = 0;
  int functions_ = 0;  // how many the place is within
  Expression result_;
};

Result<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text, "-e").parse();
}

Result<Expression> Expression::parse_formula(std::string_view text, std::string name,
                                             std::string_view what) {
  return ExpressionParser(text, what).parse_formula(std::move(name));
}

}  // namespace meterbank::cli
