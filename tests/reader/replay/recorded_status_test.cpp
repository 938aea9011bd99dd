// SPDX-License-Identifier: Apache-2.0
//
// What a live reader says of rows that have ended, and of rows that it asked for, is what a
// recording of it says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../callback/callback_fixture.hpp"
#include "../catalog/catalog_fixture.hpp"
#include "poured_replay.hpp"
#include "printed_rows.hpp"

namespace meterbank {
namespace {

using test::first_difference;
using test::PouredReplay;
using test::printed_rows;
using test::Wave;

constexpr Timestamp kNow{5'000'000'000, 1'700'000'000'000'000'000};
const std::vector<std::string> kEverything{"*/*/*", "*/*"};

std::vector<std::string> rows_of(Query& query, Timestamp time) {
  Sample sample;
  query.collect(sample, time);
  return printed_rows(sample.rows());
}

class RecordedStatus : public test::SharedDirectoryTest {
 protected:
  // The difference between the sample and a replay of it.
  std::string poured(const Catalog& live, PouredReplay& replay) {
    replay.pour(live, sample_);
    Query query = *Query::compile(replay.catalog(), kEverything);
    return first_difference(printed_rows(sample_.rows()), rows_of(query, sample_.time));
  }

  Sample sample_;
};

TEST_F(RecordedStatus, IsThatOfADeadProvider) {
  const pid_t child = start_child([this] {
    static Provider provider = *Provider::create({.name = "waves", .directory = directory_.path()});
    static Registration set = *provider.add(test::kWaves);
    static Instance instance = *set.create_instance("a");
    instance.set(0U, 77);
  });
  Catalog live = open();
  Query query = *Query::compile(live, kEverything);
  end(child);
  query.collect(sample_, kNow);  // it died after the directory was read
  ASSERT_EQ(sample_.statuses()[0], RowStatus::kDead);
  PouredReplay replay;
  EXPECT_EQ(poured(live, replay), "");
  ASSERT_TRUE(live.refresh());
  query.update(live);
  query.collect(sample_, kNow);
  EXPECT_EQ(poured(live, replay), "");
  EXPECT_EQ(replay.catalog().providers()[0]->state, ProviderState::kDead);
}

// A control: a replay without statuses is found out.
TEST_F(RecordedStatus, DiffersIfItIsLeftOut) {
  Provider provider = *Provider::create({.name = "waves", .directory = directory_.path()});
  Registration set = *provider.add(test::kWaves);
  Instance instance = *set.create_instance("a");
  Catalog live = open();
  Query query = *Query::compile(live, kEverything);
  instance.close();
  query.collect(sample_, kNow);
  ASSERT_EQ(sample_.statuses()[0], RowStatus::kClosed);
  PouredReplay with, without;
  without.leave_statuses_out();
  EXPECT_EQ(poured(live, with), "");
  EXPECT_NE(poured(live, without), "");
}

class RecordedAnswers : public test::CallbackQuery {
 protected:
  void ask(std::chrono::nanoseconds timeout) {
    recorder_->collect(sample_, timeout);
    replay_.pour(*live_, sample_);
    query_->update(replay_.catalog());
  }
  void expect_the_same() {
    const auto time = replay_.replay().time();
    EXPECT_EQ("", first_difference(printed_rows(sample_.rows()), rows_of(*query_, time)));
    Sample replayed;
    const CollectSummary summary = query_->collect(replayed, time);
    ASSERT_NE(replayed.callbacks, nullptr);
    ASSERT_EQ(replayed.callbacks->size(), sample_.callbacks->size());
    std::size_t unanswered = 0;
    for (std::size_t index = 0; index < replayed.callbacks->size(); ++index) {
      const CallbackAnswer& one = (*sample_.callbacks)[index];
      const CallbackAnswer& other = (*replayed.callbacks)[index];
      EXPECT_EQ(one.reason(), other.reason());
      EXPECT_EQ(one.rows, other.rows);
      EXPECT_EQ(one.provider->label(), other.provider->label());
      EXPECT_EQ(one.set->set->name, other.set->set->name);
      if (!has_rows(one.outcome)) ++unanswered;
    }
    EXPECT_EQ(summary.unanswered, unanswered);
  }
  void start() {
    live_.emplace(catalog());
    recorder_.emplace(*Query::compile(*live_, kEverything));
    query_.emplace(*Query::compile(replay_.catalog(), kEverything));
  }

  std::optional<Catalog> live_;
  std::optional<Query> recorder_, query_;
  Sample sample_;
  PouredReplay replay_;
};

TEST_F(RecordedAnswers, AreRowsThatComeAndGo) {
  Provider sea = provider();
  Registration waves = add(sea);
  Registration tide = add(sea, test::kTide);
  const Instance kept = *waves.create_instance("kept in memory");
  start();
  const std::vector<std::vector<Wave>> answers{
      {{"red", 3, 10}, {"blue", 4, 20}}, {{"blue", 4, 21}}, {},
      {{"red", 3, 11}, {"green", 5, 1}}, {{"", 0, 7}},      {{"red", 4, 11}, {"red", 3, 12}}};
  for (const auto& answer : answers) {
    waves_.show(answer);
    ask(test::kTimeout);
    expect_the_same();
  }
}

TEST_F(RecordedAnswers, SayWhyThereAreNone) {
  // The provider goes first: until then its callback runs.
  std::atomic<std::uint32_t> code{0};
  std::atomic<bool> hangs{false};
  Provider sea = provider();
  const Registration waves = *sea.add(test::kWaves, [&](CallbackRequest& request) {
    while (hangs.load(std::memory_order_relaxed) && !request.is_cancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    const bool wants_rows = request.reason() == CallbackReason::kCollect;
    if (wants_rows) request.add("red", 1, std::array<std::uint64_t, 4>{1, 2, 3, 4});
    return wants_rows ? code.load(std::memory_order_relaxed) : 0;
  });
  start();
  ask(test::kTimeout);
  expect_the_same();
  code.store(5, std::memory_order_relaxed);
  ask(test::kTimeout);
  EXPECT_EQ(sample_.callbacks->front().outcome, AnswerOutcome::kReturnedCode);
  expect_the_same();
  hangs.store(true, std::memory_order_relaxed);
  ask(std::chrono::milliseconds{20});
  EXPECT_EQ(sample_.callbacks->front().outcome, AnswerOutcome::kTimeout);
  expect_the_same();
  hangs.store(false, std::memory_order_relaxed);
}

TEST_F(RecordedAnswers, AreNotAskedForAgain) {
  waves_.show({{"red", 3, 10}});
  Provider sea = provider();
  const Registration waves = add(sea);
  start();
  ask(test::kTimeout);
  const int asked = waves_.calls_[CallbackReason::kCollect];
  const auto interested = [this] {
    const ProviderView& view = *live_->providers()[0];
    return view.interested(view.sets[0]);
  };
  ASSERT_TRUE(test::comes_true([&] { return interested() == 1; }));
  EXPECT_FALSE(query_->asks());
  query_->collect(sample_, test::kTimeout);
  EXPECT_EQ(sample_.statuses().size(), 1U);
  EXPECT_EQ(waves_.calls_[CallbackReason::kCollect], asked);
  EXPECT_EQ(interested(), 1U) << "that of the recorder alone";
}

}  // namespace
}  // namespace meterbank
