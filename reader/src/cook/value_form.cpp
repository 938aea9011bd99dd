// SPDX-License-Identifier: Apache-2.0
#include "value_form.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

std::string text_of(const CounterView& counter, Words words) {
  const std::uint32_t text_words = counter.more_words - (counter.timed ? 1 : 0);
  const std::uint64_t bytes = std::min<std::uint64_t>(words[counter.word], text_words * 8);
  std::string text(bytes, '\0');
  std::memcpy(text.data(), words.data() + counter.more, bytes);
  return is_valid_utf8(text) ? text : repair_utf8(text, text_words * 8).text;
}

void add_text(Words newer, Words older, CookedRow& row) {
  auto text = std::make_shared<const std::string>(text_of(*row.counter, newer));
  const bool is_same = !older.empty() && text_of(*row.counter, older) == *text;
  row.cooked = {0, is_same ? CookStatus::kUnchanged : CookStatus::kNew};
  row.text = std::move(text);
}

void add_distribution(Words newer, Words older, CookedRow& row) {
  auto seen = distribution_in(*row.counter, newer);
  if (seen && !older.empty()) {
    const auto before = distribution_in(*row.counter, older);
    seen = before ? seen->since(*before) : std::nullopt;
  }
  if (seen) {
    row.distribution = std::make_shared<const Distribution>(std::move(*seen));
  } else if (has_value(row.cooked.status)) {
    row.cooked = {0, CookStatus::kNotCookable};
  }
}

std::int64_t signed_of(std::uint64_t word) noexcept { return static_cast<std::int64_t>(word); }

}  // namespace

CookedValue cooked_in_form(const CounterView& counter, CookedValue plain,
                           std::uint64_t word) noexcept {
  if (!has_value(plain.status)) return plain;
  if (counter.form == ValueForm::kSigned) {
    return {static_cast<double>(signed_of(word)), plain.status};
  }
  if (counter.form != ValueForm::kReal) return plain;
  const auto value = std::bit_cast<double>(word);
  return std::isfinite(value) ? CookedValue{value, plain.status}
                              : CookedValue{0, CookStatus::kNotFinite};
}

std::uint64_t joined_in_form(const CounterView& counter, std::uint64_t so_far,
                             std::uint64_t next) noexcept {
  const bool is_ordered =
      counter.aggregate == kAggregateMinimum || counter.aggregate == kAggregateMaximum;
  if (counter.form == ValueForm::kReal) {
    return std::bit_cast<std::uint64_t>(
        joined(counter.aggregate, std::bit_cast<double>(so_far), std::bit_cast<double>(next)));
  }
  if (counter.form == ValueForm::kSigned && is_ordered) {
    return static_cast<std::uint64_t>(
        joined(counter.aggregate, signed_of(so_far), signed_of(next)));
  }
  return joined(counter.aggregate, so_far, next);  // sums wrap the same with and without a sign
}

std::uint64_t divided_in_form(const CounterView& counter, std::uint64_t sum,
                              std::uint64_t count) noexcept {
  if (counter.form == ValueForm::kReal) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(sum) / static_cast<double>(count));
  }
  if (counter.form == ValueForm::kSigned) {
    return static_cast<std::uint64_t>(signed_of(sum) / signed_of(count));
  }
  return sum / count;
}

std::optional<Distribution> distribution_in(const CounterView& counter, Words words) {
  return Distribution::of({counter.shape, counter.word, counter.more}, words);
}

void add_form(Words newer, Words older, CookedRow& row) {
  const CounterView& counter = *row.counter;
  if (counter.timed) row.set_ns = newer[counter.more + counter.more_words - 1];
  if (counter.form == ValueForm::kText) return add_text(newer, older, row);
  if (counter.form == ValueForm::kDistribution) return add_distribution(newer, older, row);
  row.cooked = cooked_in_form(counter, row.cooked, row.raw.value);
}

}  // namespace meterbank
