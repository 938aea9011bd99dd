// SPDX-License-Identifier: Apache-2.0
#include "value_form.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

void read_text(const CounterView& counter, Words words, std::string& text) {
  const std::uint32_t text_words = counter.more_words - (counter.timed ? 1 : 0);
  const std::uint64_t bytes = std::min<std::uint64_t>(words[counter.word], text_words * 8);
  text.resize(bytes);
  std::memcpy(text.data(), words.data() + counter.more, bytes);
  if (!is_valid_utf8(text)) text = repair_utf8(text, text_words * 8).text;
}

void add_text(Words newer, Words older, FormRoom& room, Value& value) {
  read_text(*value.counter, newer, room.text);
  if (!older.empty()) read_text(*value.counter, older, room.text_before);
  const bool is_same = !older.empty() && room.text_before == room.text;
  value.cooked = {0, is_same ? CookStatus::kUnchanged : CookStatus::kNew};
  value.text = room.text;
}

void add_distribution(Words newer, Words older, FormRoom& room, Value& value) {
  const CounterView& counter = *value.counter;
  bool is_sound = read_distribution(counter, newer, room.distribution);
  if (is_sound && !older.empty()) {
    is_sound =
        read_distribution(counter, older, room.before) && room.distribution.subtract(room.before);
  }
  if (is_sound) {
    value.distribution = &room.distribution;
  } else if (has_value(value.cooked.status)) {
    value.cooked = {0, CookStatus::kNotCookable};
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

std::uint64_t rounded(std::uint64_t real_bits) noexcept {
  constexpr double kBeyond = 0x1p63;
  const double whole = std::round(std::bit_cast<double>(real_bits));
  if (std::isnan(whole)) return 0;
  if (whole >= kBeyond) return std::uint64_t{1} << 63 ^ ~std::uint64_t{0};
  if (whole < -kBeyond) return std::uint64_t{1} << 63;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
}

std::uint64_t joined_in_form(ValueForm form, std::uint32_t aggregate, std::uint64_t so_far,
                             std::uint64_t next) noexcept {
  const bool is_ordered = aggregate == kAggregateMinimum || aggregate == kAggregateMaximum;
  if (form == ValueForm::kReal) {
    return std::bit_cast<std::uint64_t>(
        joined(aggregate, std::bit_cast<double>(so_far), std::bit_cast<double>(next)));
  }
  if (form == ValueForm::kSigned && is_ordered) {
    return static_cast<std::uint64_t>(joined(aggregate, signed_of(so_far), signed_of(next)));
  }
  return joined(aggregate, so_far, next);  // sums wrap the same with and without a sign
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

bool read_distribution(const CounterView& counter, Words words, Distribution& distribution) {
  return distribution.read({counter.shape, counter.word, counter.more}, words);
}

void add_form(Words newer, Words older, FormRoom& room, Value& value) {
  const CounterView& counter = *value.counter;
  if (counter.timed) value.set_ns = newer[counter.more + counter.more_words - 1];
  if (counter.form == ValueForm::kText) return add_text(newer, older, room, value);
  if (counter.form == ValueForm::kDistribution) return add_distribution(newer, older, room, value);
  value.cooked = cooked_in_form(counter, value.cooked, value.raw.value);
}

}  // namespace meterbank
