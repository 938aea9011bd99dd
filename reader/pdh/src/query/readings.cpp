// SPDX-License-Identifier: Apache-2.0
#include "readings.hpp"

#include <optional>

#include "../names/found_counter.hpp"
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

// Goes through the numbered rows of an item beside the rows of a sample, which are in their order.
class NumberWalk {
 public:
  explicit NumberWalk(const NumberedRows& rows) : rows_(&rows) {}

  std::uint32_t number_of(const Row& row) noexcept {
    if (row.is_total) return 0;
    while (at_ < rows_->size() && (*rows_)[at_].instance != row.instance) ++at_;
    return at_ < rows_->size() ? (*rows_)[at_].number : 0;
  }

 private:
  const NumberedRows* rows_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::vector<Reading>> read_samples(
    const Sample& older, const Sample& newer, const std::vector<FoundCounter>& counters,
    const std::vector<std::shared_ptr<const NumberedRows>>& rows, CookOptions options) {
  std::vector<std::vector<Reading>> readings(counters.size());
  std::vector<NumberWalk> walks;
  for (std::size_t item = 0; item < counters.size(); ++item) {
    readings[item].reserve(rows[item]->size() + 1);
    walks.emplace_back(*rows[item]);
  }
  for (const Row& row : newer.since(older, options)) {
    if (!is_shown(row)) continue;
    const FoundCounter& counter = counters[row.item];
    const std::uint32_t number = walks[row.item].number_of(row);
    for (const Value& value : row) {
      if (!is_of_type(value, *counter.counter)) continue;
      Reading reading = reading_of(value, newer.time);
      reading.number = number;
      if (is_asked(reading, counter)) readings[row.item].push_back(reading);
    }
  }
  return readings;
}

}  // namespace meterbank::pdh
