// SPDX-License-Identifier: Apache-2.0
//
// Values of counters without links are cooked in a few steps of their own while iterating over a
// sample. What comes out is what cook() makes of the same raw values.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

constexpr std::array kTypes{
    CounterType::kRawCount,   CounterType::kLargeRawCount, CounterType::kRawCountHex,
    CounterType::kDelta,      CounterType::kLargeDelta,    CounterType::kCounter,
    CounterType::kBulkCount,  CounterType::kSampleCounter, CounterType::kQueueLength,
    CounterType::kTimer,      CounterType::kTimerInverse,  CounterType::kTimer100Ns,
    CounterType::kElapsedTime};
constexpr std::uint64_t kHigh = std::uint64_t{1} << 63U;

class PlainValues : public testing::Test {
 protected:
  PlainValues() {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < kTypes.size(); ++index) {
      names.push_back("c" + std::to_string(index));
    }
    std::vector<CounterSpec> counters;
    for (std::size_t index = 0; index < kTypes.size(); ++index) {
      counters.push_back({.id = static_cast<std::uint32_t>(index + 1),
                          .name = names[index],
                          .symbol = names[index],
                          .type = kTypes[index],
                          .aggregate = kAggregateSum});
    }
    Result<Registration> set = provider_.add({.name = "All Types",
                                              .symbol = "all_types",
                                              .instances = InstanceKind::kMultipleAggregate,
                                              .counters = counters});
    if (!set) throw std::runtime_error(set.error().message());
    set_ = *std::move(set);
    instance_ = *set_.create_instance("one");
    other_ = *set_.create_instance("other");
  }

  void store(std::uint64_t value) {
    for (std::size_t index = 0; index < kTypes.size(); ++index) {
      instance_.set(index, value);
      other_.set(index, value / 3);
    }
  }

  // Every value of both rows, against cook() of the raw values.
  static void expect_as_cook_says(const Sample* older, const Sample& newer) {
    std::vector<RawValue> before;
    if (older != nullptr) {
      for (const Row& row : *older) {
        if (row.is_total) continue;
        for (const Value& value : row) before.push_back(value.raw);
      }
    }
    std::size_t at = 0;
    for (const Row& row : older == nullptr ? newer.rows() : newer.since(*older)) {
      if (row.is_total) continue;
      for (const Value& value : row) {
        const RawValue* const old = older == nullptr ? nullptr : &before[at];
        const CookedValue expected = cook(value.kind(), old, value.raw);
        const std::string what = std::string(name_of(value.kind())) + " of " +
                                 std::to_string(value.raw.value) + " after " +
                                 (old == nullptr ? "nothing" : std::to_string(old->value));
        EXPECT_EQ(value.cooked.status, expected.status) << what;
        EXPECT_EQ(value.cooked.value, expected.value) << what;
        EXPECT_EQ(value.raw.time_ns, newer.time.monotonic_ns) << what;
        EXPECT_EQ(value.row, &row) << what;
        ++at;
      }
    }
    EXPECT_EQ(at, 2 * kTypes.size());
  }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "plain", .directory = directory_.path()});
  Registration set_;
  Instance instance_, other_;
};

TEST_F(PlainValues, AreWhatCookMakesOfTheSameRawValues) {
  const Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {});
  Sample older, newer;
  const std::vector<std::uint64_t> values{
      0, 1, 5, 5, 4, 0xffffffff, 0x1'0000'0003, kHigh - 1, kHigh + 12'345, ~std::uint64_t{0}, 7};
  std::uint64_t time = 1'000'000'000'000'000'000;
  for (const std::uint64_t value : values) {
    store(value);
    // Forward, then not at all, then back.
    for (const std::int64_t step : {1'234'567'891LL, 0LL, -5'000LL}) {
      time += static_cast<std::uint64_t>(step);
      query.collect(newer, {.monotonic_ns = time});
      expect_as_cook_says(nullptr, newer);
      if (!older.empty()) expect_as_cook_says(&older, newer);
      std::swap(older, newer);
      store(value + 2);
    }
  }
}

TEST_F(PlainValues, AreRightBehindARowOfTheTotal) {
  constexpr std::array kCounters{CounterSpec{.id = 1, .name = "Done", .symbol = "done"}};
  const Registration set =
      *provider_.add({.name = "Behind", .symbol = "behind", .counters = kCounters});
  Instance last = *set.create_instance("last");
  const Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {});
  Sample older, newer;
  store(3);
  query.collect(older, {.monotonic_ns = 1'000'000'000});
  store(10);
  last.add(0, 4);
  query.collect(newer, {.monotonic_ns = 2'000'000'000});
  std::vector<std::string> rates;
  for (const Row& row : newer.since(older)) {
    for (const Value& value : row) {
      if (value.kind() != CounterType::kBulkCount) continue;
      if (!row.is_total) {
        EXPECT_EQ(value.row, &row);
      }
      rates.push_back(std::string(row.name()) + " " + std::to_string(value.cooked.value));
    }
  }
  EXPECT_EQ(rates, (std::vector<std::string>{"one 7.000000", "other 2.000000", "_Total 9.000000",
                                             "last 4.000000"}));
}

// More plain counters than are cooked together, in two runs with another counter between them.
TEST_F(PlainValues, AreEachOfItsOwnCounterInARowOfMany) {
  constexpr std::size_t kMany = 27, kOther = 17;
  std::vector<std::string> names;
  for (std::size_t index = 0; index < kMany; ++index) names.push_back("m" + std::to_string(index));
  std::vector<CounterSpec> counters;
  for (std::size_t index = 0; index < kMany; ++index) {
    const CounterType type = index == kOther  ? CounterType::kTimer
                             : index % 3 == 0 ? CounterType::kLargeRawCount
                                              : CounterType::kBulkCount;
    counters.push_back({.id = static_cast<std::uint32_t>(index + 1),
                        .name = names[index],
                        .symbol = names[index],
                        .type = type});
  }
  const Registration set = *provider_.add({.name = "Many", .symbol = "many", .counters = counters});
  Instance row = *set.create_instance("row");
  const Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {{"many/row/*"}});
  Sample older, newer;
  for (std::size_t index = 0; index < kMany; ++index) row.set(index, 1'000);
  query.collect(older, {.monotonic_ns = 1'000'000'000});
  for (std::size_t index = 0; index < kMany; ++index) row.set(index, 1'000 + index);
  query.collect(newer, {.monotonic_ns = 2'000'000'000});
  std::size_t at = 0;
  for (const Row& each : newer.since(older)) {
    for (const Value& value : each) {
      EXPECT_EQ(value.name(), names[at]);
      EXPECT_EQ(value.raw.value, 1'000 + at);
      const RawValue before{.value = 1'000, .time_ns = 1'000'000'000};
      const CookedValue expected = cook(value.kind(), &before, value.raw);
      EXPECT_EQ(value.cooked.value, expected.value) << at;
      EXPECT_EQ(value.cooked.status, expected.status) << at;
      ++at;
    }
  }
  EXPECT_EQ(at, kMany);
}

}  // namespace
}  // namespace meterbank
