// SPDX-License-Identifier: Apache-2.0
//
// Rows that a reader makes out of others.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank {
namespace {

constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};

constexpr std::array kCounters{
    CounterSpec{.id = 1,
                .name = "Jobs/sec",
                .symbol = "jobs",
                .type = CounterType::kBulkCount,
                .aggregate = kAggregateSum},
    CounterSpec{.id = 2,
                .name = "Fill",
                .symbol = "fill",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateAverage},
    CounterSpec{.id = 3,
                .name = "Shortest",
                .symbol = "shortest",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateMinimum},
    CounterSpec{.id = 4,
                .name = "Longest",
                .symbol = "longest",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateMaximum},
    CounterSpec{.id = 5, .name = "Colour", .symbol = "colour", .type = CounterType::kLargeRawCount},
};

CountersetSpec workers(InstanceKind kind) {
  return {.name = "Workers",
          .symbol = "workers",
          .guid = {0x12345678, 0x1234, 0x1234, {1, 2, 3, 4, 5, 6, 7, 8}},
          .instances = kind,
          .counters = kCounters};
}

void fill(Instance& instance, std::uint64_t value) {
  instance.update([value](Values& values) noexcept {
    for (std::uint32_t word = 0; word < kCounters.size(); ++word) values.set(word, value);
  });
}

class TotalTest : public testing::Test {
 protected:
  Registration start(const std::string& name, InstanceKind kind) {
    providers_.push_back(*Provider::create({.name = name, .directory = directory_.path()}));
    return *providers_.back().add(workers(kind));
  }
  [[nodiscard]] Query compile(std::vector<std::string> patterns) const {
    return *Query::compile(*Catalog::open({.directory = directory_.path()}), std::move(patterns));
  }
  // "instance counter value" of each row of one sample.
  [[nodiscard]] std::vector<std::string> look(std::vector<std::string> patterns) const {
    Query query = compile(std::move(patterns));
    Sample sample;
    query.collect(sample, kStart);
    std::vector<std::string> rows;
    for (const CookedRow& row : cook(nullptr, sample)) {
      rows.push_back(row.instance->name + " " + row.counter->symbol + " " +
                     (has_value(row.cooked.status)
                          ? std::to_string(static_cast<int>(row.cooked.value))
                          : std::string(name_of(row.cooked.status))));
    }
    return rows;
  }

  test::TemporaryDirectory directory_;
  std::vector<Provider> providers_;
};

using Rows = std::vector<std::string>;

TEST_F(TotalTest, FollowsTheFunctionThatEachCounterDeclares) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Instance two = *set.create_instance("two");
  fill(one, 10);
  fill(two, 30);

  EXPECT_EQ(look({"workers/_Total"}), (Rows{"_Total jobs first_sample", "_Total fill 20",
                                            "_Total shortest 10", "_Total longest 30"}));
}

TEST_F(TotalTest, AddsRatesOfInstancesUp) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Instance two = *set.create_instance("two");
  Query query = compile({"workers/_Total/jobs"});
  Sample before, after;
  query.collect(before, kStart);
  one.add(0, 100);
  two.add(0, 20);
  query.collect(after, kTwoSecondsLater);

  const auto rows = cook(before, after);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].cooked.status, CookStatus::kNew);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 60);
  EXPECT_EQ(rows[0].path(), R"(\Workers(_Total)\Jobs/sec)");
}

TEST_F(TotalTest, StandsBesideTheRowsThatAWildcardSelects) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  fill(one, 10);
  EXPECT_EQ(look({"workers/*/longest"}), (Rows{"one longest 10", "_Total longest 10"}));
  EXPECT_EQ(look({"workers/o*/longest"}), Rows{"one longest 10"});
}

TEST_F(TotalTest, LeavesCountersWithoutAFunctionOut) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  EXPECT_EQ(look({"workers/_Total/colour"}), Rows{});
}

TEST_F(TotalTest, BelongsToAProviderThatMakesItItself) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Instance own = *set.create_instance("_total");
  fill(one, 10);
  fill(own, 77);
  EXPECT_EQ(look({"workers/_Total/longest"}), Rows{"_total longest 77"});
}

TEST_F(TotalTest, CoversAllProvidersOfTheSetOrTheOneThatIsNamed) {
  const Registration set_a = start("a", InstanceKind::kMultipleAggregate);
  const Registration set_b = start("b", InstanceKind::kMultipleAggregate);
  Instance one = *set_a.create_instance("one");
  Instance two = *set_b.create_instance("two");
  fill(one, 10);
  fill(two, 30);
  EXPECT_EQ(look({"workers/_Total/fill"}), Rows{"_Total fill 20"});
  EXPECT_EQ(look({"b:workers/_Total/fill"}), Rows{"_Total fill 30"});
}

TEST_F(TotalTest, IsTheOnlyRowOfASetThatProvidersShare) {
  const Registration set_a = start("a", InstanceKind::kGlobalAggregate);
  const Registration set_b = start("b", InstanceKind::kGlobalAggregate);
  Instance one = *set_a.create_instance("");
  Instance two = *set_b.create_instance("");
  fill(one, 10);
  fill(two, 30);
  EXPECT_EQ(look({"workers/longest"}), Rows{" longest 30"});
  EXPECT_EQ(look({"a:workers/longest"}), Rows{" longest 10"});
}

TEST_F(TotalTest, IsNotMadeForSetsThatDoNotDeclareIt) {
  const Registration set = start("a", InstanceKind::kMultiple);
  Instance one = *set.create_instance("one");
  EXPECT_EQ(look({"workers/_Total"}), Rows{});
}

TEST_F(TotalTest, LeavesANewInstanceOutOfARate) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"workers/_Total/jobs"});
  Sample before, after;
  query.collect(before, kStart);
  one.add(0, 100);
  Instance two = *set.create_instance("two");
  two.add(0, 1'000'000);
  catalog.refresh();
  EXPECT_TRUE(query.update(catalog));
  query.collect(after, kTwoSecondsLater);

  const auto rows = cook(before, after);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 50);
}

}  // namespace
}  // namespace meterbank
