// SPDX-License-Identifier: Apache-2.0
//
// Expressions over counters, as `get -e` takes them: NAME = EXPRESSION, where an expression is made
// of numbers, + - * / and parentheses, paths in braces, bare words (counters of the selected set),
// and sum, avg, min and max.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

inline constexpr std::size_t kExpressionBytesMax = 4096;

struct ExpressionInput {
  std::string text;  // a path, or a bare word
  bool bare = false;
  bool many = false;  // within a function, so that it may mean several counters
};

// A number, or why there is none.
struct Term {
  std::string key;  // provider and instance; empty for a plain number
  std::string instance;
  const ProviderView* provider = nullptr;
  double value = 0;
  CookStatus status = CookStatus::kNew;
  std::uint32_t id = 0;      // of the instance
  bool shares_name = false;  // Row::shares_name of it
  bool is_total = false;     // of other terms, which may be there too
};
// One term that goes with everything, or a term an instance.
struct Terms {
  bool plain = true;
  std::vector<Term> terms;
};

class Expression {
 public:
  // Errors are usage errors that name the column, in characters from 1.
  [[nodiscard]] static Result<Expression> parse(std::string_view text);
  // Without "NAME =". Errors begin with `what` in place of "-e".
  [[nodiscard]] static Result<Expression> parse_formula(std::string_view text, std::string name,
                                                        std::string_view what);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<ExpressionInput>& inputs() const noexcept { return inputs_; }

  // `terms_of` is called with indexes in inputs(). Terms of both sides of an operator go together
  // by key. What has no number, is divided by zero or grows beyond a double has a status instead.
  [[nodiscard]] Terms evaluate(const std::function<Terms(std::size_t)>& terms_of) const;

 private:
  friend class ExpressionParser;

  enum class Operation : std::uint8_t {
    kNumber,
    kInput,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kSum,
    kAverage,
    kMinimum,
    kMaximum,
  };
  struct Step {
    Operation operation;
    double number = 0;
    std::size_t count = 0;  // an input's index, or how many arguments a function has
  };

  static Term combine(Operation operation, const Term& left, const Term& right);
  static Terms join(Operation operation, const Terms& left, const Terms& right);
  static Term fold(Operation operation, const std::vector<Terms>& arguments);

  std::string name_;
  std::vector<ExpressionInput> inputs_;
  std::vector<Step> steps_;  // in postfix order
};

}  // namespace meterbank::cli
