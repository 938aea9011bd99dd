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
  const DistributionPlace place{row.counter->shape, row.counter->word, row.counter->more};
  auto seen = Distribution::of(place, newer);
  if (seen && !older.empty()) {
    const auto before = Distribution::of(place, older);
    seen = before ? seen->since(*before) : std::nullopt;
  }
  if (seen) {
    row.distribution = std::make_shared<const Distribution>(std::move(*seen));
  } else if (has_value(row.cooked.status)) {
    row.cooked = {0, CookStatus::kNotCookable};
  }
}

}  // namespace

void add_form(Words newer, Words older, CookedRow& row) {
  const CounterView& counter = *row.counter;
  if (counter.timed) row.set_ns = newer[counter.more + counter.more_words - 1];
  if (counter.form == ValueForm::kText) return add_text(newer, older, row);
  if (counter.form == ValueForm::kDistribution) return add_distribution(newer, older, row);
  if (!has_value(row.cooked.status)) return;
  if (counter.form == ValueForm::kSigned) {
    row.cooked.value = static_cast<double>(static_cast<std::int64_t>(row.raw.value));
  } else if (counter.form == ValueForm::kReal) {
    const auto value = std::bit_cast<double>(row.raw.value);
    row.cooked = std::isfinite(value) ? CookedValue{value, row.cooked.status}
                                      : CookedValue{0, CookStatus::kNotFinite};
  }
}

}  // namespace meterbank
