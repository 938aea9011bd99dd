// SPDX-License-Identifier: Apache-2.0
//
// The functions that give values of counters, formatted and as they are stored.
#include <cstddef>

#include "calls.hpp"
#include "meterbank/pdh/utf16_functions.h"
#include "query/format_value.hpp"
#include "text/caller_buffer.hpp"

namespace meterbank::pdh {
namespace {

// The one reading of a counter that is not a wildcard; null: there is none.
const Reading* only_reading(const LastValues& last) noexcept {
  return last.readings.empty() ? nullptr : last.readings.data();
}

CookOptions options_of(DWORD format) noexcept { return {.cap_percent = caps_percent(format)}; }

PDH_FMT_COUNTERVALUE formatted_reading(const Reading& reading, DWORD format, LONG scale) noexcept {
  return in_format(reading.status, scaled(reading.value, format, scale), format);
}

PDH_RAW_COUNTER raw_reading(const Reading& reading, const CounterView& counter,
                            std::int64_t local_time) noexcept {
  PDH_RAW_COUNTER raw{};
  if (is_good(reading.raw_status)) raw = raw_counter_of(reading.raw, counter, local_time);
  raw.CStatus = reading.raw_status;
  return raw;
}

void store_type(const CounterFacts& facts, LPDWORD type) noexcept {
  if (type != nullptr) *type = bits_of(facts.found.counter->type);
}

PDH_STATUS get_formatted(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                         PPDH_FMT_COUNTERVALUE value) noexcept {
  if (value == nullptr || !is_format(format)) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(number_of(counter), options_of(format),
                      [&](const CounterFacts& facts, const LastValues& last) -> PDH_STATUS {
                        if (facts.found.is_wildcard) return PDH_INVALID_ARGUMENT;
                        store_type(facts, type);
                        const Reading* const reading = only_reading(last);
                        *value = reading == nullptr
                                     ? in_format(last.absent, 0, format)
                                     : formatted_reading(*reading, format, facts.scale);
                        return result_of(value->CStatus);
                      });
  });
}

PDH_STATUS get_raw(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value) noexcept {
  if (value == nullptr) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(number_of(counter), {},
                      [&](const CounterFacts& facts, const LastValues& last) -> PDH_STATUS {
                        if (facts.found.is_wildcard) return PDH_INVALID_ARGUMENT;
                        store_type(facts, type);
                        const Reading* const reading = only_reading(last);
                        *value = PDH_RAW_COUNTER{};
                        value->CStatus = last.absent;
                        if (reading != nullptr) {
                          *value = raw_reading(*reading, *facts.found.counter, last.local_time);
                        }
                        return ERROR_SUCCESS;
                      });
  });
}

// Items with their names behind them; `make` gives an item without its name.
template <typename Character, typename Item, typename F>
PDH_STATUS fill_items(const LastValues& last, const CallerBuffer& buffer, LPDWORD count, F&& make) {
  if (last.readings.empty()) {
    const bool is_collected = last.absent != PDH_CSTATUS_ITEM_NOT_VALIDATED;
    return is_collected ? PDH_NO_DATA : PDH_INVALID_DATA;
  }
  PointingBlock<Character> block(buffer.target, last.readings.size() * sizeof(Item));
  std::size_t offset = 0;
  for (const Reading& reading : last.readings) {
    Item item = make(reading);
    item.szName = block.add(numbered_name(reading.name, reading.number));
    block.put(offset, item);
    offset += sizeof(Item);
  }
  *count = static_cast<DWORD>(last.readings.size());
  return buffer.fill(block.bytes());
}

template <typename Character, typename Item>
PDH_STATUS get_formatted_array(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count,
                               Item* items) noexcept {
  const CallerBuffer buffer{items, bytes};
  if (!buffer.is_sound() || count == nullptr || !is_format(format)) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(number_of(counter), options_of(format),
                      [&](const CounterFacts& facts, const LastValues& last) {
                        return fill_items<Character, Item>(
                            last, buffer, count, [&](const Reading& reading) {
                              Item item{};
                              item.FmtValue = formatted_reading(reading, format, facts.scale);
                              return item;
                            });
                      });
  });
}

template <typename Character, typename Item>
PDH_STATUS get_raw_array(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count, Item* items) noexcept {
  const CallerBuffer buffer{items, bytes};
  if (!buffer.is_sound() || count == nullptr) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(
        number_of(counter), {}, [&](const CounterFacts& facts, const LastValues& last) {
          return fill_items<Character, Item>(last, buffer, count, [&](const Reading& reading) {
            Item item{};
            item.RawValue = raw_reading(reading, *facts.found.counter, last.local_time);
            return item;
          });
        });
  });
}

// Of an object's clock as it was collected last.
std::uint64_t object_frequency_of(const LastValues& last) noexcept {
  const Reading* const reading = only_reading(last);
  return reading == nullptr ? 0 : reading->raw.object_frequency;
}

PDH_STATUS get_time_base(PDH_HCOUNTER counter, LONGLONG* base) noexcept {
  if (base == nullptr) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(number_of(counter), {},
                      [&](const CounterFacts& facts, const LastValues& last) -> PDH_STATUS {
                        *base = time_base_of(facts.found.counter->type, object_frequency_of(last));
                        return ERROR_SUCCESS;
                      });
  });
}

}  // namespace
}  // namespace meterbank::pdh

extern "C" {

PDH_STATUS PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                       PPDH_FMT_COUNTERVALUE value) {
  return meterbank::pdh::get_formatted(counter, format, type, value);
}
PDH_STATUS PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value) {
  return meterbank::pdh::get_raw(counter, type, value);
}

PDH_STATUS PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes,
                                        LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_A items) {
  return meterbank::pdh::get_formatted_array<char>(counter, format, bytes, count, items);
}
PDH_STATUS PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes,
                                        LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items) {
  return meterbank::pdh::get_formatted_array<wchar_t>(counter, format, bytes, count, items);
}
PDH_STATUS meterbank_utf16_PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format,
                                                        LPDWORD bytes, LPDWORD count,
                                                        PPDH_FMT_COUNTERVALUE_ITEM_W items) {
  return meterbank::pdh::get_formatted_array<char16_t>(counter, format, bytes, count, items);
}
PDH_STATUS PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                                  PPDH_RAW_COUNTER_ITEM_A items) {
  return meterbank::pdh::get_raw_array<char>(counter, bytes, count, items);
}
PDH_STATUS PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                                  PPDH_RAW_COUNTER_ITEM_W items) {
  return meterbank::pdh::get_raw_array<wchar_t>(counter, bytes, count, items);
}
PDH_STATUS meterbank_utf16_PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD bytes,
                                                  LPDWORD count, PPDH_RAW_COUNTER_ITEM_W items) {
  return meterbank::pdh::get_raw_array<char16_t>(counter, bytes, count, items);
}

PDH_STATUS PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG* base) {
  return meterbank::pdh::get_time_base(counter, base);
}

}  // extern "C"
