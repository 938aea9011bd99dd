// SPDX-License-Identifier: Apache-2.0
#include "raw_counter.hpp"

#include <ctime>

#include "meterbank/windows/perf_time.hpp"

namespace meterbank::pdh {
namespace {

constexpr std::int64_t kStepsPerSecond = 10'000'000;  // of 100 ns
constexpr std::uint64_t kNanosecondsPerStep = 100;

std::uint64_t second_value_of(const RawValue& raw, CounterType type) noexcept {
  switch (second_input_of(type)) {
    case SecondInput::kBase:
      return raw.base;
    case SecondInput::kPerformanceClock:
      return raw.time_ns;
    case SecondInput::k100NsClock:
      return raw.time_ns / kNanosecondsPerStep;
    case SecondInput::kObjectClock:
      return raw.object_time;
    case SecondInput::kNone:
      break;
  }
  return 0;
}

}  // namespace

std::int64_t time_base_of(CounterType type, std::uint64_t object_frequency) noexcept {
  switch (second_input_of(type)) {
    case SecondInput::k100NsClock:
      return kStepsPerSecond;
    case SecondInput::kObjectClock:
      return static_cast<std::int64_t>(object_frequency);
    default:
      return kTicksPerSecond;
  }
}

std::int64_t local_time_of(const Timestamp& time) noexcept {
  const auto seconds = static_cast<std::time_t>(time.realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return windows_time_of(time.realtime_ns) + fields.tm_gmtoff * kStepsPerSecond;
}

PDH_RAW_COUNTER raw_counter_of(const RawValue& raw, const CounterView& counter,
                               std::int64_t local_time) noexcept {
  PDH_RAW_COUNTER result{};
  const auto stamp = static_cast<std::uint64_t>(local_time);
  result.TimeStamp = {static_cast<DWORD>(stamp), static_cast<DWORD>(stamp >> 32)};
  result.FirstValue = static_cast<LONGLONG>(whole_of(raw.value, counter.form));
  result.SecondValue = static_cast<LONGLONG>(second_value_of(raw, counter.type));
  result.MultiCount = static_cast<DWORD>(raw.multi);
  return result;
}

RawValue raw_value_of(const PDH_RAW_COUNTER& raw, CounterType type,
                      std::int64_t time_base) noexcept {
  RawValue value;
  value.value = static_cast<std::uint64_t>(raw.FirstValue);
  value.multi = raw.MultiCount;
  const auto second = static_cast<std::uint64_t>(raw.SecondValue);
  switch (second_input_of(type)) {
    case SecondInput::kBase:
      value.base = second;
      break;
    case SecondInput::kPerformanceClock:
      value.time_ns = second;
      break;
    case SecondInput::k100NsClock:
      value.time_ns = second * kNanosecondsPerStep;
      break;
    case SecondInput::kObjectClock:
      value.object_time = second;
      value.object_frequency = static_cast<std::uint64_t>(time_base);
      break;
    case SecondInput::kNone:
      break;
  }
  return value;
}

}  // namespace meterbank::pdh
