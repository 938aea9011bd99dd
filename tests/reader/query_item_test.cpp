// SPDX-License-Identifier: Apache-2.0
//
// Queries that ask in numbers, as PerfLib V2 does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/orders_schema.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "collect/returned_versions.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/item_query.hpp"
#include "plan/build_plan.hpp"

namespace meterbank::query_item_test {
namespace {

using test::Venue;
using Lines = std::vector<std::string>;

constexpr Timestamp kStart{1'000'000'000, 0};
constexpr Timestamp kTwoSecondsLater{3'000'000'000, 0};
constexpr std::uint32_t kAccepted = 1, kDepth = 5;  // ids in kOrders

constexpr std::array kMoodCounters{
    CounterSpec{.id = 70, .name = "Mood", .symbol = "mood", .type = CounterType::kLargeRawCount}};
constexpr CountersetSpec kMood{.name = "Mood",
                               .symbol = "mood",
                               .guid = "{11111111-2222-3333-4444-555555555555}"_guid,
                               .instances = InstanceKind::kSingle,
                               .counters = kMoodCounters};

constexpr std::array kShareCounters{
    CounterSpec{.id = 3,
                .name = "Hit Ratio",
                .symbol = "hit_ratio",
                .type = CounterType::kRawFraction,
                .base = 4,
                .aggregate = kAggregateSum},
    CounterSpec{.id = 4, .name = "Lookups", .symbol = "lookups", .type = CounterType::kRawBase},
    CounterSpec{.id = 6,
                .name = "Entries",
                .symbol = "entries",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateSum},
};
constexpr CountersetSpec kShares{.name = "Cache",
                                 .symbol = "cache",
                                 .guid = "{22222222-2222-3333-4444-555555555555}"_guid,
                                 .instances = InstanceKind::kMultipleAggregate,
                                 .counters = kShareCounters};

class QueryItems : public testing::Test {
 protected:
  Registration start(const std::string& name, const CountersetSpec& set = test::kOrders) {
    providers_.push_back(*Provider::create({.name = name, .directory = directory_.path()}));
    return *providers_.back().add(set);
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }

  static QueryItem orders(std::string instances, std::uint32_t counter = kAnyCounterId,
                          std::uint32_t id = kAnyInstanceId) {
    return {test::kOrders.guid, std::move(instances), id, counter};
  }

  // "item: provider set/instance/counter=value" of each row.
  [[nodiscard]] static Lines look(auto& query) {
    Sample sample;
    query.collect(sample, kStart);
    Lines lines;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      lines.push_back(std::to_string(row.row->item) + ": " + row.provider().name + " " +
                      row.short_path() + "=" + std::to_string(row.raw.value));
    }
    return lines;
  }
  [[nodiscard]] Lines look(std::vector<QueryItem> items) const {
    ItemQuery query = ItemQuery::compile(open(), std::move(items));
    return look(query);
  }
  [[nodiscard]] ItemStatus status_of(QueryItem item) const {
    return ItemQuery::compile(open(), {std::move(item)}).item_answers().front().status;
  }

  test::TemporaryDirectory directory_;
  std::deque<Provider> providers_;
};

TEST_F(QueryItems, AnswerInTheirOwnOrderEachWithItsIndex) {
  Registration set = start("a");
  Instance eu = *set.create_instance("eu"), us = *set.create_instance("us");
  eu.set(Venue::kDepth, 1);
  us.set(Venue::kDepth, 2);
  EXPECT_EQ(look({orders("us", kDepth), orders("*", kDepth), orders("eu", kAccepted)}),
            (Lines{"0: a demo_orders/us/queue_depth=2", "1: a demo_orders/eu/queue_depth=1",
                   "1: a demo_orders/us/queue_depth=2", "2: a demo_orders/eu/accepted=0"}));
}

// Plain counters are cooked several at a time, also if one of them has no part in the total.
TEST_F(QueryItems, LeaveCountersWithoutAnAggregateOutOfTotals) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 1,
                  .name = "Hits",
                  .symbol = "hits",
                  .type = CounterType::kLargeRawCount,
                  .aggregate = kAggregateSum},
      CounterSpec{.id = 2, .name = "Port", .symbol = "port", .type = CounterType::kLargeRawCount},
      CounterSpec{.id = 3,
                  .name = "Misses",
                  .symbol = "misses",
                  .type = CounterType::kLargeRawCount,
                  .aggregate = kAggregateSum}};
  constexpr CountersetSpec kServers{.name = "Servers",
                                    .symbol = "servers",
                                    .guid = "{33333333-2222-3333-4444-555555555555}"_guid,
                                    .instances = InstanceKind::kMultipleAggregate,
                                    .counters = kCounters};
  const Registration set = start("a", kServers);
  Instance one = *set.create_instance("one"), two = *set.create_instance("two");
  for (const std::uint64_t counter : {0U, 1U, 2U}) {
    one.set(counter, 10 + counter);
    two.set(counter, 20 + counter);
  }
  const QueryItem total{kServers.guid, std::string(kTotalName), kAnyInstanceId, kAnyCounterId};
  EXPECT_EQ(look({total}), (Lines{"0: a servers/_Total/hits=30", "0: a servers/_Total/misses=34"}));
}

TEST_F(QueryItems, AnswerTwiceIfRequestedTwice) {
  Registration set = start("a");
  Instance eu = *set.create_instance("eu");
  EXPECT_EQ(look({orders("eu", kDepth), orders("eu", kDepth)}),
            (Lines{"0: a demo_orders/eu/queue_depth=0", "1: a demo_orders/eu/queue_depth=0"}));
}

TEST_F(QueryItems, MatchNamesUpToCaseAndCopyEachBlockOnce) {
  Registration set = start("a");
  Instance eu = *set.create_instance("Süd-1"), us = *set.create_instance("süd-2");
  ItemQuery query = ItemQuery::compile(
      open(), {orders("SÜD-?", kDepth), orders("süd-1", kDepth), orders("nord*", kDepth)});
  EXPECT_EQ(plan_of(query)->rows, 2U);
  EXPECT_EQ(look(query),
            (Lines{"0: a demo_orders/Süd-1/queue_depth=0", "0: a demo_orders/süd-2/queue_depth=0",
                   "1: a demo_orders/Süd-1/queue_depth=0"}));
  EXPECT_EQ(plan_of(query)->answers[2].status, ItemStatus::kInstanceAbsent);
}

TEST_F(QueryItems, FilterByNameAndId) {
  Registration set = start("a"), more = start("b");
  Instance seven = *set.create_instance("x", {.id = 7}),
           eight = *more.create_instance("x", {.id = 8});
  Instance other = *set.create_instance("y", {.id = 9});
  seven.set(Venue::kDepth, 7);
  eight.set(Venue::kDepth, 8);
  EXPECT_EQ(look({orders("x", kDepth, 8)}), (Lines{"0: b demo_orders/x/queue_depth=8"}));
  EXPECT_EQ(look({orders("*", kDepth, 7)}), (Lines{"0: a demo_orders/x/queue_depth=7"}));
  EXPECT_EQ(status_of(orders("y", kDepth, 8)), ItemStatus::kInstanceAbsent);
}

TEST_F(QueryItems, SayWhyTheyHaveNoRows) {
  Registration set = start("a"), single = start("b", kMood);
  Instance eu = *set.create_instance("eu");
  EXPECT_EQ(status_of(orders("eu")), ItemStatus::kFound);
  EXPECT_EQ(status_of(orders("nowhere")), ItemStatus::kInstanceAbsent);
  EXPECT_EQ(status_of(orders("eu", 99)), ItemStatus::kCounterAbsent);
  EXPECT_EQ(status_of({Guid{}, "*"}), ItemStatus::kCountersetAbsent);
  EXPECT_EQ(status_of(orders("")), ItemStatus::kWrongKind);
  EXPECT_EQ(status_of({kMood.guid, "*"}), ItemStatus::kWrongKind);
  EXPECT_EQ(status_of({kMood.guid, ""}), ItemStatus::kInstanceAbsent);
  Instance only = *single.create_instance("");
  EXPECT_EQ(status_of({kMood.guid, ""}), ItemStatus::kFound);
}

TEST_F(QueryItems, FindAnInstanceAndASetThatAppearLater) {
  Catalog catalog = open();
  ItemQuery query = ItemQuery::compile(catalog, {orders("eu", kDepth)});
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kCountersetAbsent);
  Registration set = start("a");
  catalog.refresh();
  query.update(catalog);
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kInstanceAbsent);
  Instance eu = *set.create_instance("eu");
  Sample sample;
  EXPECT_TRUE(query.collect(sample, kStart).stale);
  catalog.refresh();
  EXPECT_TRUE(query.update(catalog));
  EXPECT_EQ(look(query), (Lines{"0: a demo_orders/eu/queue_depth=0"}));
}

TEST_F(QueryItems, AreAddedAndRemovedAndListed) {
  Registration set = start("a");
  Instance eu = *set.create_instance("eu"), us = *set.create_instance("us");
  const Catalog catalog = open();
  ItemQuery query = ItemQuery::compile(catalog, {});
  EXPECT_TRUE(query.items().empty());
  EXPECT_TRUE(look(query).empty());
  query.add(catalog, {orders("eu", kDepth), orders("us", kDepth), orders("EU", kDepth)});
  query.add(catalog, {orders("us", kAccepted)});
  ASSERT_EQ(query.items().size(), 4U);
  EXPECT_EQ(query.items()[3].counter_id, kAccepted);
  EXPECT_EQ(query.remove(catalog, {orders("eu", kDepth)}), 2U);
  EXPECT_EQ(query.remove(catalog, {orders("eu", kDepth)}), 0U);
  EXPECT_EQ(look(query),
            (Lines{"0: a demo_orders/us/queue_depth=0", "1: a demo_orders/us/accepted=0"}));
}

TEST_F(QueryItems, PairTheirRowsWithSamplesTakenBeforeItemsWereAdded) {
  Registration set = start("a");
  Instance eu = *set.create_instance("eu"), us = *set.create_instance("us");
  const Catalog catalog = open();
  ItemQuery query = ItemQuery::compile(catalog, {orders("us", kAccepted)});
  Sample before, after;
  query.collect(before, kStart);
  us.add(Venue::kAccepted, 10);
  query.add(catalog, {orders("eu", kAccepted)});
  query.collect(after, kTwoSecondsLater);
  const auto rows = test::cooked_values(before, after);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cooked.value, 5);
  EXPECT_EQ(rows[1].cooked.status, CookStatus::kFirstSample);
}

TEST_F(QueryItems, MergeProvidersOfOneSetAndKeepWhoseEachRowIs) {
  Registration first = start("first"), second = start("second");
  Instance theirs = *second.create_instance("eu"), ours = *first.create_instance("eu");
  theirs.set(Venue::kDepth, 2);
  ours.set(Venue::kDepth, 1);
  EXPECT_EQ(look({orders("eu", kDepth)}), (Lines{"0: first demo_orders/eu/queue_depth=1",
                                                 "0: second demo_orders/eu/queue_depth=2"}));
}

TEST_F(QueryItems, GiveABaseOnlyByItsId) {
  Registration set = start("a", kShares);
  Instance eu = *set.create_instance("eu");
  EXPECT_EQ(
      look({{kShares.guid, "eu"}, {kShares.guid, "eu", kAnyInstanceId, 4}}),
      (Lines{"0: a cache/eu/hit_ratio=0", "0: a cache/eu/entries=0", "1: a cache/eu/lookups=0"}));
}

TEST_F(QueryItems, AddARowThatTheReaderMakes) {
  Registration set = start("a", kShares), more = start("b", kShares);
  Instance eu = *set.create_instance("eu"), us = *more.create_instance("us");
  eu.update([](Values& values) noexcept { values.set(2U, 3); });
  us.update([](Values& values) noexcept { values.set(2U, 4); });
  const auto entries = [](std::string instances, std::uint32_t id = kAnyInstanceId) {
    return QueryItem{kShares.guid, std::move(instances), id, 6};
  };
  EXPECT_EQ(look({entries("*")}), (Lines{"0: a cache/eu/entries=3", "0: b cache/us/entries=4",
                                         "0: a cache/_Total/entries=7"}));
  EXPECT_EQ(look({entries("_TOTAL")}), (Lines{"0: a cache/_Total/entries=7"}));
  EXPECT_EQ(look({entries("*", kTotalInstanceId)}), (Lines{"0: a cache/_Total/entries=7"}));
  Instance own = *more.create_instance("_Total");
  own.update([](Values& values) noexcept { values.set(2U, 99); });
  EXPECT_EQ(look({entries("_total")}),
            (Lines{"0: b b@" + std::to_string(::getpid()) + ":cache/_Total/entries=99",
                   "0: a cache/_Total/entries=7"}));
}

TEST_F(QueryItems, CompileAgainOnlyWhatChanged) {
  Registration first = start("first"), second = start("second"), third = start("third", kShares);
  Instance eu = *first.create_instance("eu"), us = *second.create_instance("us");
  Instance share = *third.create_instance("x");
  Catalog catalog = open();
  ItemQuery by_item = ItemQuery::compile(catalog, {orders("*", kDepth), {kShares.guid, "*"}});
  Query by_path = *Query::compile(catalog, {"demo_orders/*/queue_depth", "cache", "eu/x"});
  EXPECT_EQ(plan_of(by_item)->compiled, 3U);
  EXPECT_EQ(plan_of(by_path)->compiled, 3U);
  eu.set(Venue::kDepth, 1);
  us.set(Venue::kDepth, 2);
  Sample sample;
  by_item.collect(sample, kStart);
  Instance asia = *second.create_instance("asia");
  catalog.refresh();
  const auto expect_one_compiled = [&catalog](auto& query) {
    EXPECT_TRUE(query.update(catalog));
    EXPECT_EQ(plan_of(query)->compiled, 1U);
  };
  expect_one_compiled(by_item);
  expect_one_compiled(by_path);
  EXPECT_EQ(look(by_item).size(), 3U + 4U);  // x and _Total, two counters each
  ItemQuery anew = ItemQuery::compile(catalog, {orders("*", kDepth), {kShares.guid, "*"}});
  EXPECT_EQ(look(by_item), look(anew));
  Query path_anew = *Query::compile(catalog, {"demo_orders/*/queue_depth", "cache", "eu/x"});
  EXPECT_EQ(look(by_path), look(path_anew));
}

TEST_F(QueryItems, ReadASecondWordInEachSetByItself) {
  Registration first = start("first");
  Instance mood = *first.create_instance("mood");
  Catalog catalog = open();
  Query query = *Query::compile(catalog, {"*/mood"});
  EXPECT_EQ(look(query).size(), 3U);
  Registration second = start("second", kMood);
  Instance only = *second.create_instance("");
  catalog.refresh();
  EXPECT_TRUE(query.update(catalog));
  EXPECT_EQ(plan_of(query)->compiled, 1U);
  EXPECT_EQ(look(query).size(), 4U);
  EXPECT_EQ(look(query).back(), "0: second mood/mood=0");
}

TEST_F(QueryItems, SayInAMaskWhichCountersAreWanted) {
  Registration set = start("a"), cache = start("b", kShares), high = start("c", kMood);
  Instance eu = *set.create_instance("eu"), share = *cache.create_instance("x");
  Instance only = *high.create_instance("");
  const auto mask = [&](const QueryItem& item) {
    return plan_of(ItemQuery::compile(open(), {item}))->selections.front().counter_mask;
  };
  EXPECT_EQ(mask(orders("*", kDepth)), 1U << kDepth);
  EXPECT_EQ(mask(orders("*")), ~std::uint64_t{0});
  EXPECT_EQ(mask({kShares.guid, "*", kAnyInstanceId, 3}), (1U << 3) | (1U << 4));  // and its base
  EXPECT_EQ(mask({kMood.guid, ""}), ~std::uint64_t{0});                            // id above 63
}

TEST_F(QueryItems, SelectionsOfSeveralRowsBeginAtACacheLine) {
  Registration first = start("first"), second = start("second");
  std::vector<Instance> rows;
  for (const char* const name : {"eu", "us", "asia"}) {
    rows.push_back(*first.create_instance(name));
    rows.push_back(*second.create_instance(name));
  }
  const auto plan = plan_of(ItemQuery::compile(open(), {orders("*")}));
  ASSERT_EQ(plan->selections.size(), 2U);
  for (const QueryPlan::Selection& selection : plan->selections) {
    EXPECT_EQ(selection.rows, 3U);
    EXPECT_EQ(selection.first_value % 8, 0U);
  }
  EXPECT_NE(plan->selections.back().first_value, 0U);
}

TEST(SampleWords, BeginAtACacheLineAndLargeOnesAtAHugePage) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{300'000}}) {
    const SampleWords words(count, 7);
    const auto address = reinterpret_cast<std::uintptr_t>(words.data());
    const bool is_large = count * sizeof(std::uint64_t) >= kHugePage;
    EXPECT_EQ(address % (is_large ? kHugePage : kCacheLine), 0U);
  }
}

// Time must not run backwards for a reader because an instance came or went.
TEST_F(QueryItems, RememberWhatWasReturnedOfABlockWhenThePlanChanges) {
  Registration first = start("first"), second = start("second");
  Instance eu = *first.create_instance("eu"), us = *second.create_instance("us");
  Catalog catalog = open();
  const auto request = std::make_shared<const QueryRequest>(*QueryRequest::of_patterns({"*"}, {}));
  const BuiltPlan before = build_plan(catalog.providers(), request, nullptr, nullptr);
  ASSERT_EQ(before.plan->rows, 2U);
  Instance asia = *first.create_instance("asia");
  catalog.refresh();
  const BuiltPlan now = build_plan(catalog.providers(), request, before.parts.get(), nullptr);
  ASSERT_EQ(now.plan->compiled, 1U);
  const Versions known{no_versions(1), no_versions(1)};
  known[0][0] = 7;
  const Versions versions = carried_versions(*before.plan, known, *now.plan);
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0][0], 7U);     // eu
  EXPECT_EQ(versions[0][1], 0U);     // asia
  EXPECT_EQ(versions[1], known[1]);  // us: the same words
}

TEST_F(QueryItems, AreToldApartByTheProviderWhereNamesAreAlike) {
  Registration first = start("first"), second = start("second");
  Instance x = *first.create_instance("x"), one = *first.create_instance("eu");
  Instance two = *second.create_instance("EU"), us = *second.create_instance("us");
  const auto expanded = [&](const std::string& pattern) {
    return Query::compile(open(), {pattern})->expanded(PathSpelling::kWindows);
  };
  const std::string at = "@" + std::to_string(::getpid());
  const std::string of_first = R"(\\first)" + at + R"(\Demo Orders(eu)\Queue Depth)";
  const std::string of_second = R"(\\second)" + at + R"(\Demo Orders(EU)\Queue Depth)";
  EXPECT_EQ(expanded(R"(\Demo Orders(*)\Queue Depth)"),
            (Lines{R"(\Demo Orders(x)\Queue Depth)", of_first, of_second,
                   R"(\Demo Orders(us)\Queue Depth)"}));
  for (const std::string& path : {of_first, of_second}) EXPECT_EQ(expanded(path), Lines{path});
  EXPECT_EQ(Query::compile(open(), {"demo_orders/eu/queue_depth"})->expanded(PathSpelling::kShort),
            (Lines{"first" + at + ":demo_orders/eu/queue_depth",
                   "second" + at + ":demo_orders/EU/queue_depth"}));
}

TEST_F(QueryItems, CountPositionsOfANameThroughAllProviders) {
  Registration first = start("first"), second = start("second");
  Instance one = *first.create_instance("eu", {.id = 70}),
           two = *second.create_instance("eu", {.id = 80});
  one.set(Venue::kDepth, 1);
  two.set(Venue::kDepth, 2);
  const auto depth_of = [&](const std::string& path) {
    Query query = *Query::compile(open(), {path});
    return look(query);
  };
  EXPECT_EQ(depth_of("demo_orders/eu#1/queue_depth"),
            (Lines{"0: second demo_orders/eu/queue_depth=2"}));
  EXPECT_EQ(depth_of("demo_orders/eu#70/queue_depth"),
            (Lines{"0: first demo_orders/eu/queue_depth=1"}));
  EXPECT_EQ(Query::compile(open(), {R"(\Demo Orders(eu#1)\No Such)"})->unmatched().size(), 1U);
}

TEST_F(QueryItems, SurviveAPatternOf1023Stars) {
  Registration set = start("a");
  Instance eu = *set.create_instance(std::string(1023, 'a'));
  std::string stars;
  for (int i = 0; i < 511; ++i) stars += "*a";
  EXPECT_EQ(status_of(orders(std::string(1023, '*'))), ItemStatus::kFound);
  EXPECT_EQ(status_of(orders(stars + "b")), ItemStatus::kInstanceAbsent);
}

TEST_F(QueryItems, NameTheirStatuses) {
  EXPECT_EQ(name_of(ItemStatus::kFound), "found");
  EXPECT_EQ(name_of(ItemStatus::kInstanceAbsent), "no instance");
  EXPECT_EQ(name_of(ItemStatus::kCountersetAbsent), "no counterset");
  EXPECT_EQ(name_of(ItemStatus::kCounterAbsent), "no counter");
  EXPECT_EQ(name_of(ItemStatus::kWrongKind), "wrong kind");
}

}  // namespace
}  // namespace meterbank::query_item_test
