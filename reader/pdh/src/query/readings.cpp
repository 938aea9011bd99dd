// SPDX-License-Identifier: Apache-2.0
#include "readings.hpp"

#include <optional>

#include "../names/found_counter.hpp"
#include "../names/row_numbers.hpp"
#include "format_value.hpp"

namespace meterbank::pdh {
namespace {

// Providers may declare a counter each in their own way; PDH knows one type.
bool is_of_type(const Value& value, const CounterView& counter) noexcept {
  return value.kind() == counter.type && value.counter->form == counter.form;
}

Reading reading_of(const Value& value, const Timestamp& time) {
  Reading reading;
  reading.name = value.row->name();
  reading.raw = value.raw;
  if (!holds_values(value.status())) {
    reading.status = reading.raw_status = status_of(value.status());
    return reading;
  }
  reading.value = value.cooked.value;
  reading.status = status_of(value.cooked.status);
  const CookStatus cooked = value.cooked.status;
  reading.raw_status =
      cooked == CookStatus::kUnchanged ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NEW_DATA;
  if (!value.row->is_total) return reading;
  // A total has the sum of the values, and no times or bases of its own.
  reading.raw.time_ns = time.monotonic_ns;
  const SecondInput second = second_input_of(value.kind());
  if (second == SecondInput::kBase || second == SecondInput::kObjectClock) {
    reading.raw_status = PDH_CSTATUS_INVALID_DATA;
  }
  return reading;
}

bool is_asked(const Reading& reading, const FoundCounter& counter) noexcept {
  return !counter.index || *counter.index == reading.number;
}

}  // namespace

std::vector<std::vector<Reading>> read_samples(const Sample& older, const Sample& newer,
                                               const std::vector<FoundCounter>& counters,
                                               CookOptions options) {
  std::vector<std::vector<Reading>> readings(counters.size());
  std::vector<RowNumbers> numbers(counters.size());
  for (const Row& row : newer.since(older, options)) {
    const FoundCounter& counter = counters[row.item];
    if (!is_shown(row)) continue;
    for (const Value& value : row) {
      if (!is_of_type(value, *counter.counter)) continue;
      Reading reading = reading_of(value, newer.time);
      reading.number = numbers[row.item].next(reading.name);
      if (is_asked(reading, counter)) readings[row.item].push_back(reading);
    }
  }
  return readings;
}

}  // namespace meterbank::pdh
