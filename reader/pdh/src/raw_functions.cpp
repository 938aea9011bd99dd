// SPDX-License-Identifier: Apache-2.0
//
// The functions that compute from raw values which a caller has kept.
#include <algorithm>
#include <span>

#include "calls.hpp"
#include "query/format_value.hpp"

namespace meterbank::pdh {
namespace {

// How the values of one counter are computed.
struct Rules {
  CounterType type = CounterType::kRawCount;
  ValueForm form = ValueForm::kUnsigned;
  std::uint32_t base_bytes = 0;
  LONGLONG time_base = 0;
  LONG scale = 0;
};

// The base that the counter's schema links it with tells where deltas of it wrap.
std::uint32_t base_bytes_of(const FoundCounter& found) noexcept {
  const std::uint32_t base = found.counter->base;
  return base == kNoCounter ? 0 : width_of(found.set->counters[base].type);
}

RawValue raw_value_by(const Rules& rules, const PDH_RAW_COUNTER& raw) noexcept {
  RawValue value = raw_value_of(raw, rules.type, rules.time_base);
  value.base_bytes = rules.base_bytes;
  return value;
}

CookedValue cooked_by(const Rules& rules, const PDH_RAW_COUNTER* older,
                      const PDH_RAW_COUNTER& newer, DWORD format) noexcept {
  const RawValue after = raw_value_by(rules, newer);
  const RawValue before = older == nullptr ? RawValue() : raw_value_by(rules, *older);
  CookedValue cooked = meterbank::cook(rules.type, older == nullptr ? nullptr : &before, after,
                                       {.cap_percent = caps_percent(format)});
  const bool has_sign = rules.form == ValueForm::kSigned || rules.form == ValueForm::kReal;
  if (has_sign) cooked.value = static_cast<double>(newer.FirstValue);
  return cooked;
}

PDH_STATUS format_pair(const Rules& rules, DWORD format, const PDH_RAW_COUNTER* newer,
                       const PDH_RAW_COUNTER* older, PPDH_FMT_COUNTERVALUE value) noexcept {
  const bool is_complete = older != nullptr || !needs_two_samples(rules.type);
  if (newer == nullptr || value == nullptr || !is_complete) return PDH_INVALID_ARGUMENT;
  for (const PDH_RAW_COUNTER* const raw : {newer, older}) {
    if (raw == nullptr || is_good(raw->CStatus)) continue;
    *value = in_format(raw->CStatus, 0, format);
    return PDH_INVALID_DATA;
  }
  *value = formatted(cooked_by(rules, older, *newer, format), format, rules.scale);
  return result_of(value->CStatus);
}

// `body` gets the rules of the counter.
template <typename F>
PDH_STATUS with_rules(PDH_HCOUNTER counter, F&& body) noexcept {
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(number_of(counter), {},
                      [&](const CounterFacts& facts, const LastValues& last) {
                        const CounterView& known = *facts.found.counter;
                        const std::uint64_t frequency =
                            last.readings.empty() ? 0 : last.readings.front().raw.object_frequency;
                        return body(Rules{known.type, known.form, base_bytes_of(facts.found),
                                          time_base_of(known.type, frequency), facts.scale});
                      });
  });
}

// Of a type alone. False: it takes another time base than this machine's.
bool rules_of_type(DWORD type, const LONGLONG* base, Rules& rules) noexcept {
  rules.type = static_cast<CounterType>(type);
  // Its value is a time of the performance clock, although its formula takes no time.
  const bool has_time = rules.type == CounterType::kAverageTimer;
  switch (second_input_of(rules.type)) {
    case SecondInput::kPerformanceClock:
      return base != nullptr && *base == time_base_of(rules.type, 0);
    case SecondInput::kObjectClock:
      if (base != nullptr) rules.time_base = *base;
      return base != nullptr && *base > 0;
    default:
      return !has_time || (base != nullptr && *base == time_base_of(rules.type, 0));
  }
}

// Smallest, largest and mean of the values that there are.
class Statistics {
 public:
  void add(double value) noexcept {
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = count_ == 0 ? value : std::max(max_, value);
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] PDH_STATISTICS in_format(DWORD format) const noexcept {
    const DWORD status = count_ == 0 ? PDH_CSTATUS_INVALID_DATA : PDH_CSTATUS_VALID_DATA;
    const double mean = count_ == 0 ? 0 : sum_ / count_;
    return {format, count_, pdh::in_format(status, min_, format),
            pdh::in_format(status, max_, format), pdh::in_format(status, mean, format)};
  }

 private:
  double min_ = 0, max_ = 0, sum_ = 0;
  DWORD count_ = 0;
};

PDH_STATISTICS statistics_of(const Rules& rules, DWORD format, DWORD first,
                             std::span<const PDH_RAW_COUNTER> ring) noexcept {
  Statistics statistics;
  const PDH_RAW_COUNTER* older = nullptr;
  for (std::size_t index = 0; index < ring.size(); ++index) {
    const PDH_RAW_COUNTER& newer = ring[(first + index) % ring.size()];
    if (!is_good(newer.CStatus)) continue;
    const CookedValue cooked = cooked_by(rules, older, newer, format);
    if (has_value(cooked.status)) statistics.add(scaled(cooked.value, format, rules.scale));
    older = &newer;
  }
  return statistics.in_format(format);
}

}  // namespace
}  // namespace meterbank::pdh

using meterbank::pdh::is_format;
using meterbank::pdh::Rules;

extern "C" {

PDH_STATUS PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format,
                                           PPDH_RAW_COUNTER newer, PPDH_RAW_COUNTER older,
                                           PPDH_FMT_COUNTERVALUE value) {
  if (!is_format(format)) return PDH_INVALID_ARGUMENT;
  return meterbank::pdh::with_rules(counter, [&](const Rules& rules) {
    return meterbank::pdh::format_pair(rules, format, newer, older, value);
  });
}
PDH_STATUS PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG* base, PPDH_RAW_COUNTER newer,
                                 PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value) {
  Rules rules;
  if (!is_format(format) || !meterbank::pdh::rules_of_type(type, base, rules)) {
    return PDH_INVALID_ARGUMENT;
  }
  return meterbank::pdh::format_pair(rules, format, newer, older, value);
}
PDH_STATUS PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                       PPDH_RAW_COUNTER values, PPDH_STATISTICS statistics) {
  const bool is_ring = values != nullptr && first < count;
  if (!is_format(format) || !is_ring || statistics == nullptr) return PDH_INVALID_ARGUMENT;
  return meterbank::pdh::with_rules(counter, [&](const Rules& rules) -> PDH_STATUS {
    *statistics = meterbank::pdh::statistics_of(rules, format, first, {values, count});
    return ERROR_SUCCESS;
  });
}

}  // extern "C"
