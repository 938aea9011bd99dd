// SPDX-License-Identifier: Apache-2.0
#include "compare/series.hpp"

#include <algorithm>

namespace meterbank::compare {

void Texts::add(std::string_view text) {
  if (contains(text)) return;
  if (seen.size() == kMost) {
    varies = true;
    return;
  }
  seen.emplace_back(text);
}

bool Texts::contains(std::string_view text) const {
  return std::find(seen.begin(), seen.end(), text) != seen.end();
}

double Series::weight_of(const RawValue& raw) const {
  constexpr std::uint64_t kWord = 0xffffffff;
  switch (weight) {
    case Weight::kOne:
      return 1;
    case Weight::kTime:
    case Weight::kPerSecond:
      return static_cast<double>(raw.time_ns - std::min(raw.time_ns, last_.time_ns)) / 1e9;
    case Weight::kBase: {
      const std::uint64_t more = raw.base - last_.base;
      return static_cast<double>(raw.base_bytes == 4 ? more & kWord : more);
    }
    case Weight::kObjectTime:
      return static_cast<double>(raw.object_time - std::min(raw.object_time, last_.object_time));
  }
  return 1;
}

void Series::take_number(const Value& value) {
  const double by = weight_of(value.raw);
  if (!(by > 0)) return;
  const double number = value.cooked.value;
  numbers.add(weight == Weight::kPerSecond ? number / by : number, by);
  if (value.distribution == nullptr) return;
  if (!values) values.emplace(value.distribution->shape);
  if (!values->add(*value.distribution)) changed_shape = true;
}

void Series::take(const Value& value, std::uint64_t tick) {
  if (tick_ == tick) has_namesakes = true;
  if (has_namesakes) return;
  // What is dead or closed stays what it was last: that is no sample of anything.
  const bool is_alive =
      value.status() == RowStatus::kFresh || value.status() == RowStatus::kCheckpoint;
  if (!is_alive) return;
  if (value.text) {
    texts.add(*value.text);
  } else if (has_value(value.cooked.status) && (weight == Weight::kOne || tick_ != kNever)) {
    take_number(value);
  }
  is_stamped = value.raw.stamped;
  // Where the provider has stored nothing new, the next value is one since the last.
  last_ = value.raw;
  tick_ = tick;
}

}  // namespace meterbank::compare
