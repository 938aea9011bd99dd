// SPDX-License-Identifier: Apache-2.0
//
// Rows that are computed when somebody asks: a query and a real provider.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../support/temporary_directory.hpp"
#include "../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using namespace std::chrono_literals;
using test::kTide;
using test::kWaves;
using test::TemporaryDirectory;

constexpr auto kPatience = 20s;  // an answer that never comes fails the test, not one that is slow

struct Wave {
  std::string name;
  std::uint32_t id = 0;
  std::uint64_t height = 0;
};

// What the callback of a test adds, and what it was asked.
class Waves {
 public:
  void show(std::vector<Wave> waves) {
    const std::lock_guard lock(mutex_);
    waves_ = std::move(waves);
  }
  std::uint32_t operator()(CallbackRequest& request) {
    const std::lock_guard lock(mutex_);
    ++calls_[request.reason()];
    const bool wants_rows = request.reason() == CallbackReason::kEnumerate ||
                            request.reason() == CallbackReason::kCollect;
    if (!wants_rows) return 0;
    last_mask_.assign(request.counter_mask().begin(), request.counter_mask().end());
    last_id_ = request.instance_id();
    last_pattern_ = request.instance_mask();
    collects_many_ = request.collects_many();
    for (const Wave& wave : waves_) {
      added_.push_back(request.add(
          wave.name, wave.id,
          std::array{wave.height, wave.height * 2, std::uint64_t{100}, std::uint64_t{4}}));
    }
    return 0;
  }

  std::mutex mutex_;
  std::vector<Wave> waves_;
  std::vector<std::uint64_t> last_mask_;
  std::uint32_t last_id_ = 0;
  std::string last_pattern_;
  bool collects_many_ = false;
  std::map<CallbackReason, int> calls_;
  std::vector<CallbackRequest::Added> added_;
};

class CallbackQuery : public testing::Test {
 protected:
  Provider provider(const std::string& name = "sea") {
    return *Provider::create({.name = name, .directory = directory_.path()});
  }
  Registration add(Provider& provider, const CountersetSpec& spec = kWaves) {
    return *provider.add(spec, [this](CallbackRequest& request) { return waves_(request); });
  }
  Catalog catalog() {
    auto catalog = *Catalog::open({.directory = directory_.path()});
    catalog.refresh();
    return catalog;
  }
  static std::map<std::string, double> values(const Sample& sample) {
    std::map<std::string, double> values;
    for (const CookedRow& row : cook(nullptr, sample)) values[row.short_path()] = row.cooked.value;
    return values;
  }

  TemporaryDirectory directory_;
  Waves waves_;
};

TEST_F(CallbackQuery, CollectsRowsThatAreComputedWhenAsked) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  EXPECT_TRUE(query.asks());
  Sample sample;
  const CollectSummary summary = query.collect(sample, kPatience);
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

TEST_F(CallbackQuery, CollectWithoutPatienceShowsWhatWasAnsweredLast) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample).rows, 0U);
  query.collect(sample, kPatience);
  waves_.show({{"red", 3, 11}});
  const int calls = waves_.calls_[CallbackReason::kCollect];
  EXPECT_EQ(query.collect(sample).not_fresh, 0U);
  EXPECT_EQ(values(sample).at("waves/red/height"), 10);
  EXPECT_EQ(waves_.calls_[CallbackReason::kCollect], calls);
  query.collect(sample, kPatience);
  EXPECT_EQ(values(sample).at("waves/red/height"), 11);
}

TEST_F(CallbackQuery, QueriesWithoutCallbacksAskNobody) {
  Provider sea = provider();
  auto plain = *sea.add(kWaves);
  auto red = *plain.create_instance("red");
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {});
  EXPECT_FALSE(query.asks());
  Sample sample;
  query.collect(sample, kPatience);
  EXPECT_EQ(sample.callbacks, nullptr);
  EXPECT_EQ(sample.status.size(), 1U);
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
  query.collect(sample, kPatience);
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
  EXPECT_TRUE(query.enumerate(kPatience));
  ASSERT_EQ(query.unmatched().size(), 1U);
  EXPECT_EQ(query.unmatched().front().part, "instance");
  EXPECT_EQ(query.unmatched().front().suggestion, "red");
  EXPECT_EQ(query.expanded(PathSpelling::kShort), std::vector<std::string>{"waves/red/height"});
  EXPECT_FALSE(query.enumerate(kPatience));
  Sample sample;
  query.collect(sample);
  ASSERT_EQ(sample.status.size(), 1U);
  EXPECT_EQ(sample.status.front(), RowStatus::kUnanswered);  // a name, and no values as yet
  query.collect(sample, kPatience);
  EXPECT_EQ(sample.status.front(), RowStatus::kFresh);
}

// Windows: rows keep identity between collections.
TEST_F(CallbackQuery, RowsKeepTheirNameIdAndPlaceOverAThousandReads) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}});
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves"});
  Sample sample;
  query.collect(sample, kPatience);
  const auto plan = query.plan();
  for (int round = 0; round < 1000; ++round) {
    if (round % 2 == 0) waves_.show({{"blue", 4, 1}, {"red", 3, 2}});
    if (round % 2 == 1) waves_.show({{"red", 3, 3}, {"blue", 4, 4}});
    query.collect(sample, kPatience);
    ASSERT_EQ(query.plan(), plan);
  }
  for (const CookedRow& row : cook(nullptr, sample)) {
    EXPECT_EQ(row.instance->id, row.instance->name == "red" ? 3U : 4U);
  }
}

TEST_F(CallbackQuery, ARowThatComesBackBeginsAnew) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/crests"});
  Sample first, gone, again;
  waves_.show({{"red", 3, 10}, {"blue", 4, 10}});
  query.collect(first, kPatience);
  waves_.show({{"blue", 4, 20}});
  query.collect(gone, kPatience);
  EXPECT_EQ(gone.plan->rows.size(), 1U);
  waves_.show({{"red", 3, 30}, {"blue", 4, 40}});
  query.collect(again, kPatience);
  for (const CookedRow& row : cook(first, again)) {
    EXPECT_EQ(row.cooked.status,
              row.instance->name == "red" ? CookStatus::kReset : CookStatus::kNew);
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
    query.collect(sample, kPatience);
    ASSERT_EQ(sample.plan->rows.size(), count);
    for (const CookedRow& row : cook(nullptr, sample)) {
      ASSERT_EQ(row.cooked.value, row.instance->id + 7.0);
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
  query.collect(sample, kPatience);
  std::map<std::uint32_t, double> by_id;
  for (const CookedRow& row : cook(nullptr, sample)) by_id[row.instance->id] = row.cooked.value;
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
  query.collect(older, kPatience);
  query.collect(same);
  const std::vector<CookedRow> rows = cook(nullptr, older);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GE(rows[0].raw.time_ns, before.monotonic_ns);
  EXPECT_LE(rows[0].raw.time_ns, older.time.monotonic_ns);
  EXPECT_EQ(cook(older, same).front().cooked.status, CookStatus::kNoNewSample);
  query.collect(newer, kPatience);
  EXPECT_TRUE(has_value(cook(older, newer).front().cooked.status));
}

TEST_F(CallbackQuery, TwoQueriesHaveRowsOfTheirOwn) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query one = *Query::compile(catalog, {"waves/*/crests"});
  Query two = *Query::compile(catalog, {"waves/*/crests"});
  Sample of_one, of_two;
  waves_.show({{"red", 3, 10}});
  one.collect(of_one, kPatience);
  waves_.show({{"blue", 4, 20}});
  two.collect(of_two, kPatience);
  // Both lie in the first slot; that must not make them a pair.
  EXPECT_EQ(cook(of_one, of_two).front().cooked.status, CookStatus::kFirstSample);
}

TEST_F(CallbackQuery, PlansAndSamplesOutliveTheirQuery) {
  Sample sample;
  {
    waves_.show({{"red", 3, 10}});
    Provider sea = provider();
    add(sea);
    Catalog catalog = this->catalog();
    Query query = *Query::compile(catalog, {"waves/*/height"});
    query.collect(sample, kPatience);
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
  query.collect(sample, kPatience);
  Query moved = std::move(query);
  waves_.show({{"red", 3, 11}});
  moved.collect(sample, kPatience);
  EXPECT_EQ(values(sample).at("waves/red/height"), 11);
}

// Windows: PCW_MASK_INFORMATION.
TEST_F(CallbackQuery, OneCounterSetsOneBit) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves/*/height"});
  query.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_mask_, std::vector<std::uint64_t>{std::uint64_t{1} << 1});
}

TEST_F(CallbackQuery, ACounterWithABaseOfAHighIdSetsBothBits) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves/*/time_per_crest"});
  query.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_mask_,
            (std::vector<std::uint64_t>{std::uint64_t{1} << 7, std::uint64_t{1} << (70 - 64)}));
}

TEST_F(CallbackQuery, AWildcardSetsAllBits) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves"});
  query.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_mask_, std::vector<std::uint64_t>{~std::uint64_t{0}});
  EXPECT_EQ(waves_.last_pattern_, "*");
  EXPECT_EQ(waves_.last_id_, kAnyInstanceId);
  EXPECT_TRUE(waves_.collects_many_);
}

TEST_F(CallbackQuery, AnExactPatternAndIdReachTheCallback) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query by_pattern = *Query::compile(catalog, {"waves/Re?*/height", "waves/re?*/crests"});
  by_pattern.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_pattern_, "Re?*");
  EXPECT_EQ(waves_.last_id_, kAnyInstanceId);
  Query by_id = Query::of_items(
      catalog, {{.set = kWaves.guid, .instances = "r*", .instance_id = 3},
                {.set = kWaves.guid, .instances = "r*", .instance_id = 3, .counter_id = 1}});
  by_id.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_pattern_, "r*");
  EXPECT_EQ(waves_.last_id_, 3U);
  Query two = Query::of_items(catalog, {{.set = kWaves.guid, .instances = "r*", .instance_id = 3},
                                        {.set = kWaves.guid, .instances = "b*", .instance_id = 4}});
  two.collect(sample, kPatience);
  EXPECT_EQ(waves_.last_pattern_, "*");
  EXPECT_EQ(waves_.last_id_, kAnyInstanceId);
}

// Filtering is optional: whether a provider heeds masks makes no difference.
TEST_F(CallbackQuery, AProviderThatIgnoresMasksGivesTheSameRows) {
  waves_.show({{"red", 3, 10}, {"blue", 4, 20}, {"rose", 5, 30}});  // whatever is asked
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query by_pattern = *Query::compile(catalog, {"waves/r*/height"});
  by_pattern.collect(sample, kPatience);
  EXPECT_EQ(values(sample),
            (std::map<std::string, double>{{"waves/red/height", 10}, {"waves/rose/height", 30}}));
  EXPECT_EQ(sample.callbacks->front().rows, 2U);
  Query by_id = Query::of_items(
      catalog, {{.set = kWaves.guid, .instances = "*", .instance_id = 4, .counter_id = 1}});
  by_id.collect(sample, kPatience);
  EXPECT_EQ(values(sample), (std::map<std::string, double>{{"waves/blue/height", 20}}));
}

TEST_F(CallbackQuery, ASetWithoutNamesHasOneRow) {
  waves_.show({{"", 0, 10}, {"", 1, 20}});
  Provider sea = provider();
  add(sea, kTide);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"tide/height"});
  query.collect(sample, kPatience);
  EXPECT_FALSE(waves_.collects_many_);
  EXPECT_EQ(waves_.added_,
            (std::vector{CallbackRequest::Added::kYes, CallbackRequest::Added::kDropped}));
  EXPECT_EQ(values(sample), (std::map<std::string, double>{{"tide/height", 10}}));
}

// The wrong kind of question is no question.
TEST_F(CallbackQuery, ItemsOfTheWrongKindAskNobody) {
  Provider sea = provider();
  add(sea);
  add(sea, kTide);
  Catalog catalog = this->catalog();
  Query query = Query::of_items(
      catalog, {{.set = kTide.guid, .instances = "red"}, {.set = kWaves.guid, .instances = ""}});
  EXPECT_FALSE(query.asks());
  EXPECT_EQ(query.plan()->answers[0].status, ItemStatus::kWrongKind);
  EXPECT_EQ(query.plan()->answers[1].status, ItemStatus::kWrongKind);
}

TEST_F(CallbackQuery, AnItemFindsItsInstancesOnceTheyWereAnswered) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Query query = Query::of_items(catalog, {{.set = kWaves.guid, .instances = "red"}});
  EXPECT_EQ(query.plan()->answers[0].status, ItemStatus::kInstanceAbsent);
  waves_.show({{"red", 3, 10}});
  Sample sample;
  query.collect(sample, kPatience);
  EXPECT_EQ(query.plan()->answers[0].status, ItemStatus::kFound);
  // Rows stay with the query when its items change.
  query.replace(catalog, {{.set = kWaves.guid, .instances = "r*"}});
  EXPECT_EQ(query.plan()->answers[0].status, ItemStatus::kFound);
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
  query.collect(sample, kPatience);
  EXPECT_EQ(values(sample).at("waves/red/height"), 1);
  EXPECT_EQ(sample.status, std::vector{RowStatus::kFresh});
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kReturnedCode);
  EXPECT_EQ(sample.callbacks->front().code, 17U);
  EXPECT_EQ(sample.callbacks->front().reason(), "the callback returned 17");
}

TEST_F(CallbackQuery, WhatACallbackThrowsIsShown) {
  Provider sea = provider();
  const auto odd = *sea.add(kWaves, [](CallbackRequest&) -> std::uint32_t {
    throw std::runtime_error("no \x1b[2J water");
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kPatience);
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
    query.collect(sample, kPatience);
    inner = sample.callbacks->front().outcome;
    return 0U;
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves"});
  Sample sample;
  query.collect(sample, kPatience);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(inner.load(std::memory_order_relaxed), AnswerOutcome::kReentrant);
}

// Windows: ETW notifications reach every provider of the set.
TEST_F(CallbackQuery, EveryProviderOfTheSetIsAsked) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider("sea"), lake = provider("lake"), pond = provider("pond");
  add(sea);
  add(lake);
  add(pond);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample, kPatience).rows, 3U);
  EXPECT_EQ(sample.callbacks->size(), 3U);
  for (const CookedRow& row : cook(nullptr, sample)) EXPECT_TRUE(row.has_namesake);
}

TEST_F(CallbackQuery, OnlyThePublisherThatAPatternNamesIsAsked) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider("sea"), lake = provider("lake");
  add(sea);
  const auto quiet = *lake.add(kWaves, [](CallbackRequest&) -> std::uint32_t {
    ADD_FAILURE() << "lake was asked";
    return 0;
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"\\\\sea\\Waves(*)\\Height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample, kPatience).rows, 1U);
  EXPECT_EQ(sample.callbacks->size(), 1U);
  Query absent = *Query::compile(catalog, {"\\\\ocean\\Waves(*)\\Height"});
  EXPECT_FALSE(absent.asks());
  EXPECT_EQ(absent.collect(sample, kPatience).rows, 0U);
  EXPECT_EQ(sample.callbacks, nullptr);
}

TEST_F(CallbackQuery, RowsOfAClosedRegistrationAreClosed) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  Registration registration = add(sea);
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kPatience);
  registration.close();
  EXPECT_TRUE(query.collect(sample).stale);
  EXPECT_EQ(sample.status, std::vector{RowStatus::kClosed});
  catalog.refresh();
  query.update(catalog);
  EXPECT_FALSE(query.asks());
}

// Interest needs no request: the providers are told.
class CallbackInterest : public CallbackQuery {
 protected:
  static void await(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::sleep_for(1ms);
  }
};

TEST_F(CallbackInterest, BeginsWithTheQueryAndEndsWithIt) {
  Provider sea = provider();
  Registration registration = add(sea);
  const Interest interest = registration.interest();
  Catalog catalog = this->catalog();
  EXPECT_FALSE(interest.wanted());
  {
    Query query = *Query::compile(catalog, {"waves/*/crests"});
    await([&] { return interest.wanted(); });
    EXPECT_TRUE(interest.wanted(1));
    EXPECT_FALSE(interest.wanted(0));
  }
  await([&] { return !interest.wanted(); });
}

TEST_F(CallbackInterest, FollowsTheCountersThatAreWanted) {
  Provider sea = provider();
  Registration registration = *sea.add(kWaves, Callback());
  const Interest interest = registration.interest();
  Catalog catalog = this->catalog();
  Query query = Query::of_items(catalog, {{.set = kWaves.guid, .counter_id = 1}});
  EXPECT_FALSE(query.asks());  // its rows are created
  await([&] { return interest.wanted(0U); });
  query.replace(catalog, {{.set = kWaves.guid, .counter_id = 2}});
  await([&] { return interest.wanted(1U) && !interest.wanted(0U); });
  query.replace(catalog, {});
  await([&] { return !interest.wanted(); });
}

TEST_F(CallbackInterest, ReachesAProviderThatStartsLate) {
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/crests"});
  Provider sea = provider();
  Registration registration = add(sea);
  catalog.refresh();
  query.update(catalog);
  await([&] { return registration.interest().wanted(); });
}

}  // namespace
}  // namespace meterbank
