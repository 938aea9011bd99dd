// SPDX-License-Identifier: Apache-2.0
//
// Aggregated rows whose counters do not all say how they are joined.
#include <optional>

#include "perf_fixture.hpp"

namespace meterbank::test::aggregate_rules_test {
namespace {

// As a manifest is often written: a function for what is shown, none for what stands beside it.
constexpr std::array kCounters{
    CounterSpec{.id = 1,
                .name = "Passengers",
                .symbol = "passengers",
                .type = CounterType::kRawCount,
                .aggregate = kAggregateSum},
    CounterSpec{
        .id = 2, .name = "Timetable", .symbol = "timetable", .type = CounterType::kLargeRawCount},
    CounterSpec{.id = 3, .type = CounterType::kRawBase},
    CounterSpec{.id = 4,
                .name = "% Occupancy",
                .symbol = "occupancy",
                .type = CounterType::kRawFraction,
                .base = 3,
                .aggregate = kAggregateMaximum},
    CounterSpec{.id = 5,
                .name = "Fare",
                .symbol = "fare",
                .type = CounterType::kAverageBulk,
                .base = 6,
                .aggregate = kAggregateAverage},
    CounterSpec{.id = 6, .type = CounterType::kAverageBase},
    CounterSpec{.id = 7,
                .name = "Crossing",
                .symbol = "crossing",
                .type = CounterType::kElapsedTime,
                .time = 8,
                .frequency = 9,
                .aggregate = kAggregateSum},
    CounterSpec{.id = 8, .name = "Now", .symbol = "now", .type = CounterType::kLargeRawCount},
    CounterSpec{.id = 9, .name = "Ticks", .symbol = "ticks", .type = CounterType::kLargeRawCount}};

using Numbers = std::map<std::uint32_t, std::uint64_t>;

class PerfAggregates : public PerfTest {
 protected:
  static CountersetSpec ferries(InstanceKind kind) {
    return {.name = "Ferries",
            .symbol = "ferries",
            .guid = "{7d2b9e50-4c13-4f8a-a6e7-90b1c5d8f324}"_guid,
            .instances = kind,
            .counters = kCounters};
  }
  static void set(Instance& row, const std::array<std::uint64_t, kCounters.size()>& numbers) {
    row.update([&numbers](Values& values) noexcept {
      for (std::uint32_t word = 0; word < numbers.size(); ++word) values.set(word, numbers[word]);
    });
  }
  static constexpr std::array<std::uint64_t, kCounters.size()> kFirst{5,  70,  100,  40, 1000,
                                                                      10, 300, 1000, 10};
  static constexpr std::array<std::uint64_t, kCounters.size()> kSecond{6,  71,  200,  60, 3000,
                                                                       30, 100, 2000, 10};
  // The counters 2, 3, 6, 8 and 9 have no function.
  static inline const Numbers kJoined{{1, 11}, {2, 70},  {3, 200},  {4, 60}, {5, 2000},
                                      {6, 20}, {7, 400}, {8, 3000}, {9, 20}};
};

TEST_F(PerfAggregates, KeepTheBytesOfCountersWithoutAFunction) {
  const CountersetSpec spec = ferries(InstanceKind::kGlobalAggregate);
  Provider oldest = provider("oldest");
  const Registration its = *oldest.add(spec);
  Instance first = *its.create_instance("");
  Provider newest = provider("newest");
  const Registration others = *newest.add(spec);
  Instance second = *others.create_instance("");
  set(first, kFirst);
  set(second, kSecond);
  Handle handle;
  ASSERT_EQ(handle.add({spec.guid, u""}), kSuccess);
  ASSERT_EQ(handle.add({spec.guid, u"", 2}), kSuccess);
  ASSERT_EQ(handle.add({spec.guid, u"", 3}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].rows, (Rows{{"", kJoined}}));
  EXPECT_EQ(blocks[1].rows, (Rows{{"", {{0, 70}}}}));
  EXPECT_EQ(blocks[2].rows, (Rows{{"", {{0, 200}}}}));
}

TEST_F(PerfAggregates, KeepThemInARowBesideTheOthersToo) {
  const CountersetSpec spec = ferries(InstanceKind::kMultipleAggregate);
  Provider line = provider("line");
  const Registration its = *line.add(spec);
  Instance first = *its.create_instance("first");
  Instance second = *its.create_instance("second");
  set(first, kFirst);
  set(second, kSecond);
  Handle handle;
  ASSERT_EQ(handle.add({spec.guid, u"*"}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 1U);
  const auto total = blocks[0].rows.find("_Total");
  ASSERT_NE(total, blocks[0].rows.end());
  EXPECT_EQ(total->second, kJoined);
}

// A base of a largest fraction is the largest base, of providers that ended as well.
TEST_F(PerfAggregates, RememberBasesByTheFunctionOfTheirCounter) {
  const CountersetSpec spec = ferries(InstanceKind::kGlobalAggregateHistory);
  Provider living = provider("living");
  const Registration its = *living.add(spec);
  Instance here = *its.create_instance("");
  set(here, kFirst);
  Handle handle;
  ASSERT_EQ(handle.add({spec.guid, u"", 3}), kSuccess);
  for (const std::uint64_t base : {200U, 150U}) {
    Provider other = *Provider::create({.name = "other"});
    const Registration theirs = *other.add(spec);
    Instance there = *theirs.create_instance("");
    std::array<std::uint64_t, kCounters.size()> numbers = kSecond;
    numbers[2] = base;
    set(there, numbers);
    ASSERT_EQ(handle.add({spec.guid, u"", 1}), kSuccess);  // looks for providers
    EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 200}}}}));
  }
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 200}}}}));
  EXPECT_EQ(seen(handle)[1].rows, (Rows{{"", {{0, 17}}}}));
}

}  // namespace
}  // namespace meterbank::test::aggregate_rules_test
