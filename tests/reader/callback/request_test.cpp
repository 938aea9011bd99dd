// SPDX-License-Identifier: Apache-2.0
//
// Which providers are asked, for what, and which are told of an interested reader.
#include <atomic>
#include <functional>
#include <thread>

#include "../../support/comes_true.hpp"
#include "../../support/cooked_values.hpp"
#include "../../support/sample_words.hpp"
#include "callback_fixture.hpp"

namespace meterbank::callback_request_test {
namespace {

using namespace std::chrono_literals;
using test::CallbackQuery;
using test::kTide;
using test::kTimeout;
using test::kWaves;

// Windows: PCW_MASK_INFORMATION.
TEST_F(CallbackQuery, OneCounterSetsOneBit) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves/*/height"});
  query.collect(sample, kTimeout);
  EXPECT_EQ(waves_.last_mask_, std::vector<std::uint64_t>{std::uint64_t{1} << 1});
}

TEST_F(CallbackQuery, ACounterWithABaseOfAHighIdSetsBothBits) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves/*/time_per_crest"});
  query.collect(sample, kTimeout);
  EXPECT_EQ(waves_.last_mask_,
            (std::vector<std::uint64_t>{std::uint64_t{1} << 7, std::uint64_t{1} << (70 - 64)}));
}

TEST_F(CallbackQuery, AWildcardSetsAllBits) {
  Provider sea = provider();
  add(sea);
  Catalog catalog = this->catalog();
  Sample sample;
  Query query = *Query::compile(catalog, {"waves"});
  query.collect(sample, kTimeout);
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
  by_pattern.collect(sample, kTimeout);
  EXPECT_EQ(waves_.last_pattern_, "Re?*");
  EXPECT_EQ(waves_.last_id_, kAnyInstanceId);
  ItemQuery by_id = ItemQuery::compile(
      catalog, {{.set = kWaves.guid, .instances = "r*", .instance_id = 3},
                {.set = kWaves.guid, .instances = "r*", .instance_id = 3, .counter_id = 1}});
  by_id.collect(sample, kTimeout);
  EXPECT_EQ(waves_.last_pattern_, "r*");
  EXPECT_EQ(waves_.last_id_, 3U);
  ItemQuery two =
      ItemQuery::compile(catalog, {{.set = kWaves.guid, .instances = "r*", .instance_id = 3},
                                   {.set = kWaves.guid, .instances = "b*", .instance_id = 4}});
  two.collect(sample, kTimeout);
  EXPECT_EQ(waves_.last_pattern_, "*");
  EXPECT_EQ(waves_.last_id_, kAnyInstanceId);
}

// A request of the wrong kind is not sent.
TEST_F(CallbackQuery, ItemsOfTheWrongKindSendNoRequest) {
  Provider sea = provider();
  add(sea);
  add(sea, kTide);
  Catalog catalog = this->catalog();
  ItemQuery query = ItemQuery::compile(
      catalog, {{.set = kTide.guid, .instances = "red"}, {.set = kWaves.guid, .instances = ""}});
  EXPECT_FALSE(query.asks());
  EXPECT_EQ(plan_of(query)->answers[0].status, ItemStatus::kWrongKind);
  EXPECT_EQ(plan_of(query)->answers[1].status, ItemStatus::kWrongKind);
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
  EXPECT_EQ(query.collect(sample, kTimeout).rows, 3U);
  EXPECT_EQ(sample.callbacks->size(), 3U);
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
    EXPECT_TRUE(row.row->has_namesake);
}

TEST_F(CallbackQuery, OnlyTheProviderThatAPatternNamesIsAsked) {
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
  EXPECT_EQ(query.collect(sample, kTimeout).rows, 1U);
  EXPECT_EQ(sample.callbacks->size(), 1U);
  Query absent = *Query::compile(catalog, {"\\\\ocean\\Waves(*)\\Height"});
  EXPECT_FALSE(absent.asks());
  EXPECT_EQ(absent.collect(sample, kTimeout).rows, 0U);
  EXPECT_EQ(sample.callbacks, nullptr);
}

// Beyond the places of a registration readers are told to come again, and do.
TEST_F(CallbackQuery, MoreReadersThanPlacesAllGetTheirAnswers) {
  constexpr std::size_t kReaders = 3 * kOutstandingRequestsMax;
  constexpr int kRounds = 5;
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  const auto slow = *sea.add(kWaves, [this](CallbackRequest& request) {
    std::this_thread::sleep_for(1ms);
    return waves_(request);
  });
  std::atomic<int> answered{0};
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&] {
      Catalog catalog = this->catalog();
      Query query = *Query::compile(catalog, {"waves/*/height"});
      Sample sample;
      for (int round = 0; round < kRounds; ++round) {
        query.collect(sample, kTimeout);
        if (sample.callbacks->front().outcome == AnswerOutcome::kAnswered) ++answered;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(answered.load(std::memory_order_relaxed), static_cast<int>(kReaders) * kRounds);
}

// Interest needs no request: the providers are told.
class CallbackInterest : public CallbackQuery {
 protected:
  static void await(const std::function<bool()>& condition) {
    EXPECT_TRUE(test::comes_true(condition));
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
    await([&] { return interest.wanted() && interest.wanted(1); });
    EXPECT_FALSE(interest.wanted(0));
  }
  await([&] { return !interest.wanted(); });
}

TEST_F(CallbackInterest, FollowsTheCountersThatAreWanted) {
  Provider sea = provider();
  Registration registration = *sea.add(kWaves, Callback());
  const Interest interest = registration.interest();
  Catalog catalog = this->catalog();
  ItemQuery query = ItemQuery::compile(catalog, {{.set = kWaves.guid, .counter_id = 1}});
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
}  // namespace meterbank::callback_request_test
