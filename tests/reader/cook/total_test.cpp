// SPDX-License-Identifier: Apache-2.0
//
// Rows that a reader makes out of others.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "../../support/cooked_values.hpp"
#include "../../support/sample_words.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank::total_test {
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
    return look(query);
  }
  [[nodiscard]] static std::vector<std::string> look(Query& query) {
    Sample sample;
    query.collect(sample, kStart);
    std::vector<std::string> rows;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      rows.push_back(std::string(row.instance().name) + " " + row.counter->symbol + " " +
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

TEST_F(TotalTest, AddsStoredValuesUpBeforeThereIsARate) {
  const Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Instance two = *set.create_instance("two");
  fill(one, 10);
  fill(two, 30);
  Query query = compile({"workers/_Total/jobs"});
  Sample sample;
  query.collect(sample, kStart);

  const auto rows = test::cooked_values(nullptr, sample);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].cooked.status, CookStatus::kFirstSample);
  EXPECT_EQ(rows[0].raw.value, 40U);
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

  const auto rows = test::cooked_values(before, after);

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

TEST_F(TotalTest, GoesOnCountingProvidersThatAreGoneWhereTheSetKeepsHistory) {
  for (const bool keeps : {true, false}) {
    providers_.clear();
    const auto kind =
        keeps ? InstanceKind::kGlobalAggregateHistory : InstanceKind::kGlobalAggregate;
    std::optional<Registration> set_a = start("a", kind), set_b = start("b", kind);
    std::optional<Instance> one = *set_a->create_instance(""), two = *set_b->create_instance("");
    fill(*one, 10);
    fill(*two, 30);
    Catalog catalog = *Catalog::open({.directory = directory_.path()});
    Query query = *Query::compile(catalog, {"workers"});
    const auto look_again = [&] {
      catalog.refresh();
      query.update(catalog);
      return look(query);
    };
    EXPECT_EQ(look_again(),
              (Rows{" jobs first_sample", " fill 20", " shortest 10", " longest 30"}));
    two.reset();
    set_b.reset();
    providers_.pop_back();
    const Rows with{" jobs first_sample", " fill 20", " shortest 10", " longest 30"};
    const Rows without{" jobs first_sample", " fill 10", " shortest 10", " longest 10"};
    EXPECT_EQ(look_again(), keeps ? with : without);
    EXPECT_EQ(look_again(), keeps ? with : without);
    std::optional<Registration> set_c = start("c", kind);
    std::optional<Instance> three = *set_c->create_instance("");
    fill(*three, 5);
    EXPECT_EQ(look_again()[1], keeps ? " fill 15" : " fill 7");
  }
}

// An ordinary end: the instance is closed first, and a reader looks in between.
TEST_F(TotalTest, RemembersAnInstanceThatClosesBeforeItsProvider) {
  Registration set_a = start("a", InstanceKind::kGlobalAggregateHistory);
  Registration set_b = start("b", InstanceKind::kGlobalAggregateHistory);
  Instance one = *set_a.create_instance("");
  std::optional<Instance> two = *set_b.create_instance("");
  fill(one, 10);
  fill(*two, 30);
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"workers/longest"});
  two.reset();
  catalog.refresh();
  query.update(catalog);
  EXPECT_EQ(look(query), Rows{" longest 30"});
  providers_.pop_back();
  catalog.refresh();
  query.update(catalog);
  EXPECT_EQ(look(query), Rows{" longest 30"});
}

// A provider may declare new sets for ever: what one user is remembered for has an end, and what is
// beyond it is counted as left out.
TEST_F(TotalTest, RemembersABoundedNumberOfSetsThatEnded) {
  constexpr std::uint32_t kFlaps = 80, kRemembered = 64;
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"*"});
  const auto look_around = [&] {
    catalog.refresh();
    query.update(catalog);
  };
  for (std::uint32_t flap = 0; flap < kFlaps; ++flap) {
    const std::string name = "Workers " + std::to_string(flap);
    CountersetSpec spec = workers(InstanceKind::kGlobalAggregateHistory);
    spec.name = name;
    spec.guid.part1 += flap;
    providers_.push_back(*Provider::create({.name = "flaps", .directory = directory_.path()}));
    {
      const Registration set = *providers_.back().add(spec);
      Instance one = *set.create_instance("");
      fill(one, flap);
      look_around();
    }
    providers_.pop_back();
    look_around();
  }
  EXPECT_EQ(plan_of(query)->ended.size(), kRemembered);
  EXPECT_EQ(plan_of(query)->ended_left_out, kFlaps - kRemembered);
  for (const EndedValues& ended : plan_of(query)->ended) EXPECT_EQ(ended.values[1].count, 1U);
}

TEST_F(TotalTest, CountsALivingProviderOnceHoweverItsSegmentGrows) {
  Registration set = start("a", InstanceKind::kGlobalAggregateHistory);
  Instance one = *set.create_instance("");
  fill(one, 10);
  CountersetSpec other = workers(InstanceKind::kMultiple);
  other.name = "Others";
  other.symbol = "others";
  other.guid = {};
  Registration others = *providers_.front().add(other);
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"workers/fill"});
  std::vector<Instance> many;
  const std::uint64_t bytes = catalog.providers().front()->bytes;
  while (catalog.providers().front()->bytes == bytes) {
    for (int i = 0; i < 1000; ++i) {
      many.push_back(*others.create_instance("i" + std::to_string(many.size())));
    }
    catalog.refresh();
    query.update(catalog);
  }
  EXPECT_TRUE(plan_of(query)->ended.empty());
  const Catalog another = *Catalog::open({.directory = directory_.path()});
  query.update(another);
  EXPECT_TRUE(plan_of(query)->ended.empty());
  EXPECT_EQ(look(query), Rows{" fill 10"});
}

TEST_F(TotalTest, IsMadeOnceForASetWhateverAProviderCallsItsRows) {
  Registration set_a = start("a", InstanceKind::kMultipleAggregate);
  Registration set_b = start("b", InstanceKind::kMultipleAggregate);
  Instance one = *set_a.create_instance("one");
  Instance own = *set_b.create_instance("_TOTAL");
  fill(one, 10);
  fill(own, 77);
  EXPECT_EQ(look({"workers/_Total/longest"}), (Rows{"_Total longest 10", "_TOTAL longest 77"}));
  EXPECT_EQ(look({"b:workers/_Total/longest"}), Rows{"_TOTAL longest 77"});
  EXPECT_EQ(look({"a:workers/_Total/longest"}), Rows{"_Total longest 10"});
}

TEST_F(TotalTest, IsExcludedByItsName) {
  Registration set = start("a", InstanceKind::kMultipleAggregate);
  Instance one = *set.create_instance("one");
  Query query = *Query::compile(*Catalog::open({.directory = directory_.path()}),
                                {"workers/*/longest"}, {"workers/_total/*"});
  EXPECT_EQ(look(query), Rows{"one longest 0"});
}

TEST_F(TotalTest, TakesTheLowerHalfOfACounterOf32Bits) {
  static constexpr std::array kNarrow{CounterSpec{.id = 1,
                                                  .name = "N",
                                                  .symbol = "n",
                                                  .type = CounterType::kRawCount,
                                                  .aggregate = kAggregateMaximum}};
  providers_.push_back(*Provider::create({.name = "p", .directory = directory_.path()}));
  Registration set = *providers_.back().add({.name = "Narrow",
                                             .symbol = "narrow",
                                             .instances = InstanceKind::kMultipleAggregate,
                                             .counters = kNarrow});
  Instance one = *set.create_instance("one"), two = *set.create_instance("two");
  one.set(0, 10);
  two.set(0, (std::uint64_t{1} << 32) + 2);
  Query query = compile({"narrow/_Total"});
  Sample sample;
  query.collect(sample, kStart);
  EXPECT_EQ(test::cooked_values(nullptr, sample).front().raw.value, 10U);
}

TEST_F(TotalTest, AddsEndedInstancesToTheRawSumButToNoRate) {
  std::optional<Registration> set_a = start("a", InstanceKind::kGlobalAggregateHistory);
  std::optional<Registration> set_b = start("b", InstanceKind::kGlobalAggregateHistory);
  std::optional<Instance> one = *set_a->create_instance(""), two = *set_b->create_instance("");
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"workers/jobs"});
  Sample before, after;
  query.collect(before, kStart);
  one->add(0, 100);
  two->add(0, 7);
  two.reset();
  set_b.reset();
  providers_.pop_back();
  catalog.refresh();
  query.update(catalog);
  query.collect(after, kTwoSecondsLater);

  const auto rows = test::cooked_values(before, after);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 50);
  EXPECT_EQ(rows[0].raw.value, 107U);
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

  const auto rows = test::cooked_values(before, after);

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 50);
}

}  // namespace
}  // namespace meterbank::total_test
