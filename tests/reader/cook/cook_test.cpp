// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/cook.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "cook/cook_formula.hpp"

namespace meterbank::cook_test {
namespace {

constexpr CookOptions kUncapped{.cap_percent = false};

// Two seconds apart: 2,000 more, base 20 more, the object's clock 4,000 ticks of 2 kHz further.
constexpr RawValue kOlder{.value = 1000,
                          .base = 10,
                          .object_time = 5000,
                          .object_frequency = 2000,
                          .multi = 4,
                          .time_ns = 1'000'000'000};
constexpr RawValue kNewer{.value = 3000,
                          .base = 30,
                          .object_time = 9000,
                          .object_frequency = 2000,
                          .multi = 4,
                          .time_ns = 3'000'000'000};

struct Golden {
  CounterType type;
  int samples;  // 0: not for itself
  double value;
};
constexpr auto kGolden = std::to_array<Golden>({
    {CounterType::kRawCountHex, 1, 3000},
    {CounterType::kLargeRawCountHex, 1, 3000},
    {CounterType::kRawCount, 1, 3000},
    {CounterType::kLargeRawCount, 1, 3000},
    {CounterType::kDelta, 2, 2000},
    {CounterType::kLargeDelta, 2, 2000},
    {CounterType::kCounter, 2, 1000},
    {CounterType::kBulkCount, 2, 1000},
    {CounterType::kSampleCounter, 2, 1000},
    {CounterType::kQueueLength, 2, 1e-6},
    {CounterType::kLargeQueueLength, 2, 1e-6},
    {CounterType::kQueueLength100Ns, 2, 1e-4},
    {CounterType::kQueueLengthObject, 2, 0.5},
    {CounterType::kTimer, 2, 1e-4},
    {CounterType::kTimerInverse, 2, 99.9999},
    {CounterType::kTimer100Ns, 2, 0.01},
    {CounterType::kTimer100NsInverse, 2, 99.99},
    {CounterType::kTimerObject, 2, 50},
    {CounterType::kPrecisionSystemTimer, 2, 10000},
    {CounterType::kPrecision100NsTimer, 2, 10000},
    {CounterType::kPrecisionObjectTimer, 2, 10000},
    {CounterType::kMultiTimer, 2, 2.5e-5},
    {CounterType::kMultiTimerInverse, 2, 99.999975},
    {CounterType::kMultiTimer100Ns, 2, 0.0025},
    {CounterType::kMultiTimer100NsInverse, 2, 99.9975},
    {CounterType::kSampleFraction, 2, 10000},
    {CounterType::kRawFraction, 1, 10000},
    {CounterType::kLargeRawFraction, 1, 10000},
    {CounterType::kAverageTimer, 2, 1e-7},
    {CounterType::kAverageBulk, 2, 100},
    {CounterType::kElapsedTime, 1, 3},
    {CounterType::kNoData, 0, 0},
    {CounterType::kComposite, 0, 0},
    {CounterType::kSampleBase, 0, 0},
    {CounterType::kAverageBase, 0, 0},
    {CounterType::kRawBase, 0, 0},
    {CounterType::kLargeRawBase, 0, 0},
    {CounterType::kMultiBase, 0, 0},
});

RawValue with(RawValue raw, std::uint64_t value, std::uint64_t time_ns) {
  raw.value = value;
  raw.time_ns = time_ns;
  return raw;
}

CookStatus status_of(CounterType type, const RawValue* older, const RawValue& newer) {
  return cook(type, older, newer, kUncapped).status;
}

// The input that second_input_of() names is the one that changes the result, and no other is.
TEST(CookFormulas, NameTheSecondInputThatTheyTake) {
  const auto takes = [](CounterType type, auto change) {
    RawValue changed = kNewer;
    change(changed);
    return cook(type, &kOlder, changed, kUncapped).value !=
           cook(type, &kOlder, kNewer, kUncapped).value;
  };
  for (const TypeRow& row : type_rows()) {
    if (row.formula == Formula::kNone) continue;
    const SecondInput second = second_input_of(row.type);
    EXPECT_EQ(takes(row.type, [](RawValue& raw) { raw.base += 10; }), second == SecondInput::kBase);
    EXPECT_EQ(takes(row.type, [](RawValue& raw) { raw.object_time += 100; }),
              second == SecondInput::kObjectClock);
    EXPECT_EQ(takes(row.type, [](RawValue& raw) { raw.time_ns += 1'000'000; }),
              second == SecondInput::kPerformanceClock || second == SecondInput::k100NsClock);
  }
  EXPECT_EQ(second_input_of(CounterType::kTimer100Ns), SecondInput::k100NsClock);
  EXPECT_EQ(second_input_of(static_cast<CounterType>(0x12345678)), SecondInput::kNone);
}

TEST(CookFormulas, GiveTheGoldenValueOfEachType) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(name_of(golden.type));
    const CookedValue cooked = cook(golden.type, &kOlder, kNewer, kUncapped);
    EXPECT_EQ(cooked.status, golden.samples == 0 ? CookStatus::kNotCookable : CookStatus::kNew);
    EXPECT_NEAR(cooked.value, golden.value, std::abs(golden.value) * 1e-12);
  }
}

TEST(CookFormulas, AskForTwoSamplesWhereTheTypeNeedsThem) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(name_of(golden.type));
    EXPECT_EQ(needs_two_samples(golden.type), golden.samples == 2);
    const CookStatus expected = golden.samples == 0   ? CookStatus::kNotCookable
                                : golden.samples == 1 ? CookStatus::kNew
                                                      : CookStatus::kFirstSample;
    EXPECT_EQ(status_of(golden.type, nullptr, kNewer), expected);
  }
}

TEST(CookFormulas, ExistForEveryTypeOfTheTableAndNoOther) {
  std::set<std::uint32_t> golden;
  for (const Golden& each : kGolden) golden.insert(bits_of(each.type));
  std::set<std::uint32_t> rows;
  for (const TypeRow& row : type_rows()) {
    EXPECT_FALSE(name_of(row.type).empty());
    EXPECT_TRUE(rows.insert(bits_of(row.type)).second) << name_of(row.type) << " stands twice";
  }
  EXPECT_EQ(golden, rows);
  const auto histogram = static_cast<CounterType>(0x80000000);
  EXPECT_EQ(status_of(histogram, &kOlder, kNewer), CookStatus::kNotCookable);
  EXPECT_FALSE(needs_two_samples(histogram));
}

TEST(CookFormulas, TakeA32BitDeltaAcrossAWrap) {
  const RawValue before = with(kOlder, 0xfffffff0, 1'000'000'000);
  const RawValue after = with(kNewer, 0x10, 2'000'000'000);
  const CookedValue cooked = cook(CounterType::kCounter, &before, after);
  EXPECT_EQ(cooked.status, CookStatus::kNew);
  EXPECT_DOUBLE_EQ(cooked.value, 32);
}

TEST(CookFormulas, IgnoreWhatAWriterKeepsAboveTheWidthOfThe32BitValue) {
  const RawValue before = with(kOlder, 0x1'0000'0005, 1'000'000'000);
  const RawValue after = with(kNewer, 0x2'0000'0007, 2'000'000'000);
  EXPECT_DOUBLE_EQ(cook(CounterType::kCounter, &before, after).value, 2);
  EXPECT_DOUBLE_EQ(cook(CounterType::kRawCount, nullptr, after).value, 7);
}

TEST(CookFormulas, CallA64BitDecreaseAReset) {
  const RawValue before = with(kOlder, 10, 1);
  const RawValue after = with(kNewer, 9, 2);
  EXPECT_EQ(status_of(CounterType::kBulkCount, &before, after), CookStatus::kReset);
  EXPECT_EQ(status_of(CounterType::kLargeDelta, &before, after), CookStatus::kReset);
  EXPECT_EQ(status_of(CounterType::kAverageBulk, &before, after), CookStatus::kReset);
}

TEST(CookFormulas, RefuseTimeThatStandsStillOrGoesBack) {
  for (const std::uint64_t time : {std::uint64_t{1'000'000'000}, std::uint64_t{999'999'999}}) {
    const RawValue after = with(kNewer, 3000, time);
    EXPECT_EQ(status_of(CounterType::kBulkCount, &kOlder, after), CookStatus::kNegativeTime);
    EXPECT_EQ(status_of(CounterType::kTimer100NsInverse, &kOlder, after),
              CookStatus::kNegativeTime);
  }
  RawValue after = kNewer;
  after.object_time = kOlder.object_time;
  EXPECT_EQ(status_of(CounterType::kTimerObject, &kOlder, after), CookStatus::kNegativeTime);
}

TEST(CookFormulas, NeverDivideByABaseThatDidNotMove) {
  RawValue after = kNewer;
  after.base = kOlder.base;
  EXPECT_EQ(status_of(CounterType::kAverageBulk, &kOlder, after), CookStatus::kZeroBase);
  EXPECT_EQ(status_of(CounterType::kPrecisionSystemTimer, &kOlder, after), CookStatus::kZeroBase);
  after.base = 0;
  EXPECT_EQ(status_of(CounterType::kRawFraction, nullptr, after), CookStatus::kZeroBase);
  after.multi = 0;
  EXPECT_EQ(status_of(CounterType::kMultiTimer, &kOlder, after), CookStatus::kZeroBase);
  after.object_frequency = 0;
  EXPECT_EQ(status_of(CounterType::kElapsedTime, nullptr, after), CookStatus::kZeroBase);
}

TEST(CookFormulas, WrapA32BitBaseAndRefuseA64BitOneThatGoesBack) {
  RawValue before = kOlder;
  before.base = 0xffffffff;
  RawValue after = kNewer;
  after.base = 0xf;
  const CookedValue wrapped = cook(CounterType::kAverageBulk, &before, after, kUncapped);
  EXPECT_EQ(wrapped.status, CookStatus::kNew);
  EXPECT_DOUBLE_EQ(wrapped.value, 2000.0 / 16);
  after.base_bytes = 8;
  EXPECT_EQ(status_of(CounterType::kAverageBulk, &before, after), CookStatus::kNegativeBase);
  after.base_bytes = 0;
  EXPECT_EQ(status_of(CounterType::kPrecisionSystemTimer, &before, after),
            CookStatus::kNegativeBase);
}

TEST(CookFormulas, CapPercentagesUnlessToldNotTo) {
  EXPECT_DOUBLE_EQ(cook(CounterType::kSampleFraction, &kOlder, kNewer).value, 100);
  EXPECT_DOUBLE_EQ(cook(CounterType::kRawFraction, nullptr, kNewer).value, 100);
  const RawValue after = with(kNewer, 6'000'000'000, 3'000'000'000);
  EXPECT_DOUBLE_EQ(cook(CounterType::kTimer, &kOlder, after).value, 100);
  EXPECT_DOUBLE_EQ(cook(CounterType::kTimerInverse, &kOlder, after).value, 0);
  EXPECT_LT(cook(CounterType::kTimerInverse, &kOlder, after, kUncapped).value, 0);
}

TEST(CookFormulas, LeaveAnAverageAboveHundredAlone) {
  RawValue after = kNewer;
  after.value = 1000 + 20 * 250;  // a utility of 250 per cent is already scaled
  EXPECT_DOUBLE_EQ(cook(CounterType::kAverageBulk, &kOlder, after).value, 250);
}

TEST(CookFormulas, GiveNoElapsedTimeBeforeTheStart) {
  EXPECT_DOUBLE_EQ(cook(CounterType::kElapsedTime, nullptr, with(kNewer, 0, 0)).value, 0);
  EXPECT_DOUBLE_EQ(cook(CounterType::kElapsedTime, nullptr, with(kNewer, 9001, 0)).value, 0);
}

TEST(CookFormulas, TellAnUnchangedValueFromANewOne) {
  const RawValue after = with(kNewer, kOlder.value, 3'000'000'000);
  const CookedValue rate = cook(CounterType::kBulkCount, &kOlder, after);
  EXPECT_EQ(rate.status, CookStatus::kUnchanged);
  EXPECT_DOUBLE_EQ(rate.value, 0);
  EXPECT_EQ(status_of(CounterType::kRawCount, &kOlder, after), CookStatus::kUnchanged);
  EXPECT_EQ(status_of(CounterType::kRawCount, nullptr, after), CookStatus::kNew);
}

TEST(CookFormulas, TellAStampThatDidNotMoveFromAClockThatStoodStill) {
  RawValue before = kOlder;
  RawValue after = kNewer;
  after.time_ns = before.time_ns;
  before.stamped = after.stamped = true;
  EXPECT_EQ(status_of(CounterType::kBulkCount, &before, after), CookStatus::kNoNewSample);
  EXPECT_EQ(status_of(CounterType::kRawCount, &before, after), CookStatus::kNew);
  after.time_ns -= 1;
  EXPECT_EQ(status_of(CounterType::kBulkCount, &before, after), CookStatus::kNegativeTime);
}

TEST(CookFormulas, NeverGiveANanOrInfinity) {
  constexpr auto kValues = std::to_array<std::uint64_t>(
      {0, 1, 2, 0x7fffffff, 0xffffffff, 0x100000000, 1ULL << 63, ~0ULL});
  std::size_t cooked_count = 0;
  for (const TypeRow& row : type_rows()) {
    for (const std::uint64_t first : kValues) {
      for (const std::uint64_t second : kValues) {
        const RawValue before{first, second, first, second, second, first, 0, false};
        const RawValue after{second, first, second, first, first, second, 0, false};
        for (const CookOptions options : {CookOptions{}, kUncapped}) {
          const CookedValue cooked = cook(row.type, &before, after, options);
          EXPECT_TRUE(std::isfinite(cooked.value)) << name_of(row.type);
          EXPECT_TRUE(has_value(cooked.status) || cooked.value == 0) << name_of(row.type);
          cooked_count += has_value(cooked.status) ? 1U : 0U;
        }
      }
    }
  }
  EXPECT_GT(cooked_count, 0U);
}

TEST(CookStatus, HasANameForEachOutcome) {
  std::set<std::string_view> names;
  for (std::uint8_t status = 0; status <= static_cast<std::uint8_t>(CookStatus::kNoValue);
       ++status) {
    names.insert(name_of(static_cast<CookStatus>(status)));
  }
  EXPECT_EQ(names.size(), 14U);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace meterbank::cook_test
