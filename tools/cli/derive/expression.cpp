// SPDX-License-Identifier: Apache-2.0
#include "cli/derive/expression.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace meterbank::cli {

Term Expression::combine(Operation operation, const Term& left, const Term& right) {
  Term result = left.key.empty() ? right : left;
  result.status = has_value(left.status) ? right.status : left.status;
  result.value = 0;
  if (!has_value(result.status)) return result;
  double value = 0;
  switch (operation) {
    case Operation::kAdd:
      value = left.value + right.value;
      break;
    case Operation::kSubtract:
      value = left.value - right.value;
      break;
    case Operation::kMultiply:
      value = left.value * right.value;
      break;
    default:
      if (right.value == 0) {
        result.status = CookStatus::kZeroBase;
        return result;
      }
      value = left.value / right.value;
      break;
  }
  if (std::isfinite(value)) {
    result.value = value;
  } else {
    result.status = CookStatus::kNotCookable;
  }
  return result;
}

Terms Expression::join(Operation operation, const Terms& left, const Terms& right) {
  Terms joined{left.plain && right.plain, {}};
  if (left.plain || right.plain) {
    for (const auto& a : left.terms) {
      for (const auto& b : right.terms) joined.terms.push_back(combine(operation, a, b));
    }
    return joined;
  }
  std::map<std::string_view, const Term*> partners;
  for (const auto& term : right.terms) partners.emplace(term.key, &term);
  const auto without_partner = [&joined](Term term) {
    if (has_value(term.status)) term.status = CookStatus::kNoValue;
    joined.terms.push_back(std::move(term));
  };
  for (const auto& term : left.terms) {
    const auto partner = partners.find(term.key);
    if (partner == partners.end()) {
      without_partner(term);
      continue;
    }
    joined.terms.push_back(combine(operation, term, *partner->second));
    partners.erase(partner);
  }
  // In the order of the right side, those that the left one lacks.
  for (const auto& term : right.terms) {
    if (partners.contains(term.key)) without_partner(term);
  }
  return joined;
}

Term Expression::fold(Operation operation, const std::vector<Terms>& arguments) {
  Term result;
  std::size_t count = 0;
  for (const auto& argument : arguments) {
    // A total counts where nothing else does; else everything would count twice.
    const bool has_parts = std::any_of(argument.terms.begin(), argument.terms.end(),
                                       [](const Term& term) { return !term.is_total; });
    for (const auto& term : argument.terms) {
      if (term.is_total && has_parts) continue;
      // A sum of what happens to be there would look like the sum of all.
      if (!has_value(term.status)) return Term{{}, {}, {}, 0, term.status};
      if (count == 0) {
        result.value = term.value;
      } else if (operation == Operation::kMinimum) {
        result.value = std::min(result.value, term.value);
      } else if (operation == Operation::kMaximum) {
        result.value = std::max(result.value, term.value);
      } else {
        result.value += term.value;
      }
      ++count;
    }
  }
  if (count == 0) {
    result.status = CookStatus::kNoValue;
  } else if (operation == Operation::kAverage) {
    result.value /= static_cast<double>(count);
  }
  if (!std::isfinite(result.value)) return Term{{}, {}, {}, 0, CookStatus::kNotCookable};
  return result;
}

Terms Expression::evaluate(const std::function<Terms(std::size_t)>& terms_of) const {
  std::vector<Terms> stack;
  for (const auto& step : steps_) {
    switch (step.operation) {
      case Operation::kNumber:
        stack.push_back({true, {Term{{}, {}, {}, step.number, CookStatus::kNew}}});
        break;
      case Operation::kInput:
        stack.push_back(terms_of(step.count));
        break;
      case Operation::kNegate:
        for (auto& term : stack.back().terms) term.value = 0 - term.value;
        break;
      case Operation::kAdd:
      case Operation::kSubtract:
      case Operation::kMultiply:
      case Operation::kDivide: {
        const auto right = std::move(stack.back());
        stack.pop_back();
        stack.back() = join(step.operation, stack.back(), right);
        break;
      }
      case Operation::kSum:
      case Operation::kAverage:
      case Operation::kMinimum:
      case Operation::kMaximum: {
        const auto first = stack.end() - static_cast<std::ptrdiff_t>(step.count);
        const auto folded = fold(step.operation, std::vector<Terms>(first, stack.end()));
        stack.erase(first, stack.end());
        stack.push_back({true, {folded}});
        break;
      }
    }
  }
  return std::move(stack.back());
}

}  // namespace meterbank::cli
