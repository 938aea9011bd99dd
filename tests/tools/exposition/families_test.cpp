// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "exposition/family/family.hpp"
#include "exposition/family/metric_name.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::exposition {
namespace {

TEST(MetricNames, AreWordsOfLowerCaseLettersAndDigits) {
  EXPECT_EQ(snake_case("% Processor Time"), "processor_time");
  EXPECT_EQ(snake_case("I/O  Bytes/sec"), "i_o_bytes_sec");
  EXPECT_EQ(snake_case("größe"), "gr_e");
  EXPECT_EQ(snake_case("!?"), "");
}

TEST(MetricNames, EndWithTheBaseUnit) {
  EXPECT_EQ(with_unit_last("bytes_received", "bytes"), "received_bytes");
  EXPECT_EQ(with_unit_last("received_bytes", "bytes"), "received_bytes");
  EXPECT_EQ(with_unit_last("bytes", "bytes"), "bytes");
  EXPECT_EQ(with_unit_last("kilobytes_read", "bytes"), "kilobytes_read_bytes");
  EXPECT_EQ(with_unit_last("received", ""), "received");
  EXPECT_EQ(with_unit_instead("free_megabytes", "bytes"), "free_bytes");
  EXPECT_EQ(with_unit_instead("avg_sec_per_read", "seconds"), "avg_per_read_seconds");
}

TEST(MetricNames, HaveAWordForAUnitAndItsScale) {
  EXPECT_EQ(unit_word_of("ms").word, "seconds");
  EXPECT_EQ(unit_word_of("ms").divisor, 1000);
  EXPECT_EQ(unit_word_of("KiBy/s").word, "bytes_per_second");
  EXPECT_EQ(unit_word_of("KiBy/s").factor, 1024);
  EXPECT_EQ(unit_word_of("%").word, "ratio");
  EXPECT_EQ(unit_word_of("%").divisor, 100);
  EXPECT_EQ(unit_word_of("{order}").word, "");
  EXPECT_EQ(stored_unit_word_of("us").word, "microseconds");
  EXPECT_EQ(stored_unit_word_of("s").word, "seconds");
}

struct Expected {
  CounterType type;
  FamilyType family;
  std::string_view name;
  NumberSource::Rule rule;
  double divisor;
};

class FamilyTable : public ::testing::TestWithParam<Expected> {};

// A counter "busy" in a set with one counter of each kind that others refer to.
Counterset set_with(CounterType type) {
  Counterset set;
  set.symbol = "set";
  const auto add = [&set](CounterType of, std::string symbol) -> CounterView& {
    CounterView& counter = set.counters.emplace_back();
    counter.id = counter.word = static_cast<std::uint32_t>(set.counters.size() - 1);
    counter.type = of;
    counter.symbol = std::move(symbol);
    return counter;
  };
  add(type, "busy");
  add(CounterType::kAverageBase, "operations");
  add(CounterType::kLargeRawCount, "clock");
  add(CounterType::kLargeRawCount, "clock_frequency");
  set.counters[0].base = 1;
  set.counters[0].time = 2;
  set.counters[0].frequency = 3;
  return set;
}

TEST_P(FamilyTable, SaysWhatACounterTypeBecomes) {
  const Expected& expected = GetParam();
  const Counterset set = set_with(expected.type);
  constexpr std::array<std::uint32_t, 1> kFirst = {0};
  const std::vector<Family> families = families_of(set, kFirst, {.prefix = "x_", .rules = {}});
  ASSERT_FALSE(families.empty());
  EXPECT_EQ(families[0].type, expected.family);
  EXPECT_EQ(families[0].name, expected.name);
  EXPECT_EQ(families[0].value.rule, expected.rule);
  EXPECT_EQ(families[0].value.divisor, expected.divisor);
  EXPECT_EQ(families[0].value.word, 0U);
  EXPECT_EQ(families[0].count.word, expected.family == FamilyType::kSummary ? 1U : kNoCounter);
}

using Rule = NumberSource::Rule;
constexpr auto kCounter = FamilyType::kCounter;
constexpr auto kGauge = FamilyType::kGauge;
INSTANTIATE_TEST_SUITE_P(
    Types, FamilyTable,
    ::testing::Values(
        Expected{CounterType::kCounter, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kBulkCount, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kSampleCounter, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kDelta, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kLargeDelta, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kRawCount, kGauge, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kLargeRawCount, kGauge, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kRawCountHex, kGauge, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kLargeRawCountHex, kGauge, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kTimer, kCounter, "x_set_busy_seconds", Rule::kUnsigned, 1e9},
        Expected{CounterType::kTimerInverse, kCounter, "x_set_busy_idle_seconds", Rule::kUnsigned,
                 1e9},
        Expected{CounterType::kTimer100Ns, kCounter, "x_set_busy_seconds", Rule::kUnsigned, 1e7},
        Expected{CounterType::kTimer100NsInverse, kCounter, "x_set_busy_idle_seconds",
                 Rule::kUnsigned, 1e7},
        Expected{CounterType::kTimerObject, kCounter, "x_set_busy_seconds", Rule::kOfClock, 1},
        Expected{CounterType::kPrecisionSystemTimer, kCounter, "x_set_busy_seconds",
                 Rule::kUnsigned, 1e9},
        Expected{CounterType::kPrecision100NsTimer, kCounter, "x_set_busy_seconds", Rule::kUnsigned,
                 1e7},
        Expected{CounterType::kPrecisionObjectTimer, kCounter, "x_set_busy_seconds", Rule::kOfClock,
                 1},
        Expected{CounterType::kMultiTimer, kCounter, "x_set_busy_seconds", Rule::kUnsigned, 1e9},
        Expected{CounterType::kMultiTimer100Ns, kCounter, "x_set_busy_seconds", Rule::kUnsigned,
                 1e7},
        Expected{CounterType::kMultiTimerInverse, kCounter, "x_set_busy_idle_seconds",
                 Rule::kUnsigned, 1e9},
        Expected{CounterType::kMultiTimer100NsInverse, kCounter, "x_set_busy_idle_seconds",
                 Rule::kUnsigned, 1e7},
        Expected{CounterType::kQueueLength, kCounter, "x_set_busy_seconds", Rule::kUnsigned, 1e9},
        Expected{CounterType::kLargeQueueLength, kCounter, "x_set_busy_seconds", Rule::kUnsigned,
                 1e9},
        Expected{CounterType::kQueueLength100Ns, kCounter, "x_set_busy_seconds", Rule::kUnsigned,
                 1e7},
        Expected{CounterType::kQueueLengthObject, kCounter, "x_set_busy_seconds", Rule::kOfClock,
                 1},
        Expected{CounterType::kAverageTimer, FamilyType::kSummary, "x_set_busy_seconds",
                 Rule::kUnsigned, 1e9},
        Expected{CounterType::kAverageBulk, FamilyType::kSummary, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kSampleFraction, kCounter, "x_set_busy", Rule::kUnsigned, 1},
        Expected{CounterType::kRawFraction, kGauge, "x_set_busy_ratio", Rule::kShare, 1},
        Expected{CounterType::kLargeRawFraction, kGauge, "x_set_busy_ratio", Rule::kShare, 1},
        Expected{CounterType::kElapsedTime, kGauge, "x_set_busy_start_time_seconds",
                 Rule::kStartTime, 1}));

TEST(Families, HaveBothPartsOfASampledShare) {
  const Counterset set = set_with(CounterType::kSampleFraction);
  constexpr std::array<std::uint32_t, 1> kFirst = {0};
  const std::vector<Family> families = families_of(set, kFirst, {.prefix = "x_", .rules = {}});
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[1].name, "x_set_operations");
  EXPECT_EQ(families[1].type, FamilyType::kCounter);
}

TEST(Families, DoNotExistForTypesWithoutANumber) {
  constexpr std::array<std::uint32_t, 1> kFirst = {0};
  for (const CounterType type : {CounterType::kNoData, CounterType::kComposite,
                                 CounterType::kAverageBase, CounterType::kMultiBase}) {
    EXPECT_TRUE(families_of(set_with(type), kFirst, {.prefix = "x_", .rules = {}}).empty());
  }
}

}  // namespace
}  // namespace meterbank::exposition
