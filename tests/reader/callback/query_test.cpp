// SPDX-License-Identifier: Apache-2.0
//
// Rows that are computed when a reader asks: a query and a real provider.
#include <atomic>
#include <stdexcept>

#include "../../support/cooked_values.hpp"
#include "../../support/sample_words.hpp"
#include "callback_fixture.hpp"

namespace meterbank::callback_query_test {
namespace {

using test::CallbackQuery;
using test::kTide;
using test::kTimeout;
using test::kWaves;
using test::Wave;

TEST_F(CallbackQuery, CollectsRowsThatAreComputedWhenAsked) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  EXPECT_TRUE(query.asks());
  Sample sample;
  const CollectSummary summary = query.collect(sample, kTimeout);
  EXPECT_EQ(summary.rows, 2U);
  EXPECT_EQ(summary.not_fresh, 0U);
  EXPECT_EQ(summary.unanswered, 0U);
  EXPECT_EQ(values(sample),
            (std::map<std::string, double>{{"waves/blue/height", 20}, {"waves/red/height", 10}}));
  ASSERT_NE(sample.callbacks, nullptr);
  ASSERT_EQ(sample.callbacks->size(), 1U);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(sample.callbacks->front().rows, 2U);
  EXPECT_EQ(sample.callbacks->front().provider->name, "sea");
  EXPECT_EQ(sample.callbacks->front().set->set->name, "Waves");
}

TEST_F(CallbackQuery, CollectWithoutTimeoutShowsTheLastAnswer) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample).rows, 0U);
  query.collect(sample, kTimeout);
  waves_.show({{"red", 3, 11}});
  const int calls = waves_.calls_[CallbackReason::kCollect];
  EXPECT_EQ(query.collect(sample).not_fresh, 0U);
  EXPECT_EQ(values(sample).at("waves/red/height"), 10);
  EXPECT_EQ(waves_.calls_[CallbackReason::kCollect], calls);
  query.collect(sample, kTimeout);
  EXPECT_EQ(values(sample).at("waves/red/height"), 11);
}

TEST_F(CallbackQuery, QueriesWithoutCallbacksSendNoRequest) {
  Provider sea = provider();
  auto plain = *sea.add(kWaves);
  auto red = *plain.create_instance("red");
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {});
  EXPECT_FALSE(query.asks());
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks, nullptr);
  EXPECT_EQ(content_of(sample).status.size(), 1U);
}

TEST_F(CallbackQuery, CreatedInstancesAndRowsThatWereAskedForAppearTogether) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  Registration registration = add(sea);
  auto green = *registration.create_instance("green");
  green.set(0, 5);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(values(sample),
            (std::map<std::string, double>{{"waves/green/height", 5}, {"waves/red/height", 10}}));
}

TEST_F(CallbackQuery, EnumerateLetsPatternsFindRowsAndExpand) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/red/height", "waves/redd/height"});
  EXPECT_EQ(query.unmatched().size(), 2U);
  EXPECT_TRUE(query.enumerate(kTimeout));
  ASSERT_EQ(query.unmatched().size(), 1U);
  EXPECT_EQ(query.unmatched().front().part, "instance");
  EXPECT_EQ(query.unmatched().front().suggestion, "red");
  EXPECT_EQ(query.expanded(PathSpelling::kShort), std::vector<std::string>{"waves/red/height"});
  EXPECT_FALSE(query.enumerate(kTimeout));
  Sample sample;
  query.collect(sample);
  ASSERT_EQ(content_of(sample).status.size(), 1U);
  EXPECT_EQ(content_of(sample).status.front(),
            RowStatus::kUnanswered);  // a name, and no values as yet
  query.collect(sample, kTimeout);
  EXPECT_EQ(content_of(sample).status.front(), RowStatus::kFresh);
}

// Windows: rows keep identity between collections.
TEST_F(CallbackQuery, RowsKeepTheirNameIdAndPlaceOverAThousandReads) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves"});
  Sample sample;
  query.collect(sample, kTimeout);
  const auto plan = plan_of(query);
  for (int round = 0; round < 1000; ++round) {
    if (round % 2 == 0) waves_.show({{"blue", 4, 1}, {"red", 3, 2}});
    if (round % 2 == 1) waves_.show({{"red", 3, 3}, {"blue", 4, 4}});
    query.collect(sample, kTimeout);
    ASSERT_EQ(plan_of(query), plan);
  }
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
    EXPECT_EQ(row.instance().id, row.instance().name == "red" ? 3U : 4U);
  }
}

TEST_F(CallbackQuery, ARowThatComesBackBeginsAnew) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/crests"});
  Sample first, gone, again;
  waves_.show({{"red", 3, 10}, {"blue", 4, 10}});
  query.collect(first, kTimeout);
  waves_.show({{"blue", 4, 20}});
  query.collect(gone, kTimeout);
  EXPECT_EQ(content_of(gone).plan->rows, 1U);
  waves_.show({{"red", 3, 30}, {"blue", 4, 40}});
  query.collect(again, kTimeout);
  for (const test::KeptValue& row : test::cooked_values(first, again)) {
    EXPECT_EQ(row.cooked.status,
              row.instance().name == "red" ? CookStatus::kReset : CookStatus::kNew);
  }
}

TEST_F(CallbackQuery, GrowsToManyRowsAndShrinksAgain) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  for (const std::size_t count : {3U, 5000U, 100U, 20'000U, 0U}) {
    std::vector<Wave> waves;
    for (std::uint32_t id = 0; id < count; ++id) waves.push_back({std::to_string(id), id, id + 7});
    waves_.show(waves);
    query.collect(sample, kTimeout);
    ASSERT_EQ(content_of(sample).plan->rows, count);
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      ASSERT_EQ(row.cooked.value, row.instance().id + 7.0);
    }
  }
}

TEST_F(CallbackQuery, OneNameWithTwoIdsIsTwoRows) {
  waves_.show({{"red", 3, 10}, {"red", 4, 20}, {"RED", 3, 30}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  std::map<std::uint32_t, double> by_id;
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
    by_id[row.instance().id] = row.cooked.value;
  EXPECT_EQ(by_id, (std::map<std::uint32_t, double>{{3, 10}, {4, 20}}));  // the first one counts
}

TEST_F(CallbackQuery, TimeOfARowIsWhenItsValuesWereTrue) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/crests"});
  const Timestamp before = Timestamp::now();
  Sample older, same, newer;
  query.collect(older, kTimeout);
  query.collect(same);
  const std::vector<test::KeptValue> rows = test::cooked_values(nullptr, older);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GE(rows[0].raw.time_ns, before.monotonic_ns);
  EXPECT_LE(rows[0].raw.time_ns, older.time.monotonic_ns);
  EXPECT_EQ(test::cooked_values(older, same).front().cooked.status, CookStatus::kNoNewSample);
  query.collect(newer, kTimeout);
  EXPECT_TRUE(has_value(test::cooked_values(older, newer).front().cooked.status));
}

TEST_F(CallbackQuery, TwoQueriesHaveRowsOfTheirOwn) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query one = *Query::compile(catalog, {"waves/*/crests"});
  Query two = *Query::compile(catalog, {"waves/*/crests"});
  Sample of_one, of_two;
  waves_.show({{"red", 3, 10}});
  one.collect(of_one, kTimeout);
  waves_.show({{"blue", 4, 20}});
  two.collect(of_two, kTimeout);
  // Both lie in the first slot; that must not make them a pair.
  EXPECT_EQ(test::cooked_values(of_one, of_two).front().cooked.status, CookStatus::kFirstSample);
}

TEST_F(CallbackQuery, PlansAndSamplesOutliveTheirQuery) {
  Sample sample;
  {
    waves_.show({{"red", 3, 10}});
    Provider sea = provider();
    add(sea);
    Catalog catalog = this->catalog();
    Query query = *Query::compile(catalog, {"waves/*/height"});
    query.collect(sample, kTimeout);
  }
  EXPECT_EQ(values(sample), (std::map<std::string, double>{{"waves/red/height", 10}}));
}

TEST_F(CallbackQuery, AMovedQueryGoesOn) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  Query moved = std::move(query);
  waves_.show({{"red", 3, 11}});
  moved.collect(sample, kTimeout);
  EXPECT_EQ(values(sample).at("waves/red/height"), 11);
}

// Filtering is optional: whether a provider heeds masks makes no difference.
TEST_F(CallbackQuery, AProviderThatIgnoresMasksGivesTheSameRows) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}, {"rose", 5, 30}});  // whatever is asked
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query by_pattern = *Query::compile(catalog, {"waves/r*/height"});
  by_pattern.collect(sample, kTimeout);
  EXPECT_EQ(values(sample),
            (std::map<std::string, double>{{"waves/red/height", 10}, {"waves/rose/height", 30}}));
  EXPECT_EQ(sample.callbacks->front().rows, 2U);
  ItemQuery by_id = ItemQuery::compile(
      catalog, {{.set = kWaves.guid, .instances = "*", .instance_id = 4, .counter_id = 1}});
  by_id.collect(sample, kTimeout);
  EXPECT_EQ(values(sample), (std::map<std::string, double>{{"waves/blue/height", 20}}));
}

TEST_F(CallbackQuery, ASetWithoutNamesHasOneRow) {
  waves_.show({{"", 0, 10}, {"", 1, 20}});
  Provider sea = provider();
  add(sea, kTide);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"tide/height"});
  query.collect(sample, kTimeout);
  EXPECT_FALSE(waves_.collects_many_);
  EXPECT_EQ(waves_.added_,
            (std::vector{CallbackRequest::Added::kYes, CallbackRequest::Added::kDropped}));
  EXPECT_EQ(values(sample), (std::map<std::string, double>{{"tide/height", 10}}));
}

TEST_F(CallbackQuery, AnItemFindsItsInstancesOnceTheyWereAnswered) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  ItemQuery query = ItemQuery::compile(catalog, {{.set = kWaves.guid, .instances = "red"}});
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kInstanceAbsent);
  waves_.show({{"red", 3, 10}});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kFound);
  // Rows stay with the query when its items change.
  query.replace(catalog, {{.set = kWaves.guid, .instances = "r*"}});
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kFound);
}

TEST_F(CallbackQuery, ACodeOfTheCallbackComesWithItsRows) {
  Provider sea = provider();
  const auto odd = *sea.add(kWaves, [](CallbackRequest& request) {
    request.add("red", 3, std::array<std::uint64_t, 4>{1, 2, 3, 4});
    return 17U;
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(values(sample).at("waves/red/height"), 1);
  EXPECT_EQ(content_of(sample).status, std::vector{RowStatus::kFresh});
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kReturnedCode);
  EXPECT_EQ(sample.callbacks->front().code, 17U);
  EXPECT_EQ(sample.callbacks->front().reason(), "the callback returned 17");
}

TEST_F(CallbackQuery, ShowsTheExceptionOfACallback) {
  Provider sea = provider();
  const auto odd = *sea.add(kWaves, [](CallbackRequest&) -> std::uint32_t {
    throw std::runtime_error("no \x1b[2J water");
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kThrew);
  EXPECT_EQ(sample.callbacks->front().text, "no \x1b[2J water");
}

TEST_F(CallbackQuery, AskingFromInsideACallbackOfTheSameProcessIsRefused) {
  Provider sea = provider();
  std::atomic<AnswerOutcome> inner{AnswerOutcome::kAnswered};
  const auto odd = *sea.add(kWaves, [&](CallbackRequest& request) {
    if (request.reason() != CallbackReason::kCollect) return 0U;
    Catalog catalog = *Catalog::open({.directory = directory_.path()});
    catalog.refresh();
    Query query = *Query::compile(catalog, {"waves"});
    Sample sample;
    query.collect(sample, kTimeout);
    inner = sample.callbacks->front().outcome;
    return 0U;
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves"});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(inner.load(std::memory_order_relaxed), AnswerOutcome::kReentrant);
}

TEST_F(CallbackQuery, RowsOfAClosedRegistrationAreClosed) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  Registration registration = add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  registration.close();
  EXPECT_TRUE(query.collect(sample).stale);
  EXPECT_EQ(content_of(sample).status, std::vector{RowStatus::kClosed});
  catalog.refresh();
  query.update(catalog);
  EXPECT_FALSE(query.asks());
}

}  // namespace
}  // namespace meterbank::callback_query_test
