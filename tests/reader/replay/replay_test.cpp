// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hand_made.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {
namespace {

using test::provider_called;
using test::registered;
using test::two_counters;

constexpr Timestamp kFirst{1'000'000'000, 5'000'000'000};
constexpr Timestamp kSecond{2'000'000'000, 6'000'000'000};
constexpr std::uint32_t kOwnUid = 1000;

std::vector<std::string> names_of(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const auto& provider : catalog.providers()) names.push_back(provider->name);
  return names;
}

class ReplayTest : public testing::Test {
 protected:
  ReplayRowId begin(std::uint32_t slot, std::string_view name, std::uint64_t generation = 1) {
    return replay_.begin_instance(set_, {.slot = slot, .name = name, .generation = generation})
        .value();
  }
  Query compile(const std::vector<std::string>& patterns = {}) {
    return *Query::compile(replay_.catalog(), patterns);
  }
  void collect(Query& query) { query.collect(sample_, replay_.time()); }
  [[nodiscard]] std::vector<std::string> row_names() const {
    std::vector<std::string> names;
    for (const Row& row : sample_) names.push_back(row.instance_label());
    return names;
  }

  Replay replay_{{}, kOwnUid};
  ReplayProviderId provider_ = replay_.add_provider(provider_called("shop")).value();
  ReplaySetId set_ = replay_.add_set(provider_, registered(two_counters())).value();
  Sample sample_;
};

TEST_F(ReplayTest, ShowsNothingBeforeShow) {
  begin(0, "a");
  EXPECT_TRUE(replay_.catalog().providers().empty());
  EXPECT_EQ(replay_.catalog().version(), 0U);
  replay_.show(kFirst);
  ASSERT_EQ(replay_.catalog().providers().size(), 1U);
  EXPECT_EQ(replay_.catalog().version(), 1U);
  begin(1, "b");
  EXPECT_EQ(replay_.catalog().providers()[0]->sets[0].instances.size(), 1U);
  replay_.show(kSecond);
  EXPECT_EQ(replay_.catalog().providers()[0]->sets[0].instances.size(), 2U);
  EXPECT_EQ(replay_.time().realtime_ns, kSecond.realtime_ns);
}

TEST_F(ReplayTest, CooksRatesFromTheTimesOfTheRecording) {
  const ReplayRowId row = begin(0, "a");
  replay_.words(set_, row)[0] = 100;
  replay_.show(kFirst);
  Query query = compile({"queues/a/count"});
  Sample before;
  query.collect(before, replay_.time());
  replay_.words(set_, row)[0] = 350;
  replay_.show(kSecond);
  EXPECT_EQ(replay_.catalog().version(), 1U);
  EXPECT_FALSE(query.update(replay_.catalog()));
  collect(query);
  for (const Row& one : sample_.since(before)) {
    for (const Value& value : one) EXPECT_EQ(value.cooked.value, 250.0);
  }
}

TEST_F(ReplayTest, RefreshChangesNothing) {
  replay_.show(kFirst);
  const auto before = replay_.catalog().providers();
  ASSERT_TRUE(replay_.catalog().refresh());
  EXPECT_EQ(replay_.catalog().providers(), before);
  EXPECT_FALSE(replay_.catalog().stale());
}

TEST_F(ReplayTest, KeepsTheOrderOfSlotsWhateverTheOrderOfBeginning) {
  for (const std::uint32_t slot : {7U, 0U, InstanceView::kSlotMask, 3U}) {
    begin(slot, "in " + std::to_string(slot));
  }
  replay_.show(kFirst);
  Query query = compile();
  collect(query);
  const std::vector<std::string> expected{"in 0", "in 3", "in 7", "in 2147483647"};
  EXPECT_EQ(row_names(), expected);
}

TEST_F(ReplayTest, ShowsEachStatusAsRecorded) {
  constexpr auto kLast = static_cast<int>(RowStatus::kUnanswered);
  std::vector<ReplayRowId> rows;
  for (int status = 0; status <= kLast; ++status) {
    rows.push_back(begin(static_cast<std::uint32_t>(status), std::to_string(status)));
    replay_.words(set_, rows.back())[1] = 5;
    replay_.set_row(set_, rows.back(), static_cast<RowStatus>(status),
                    RowConsistency::kSharedCounters);
  }
  replay_.show(kFirst);
  Query query = compile();
  const CollectSummary summary = query.collect(sample_, replay_.time());
  EXPECT_EQ(summary.not_fresh, static_cast<std::size_t>(kLast));
  ASSERT_EQ(sample_.statuses().size(), static_cast<std::size_t>(kLast) + 1);
  for (std::size_t row = 0; row < sample_.statuses().size(); ++row) {
    const auto status = static_cast<RowStatus>(row);
    EXPECT_EQ(sample_.statuses()[row], status);
    EXPECT_EQ(sample_.consistencies()[row], RowConsistency::kSharedCounters);
    EXPECT_EQ(sample_.stored(row)[1], holds_values(status) ? 5U : 0U) << name_of(status);
  }
}

TEST_F(ReplayTest, AStatusIsOfOneTick) {
  const ReplayRowId row = begin(0, "a");
  replay_.words(set_, row)[1] = 5;
  replay_.set_row(set_, row, RowStatus::kBusy, RowConsistency::kBlock);
  replay_.show(kFirst);
  Query query = compile();
  collect(query);
  EXPECT_EQ(sample_.stored(0)[1], 0U);
  replay_.set_row(set_, row, RowStatus::kFresh, RowConsistency::kBlock);
  replay_.show(kSecond);
  collect(query);
  EXPECT_EQ(sample_.statuses()[0], RowStatus::kFresh);
  EXPECT_EQ(sample_.stored(0)[1], 5U);
}

TEST_F(ReplayTest, RowsThatEndedKeepTheirValuesForTheTickBefore) {
  const ReplayRowId row = begin(0, "a");
  replay_.words(set_, row)[1] = 5;
  replay_.show(kFirst);
  Query query = compile();
  replay_.end_instance(set_, row);
  const ReplayRowId next = begin(1, "b");
  replay_.words(set_, next)[1] = 6;
  replay_.show(kSecond);
  collect(query);  // with the plan of the first tick
  EXPECT_EQ(sample_.statuses()[0], RowStatus::kClosed);
  EXPECT_EQ(sample_.stored(0)[1], 5U);
  EXPECT_TRUE(query.update(replay_.catalog()));
  collect(query);
  EXPECT_EQ(row_names(), std::vector<std::string>{"b"});
  EXPECT_EQ(sample_.stored(0)[1], 6U);
}

TEST_F(ReplayTest, RowsWhosePlaceIsTakenAreGone) {
  replay_.end_instance(set_, begin(0, "a"));
  const ReplayRowId row = begin(0, "a", 2);
  replay_.show(kFirst);
  Query query = compile();
  replay_.end_instance(set_, row);
  replay_.show(kSecond);
  const ReplayRowId later = begin(5, "b", 2);
  replay_.words(set_, later)[1] = 6;
  EXPECT_EQ(later, row) << "the place is used again";
  replay_.show(kSecond);
  collect(query);
  EXPECT_EQ(sample_.statuses()[0], RowStatus::kGone);
  EXPECT_EQ(sample_.stored(0)[1], 0U);
}

// The generation tells one life of a slot from the next, not the place.
TEST_F(ReplayTest, ValuesOfAnotherSlotAreNotTheOlderOnesOfThisOne) {
  const ReplayRowId row = begin(0, "a");
  replay_.words(set_, row)[0] = 1000;
  replay_.show(kFirst);
  Query query = compile({"queues/*/count"});
  Sample before;
  query.collect(before, replay_.time());
  replay_.end_instance(set_, row);
  replay_.show(kFirst);
  EXPECT_EQ(begin(9, "b"), row);
  replay_.show(kSecond);
  query.update(replay_.catalog());
  collect(query);
  for (const Row& one : sample_.since(before)) {
    for (const Value& value : one) EXPECT_EQ(value.cooked.status, CookStatus::kFirstSample);
  }
}

TEST_F(ReplayTest, ALifeThatIsToldAgainIsFoundInItsNewPlace) {
  const ReplayRowId row = begin(3, "a");
  replay_.show(kFirst);
  Query query = compile();
  collect(query);
  replay_.end_instance(set_, row);
  const ReplayRowId again = begin(3, "a");
  EXPECT_NE(again, row);
  replay_.words(set_, row)[1] = 5;
  replay_.words(set_, again)[1] = 6;
  replay_.show(kSecond);
  query.update(replay_.catalog());
  collect(query);
  EXPECT_EQ(sample_.stored(0)[1], 6U);
}

TEST_F(ReplayTest, ClosedInstancesAreListedAndNotSelected) {
  const ReplayRowId row = begin(0, "a");
  begin(1, "b");
  replay_.show(kFirst);
  Query query = compile();
  replay_.close_instance(set_, row);
  replay_.show(kSecond);
  const auto& instances = replay_.catalog().providers()[0]->sets[0].instances;
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_TRUE(instances[0].closed);
  EXPECT_TRUE(query.update(replay_.catalog()));
  collect(query);
  EXPECT_EQ(row_names(), std::vector<std::string>{"b"});
}

TEST_F(ReplayTest, RemovedSetsLeaveTheirLastRowsToOlderPlans) {
  const ReplayRowId row = begin(0, "a");
  replay_.words(set_, row)[1] = 5;
  replay_.show(kFirst);
  Query query = compile();
  replay_.remove_set(set_);
  replay_.show(kSecond);
  EXPECT_EQ(replay_.bytes(), 0U);
  collect(query);
  EXPECT_EQ(sample_.statuses()[0], RowStatus::kClosed);
  EXPECT_EQ(sample_.stored(0)[1], 5U);
  EXPECT_TRUE(query.update(replay_.catalog()));
  collect(query);
  EXPECT_TRUE(row_names().empty());
}

TEST_F(ReplayTest, SamplesOutliveTheReplay) {
  Sample sample;
  {
    Replay replay;
    const auto provider = replay.add_provider(provider_called("brief", 1)).value();
    const auto set = replay.add_set(provider, registered(two_counters())).value();
    const auto row = replay.begin_instance(set, {.slot = 0, .name = "a"}).value();
    replay.words(set, row)[1] = 5;
    replay.show(kFirst);
    Query query = *Query::compile(replay.catalog(), {});
    query.collect(sample, replay.time());
    replay.remove_provider(provider);
    replay.show(kSecond);
    query.collect(sample, replay.time());
  }
  EXPECT_EQ(sample.statuses()[0], RowStatus::kClosed);
  for (const Row& row : sample) EXPECT_EQ(row.name(), "a");
}

TEST_F(ReplayTest, LivenessIsThatOfTheRecording) {
  replay_.set_liveness(provider_, 123'456, 7);
  replay_.set_interest(set_, 3);
  replay_.show(kFirst);
  const ProviderView& provider = *replay_.catalog().providers()[0];
  EXPECT_EQ(provider.heartbeat_age_ns(), 123'456U);
  EXPECT_EQ(provider.refused(), 7U);
  EXPECT_EQ(provider.interested(provider.sets[0]), 3U);
  replay_.set_liveness(provider_, 5, 8);
  EXPECT_EQ(provider.heartbeat_age_ns(), 5U) << "without another view";
}

TEST_F(ReplayTest, CutsOfRecordedRowsAreRowByRow) {
  begin(0, "a");
  replay_.show(kFirst);
  Query query = compile();
  for (const Cut cut : {Cut::kTry, Cut::kEpoch}) {
    EXPECT_EQ(query.collect(sample_, replay_.time(), cut).cut, CutQuality::kPerBlock);
    for (const Row& row : sample_) {
      EXPECT_EQ(row.cut, CutQuality::kPerBlock);
      EXPECT_EQ(row.skew_ns, 0U);
      EXPECT_EQ(row.status, RowStatus::kFresh);
    }
  }
}

TEST(ReplayOptions, TrustAndUsersAreThoseOfTheReader) {
  const auto listed = [](CatalogOptions options, std::uint32_t own_uid) {
    Replay replay(std::move(options), own_uid);
    for (const auto& [name, uid] :
         {std::pair("root", 0U), std::pair("mine", 1000U), std::pair("other", 1001U)}) {
      auto facts = provider_called(name, uid);
      facts.uid = uid;
      EXPECT_TRUE(replay.add_provider(std::move(facts)));
    }
    replay.show(kFirst);
    std::string all;
    for (const auto& provider : replay.catalog().providers()) {
      all += provider->name + (provider->trusted ? "+ " : "- ");
    }
    return all + std::to_string(replay.catalog().skipped());
  };
  EXPECT_EQ(listed({}, 1000), "mine+ other- root+ 0");
  EXPECT_EQ(listed({.trust = UserPolicy::kOwn}, 1001), "mine- other+ root- 0");
  EXPECT_EQ(listed({.trust = UserPolicy::kEveryone}, 7), "mine+ other+ root+ 0");
  EXPECT_EQ(listed({.users = UserPolicy::kOwn}, 1000), "mine+ 2");
}

TEST(ReplayOptions, WhereChoosesAmongRecordedProviders) {
  Replay replay({.where = {{"pod", "0f3c*"}}}, 1000);
  auto here = provider_called("here", 1), there = provider_called("there", 2);
  here.outside.pod = "0f3c-77";
  here.outside.pid = there.outside.pid = 5;
  const auto id = replay.add_provider(here).value();
  EXPECT_TRUE(replay.add_provider(there));
  replay.show(kFirst);
  EXPECT_EQ(names_of(replay.catalog()), std::vector<std::string>{"here"});
  EXPECT_EQ(replay.catalog().unchosen(), 1U);
  EXPECT_EQ(replay.catalog().providers()[0]->outside, here.outside);
  here.outside.pod = "elsewhere";
  EXPECT_TRUE(replay.change_provider(id, here));
  replay.show(kSecond);
  EXPECT_TRUE(replay.catalog().providers().empty());
}

TEST(ReplayOptions, LabelsAreShownWhereTheyAreAskedFor) {
  auto facts = provider_called("here");
  facts.outside.pid = 5;
  for (const bool is_asked : {false, true}) {
    Replay replay({.outside_labels = is_asked}, 1000);
    EXPECT_TRUE(replay.add_provider(facts));
    replay.show(kFirst);
    EXPECT_EQ(replay.catalog().providers()[0]->outside.pid, is_asked ? 5U : 0U);
  }
}

}  // namespace
}  // namespace meterbank
