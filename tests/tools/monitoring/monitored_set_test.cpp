// SPDX-License-Identifier: Apache-2.0
#include "monitoring/monitored_set.hpp"

#include "monitored_fixture.hpp"
#include "monitoring/promql.hpp"

namespace meterbank::monitoring {
namespace {

using test::monitored;
using test::set_of;

TEST(MonitoredSets, AreSortedSoThatTheirOrderIsThatOfNoProvider) {
  const auto one = monitored({set_of("b", {{"x"}}), set_of("a", {{"x"}})});
  ASSERT_EQ(one.list().size(), 2U);
  EXPECT_EQ(one.list()[0]->key, "a");
  EXPECT_EQ(one.list()[1]->key, "b");
}

TEST(MonitoredSets, TakeTheNamesThatPagesGive) {
  // "provider_up" is a name of the pages themselves.
  const auto sets = monitored({set_of("provider", {{"up", CounterType::kLargeRawCount}})});
  ASSERT_EQ(sets.list().size(), 1U);
  const std::string name = sets.list()[0]->families.at(0).metric.name;
  EXPECT_TRUE(name.starts_with("meterbank_provider_") && name.ends_with("_up")) << name;
  EXPECT_NE(name, "meterbank_provider_up");
}

TEST(MonitoredSets, JoinSetsOfOneSymbol) {
  const auto sets = monitored({set_of("Shop", {{"sold"}}), set_of("shop", {{"returned"}})});
  ASSERT_EQ(sets.list().size(), 1U);
  EXPECT_EQ(sets.list()[0]->families.size(), 2U);
}

TEST(MonitoredSets, LeaveOutNamesThatQueriesCannotHave) {
  const auto sets = monitored({set_of("3d", {{"drawn"}}), set_of("shop", {{"sold"}}, "inf")}, "");
  ASSERT_EQ(sets.list().size(), 1U);
  EXPECT_EQ(sets.list()[0]->key, "shop");
  EXPECT_EQ(sets.list()[0]->instance_label, "");
  EXPECT_EQ(monitored({set_of("3d", {{"drawn"}})}).list().size(), 1U);
}

TEST(MonitoredSets, AreThoseThatAreWantedUnderTheNamesOfAll) {
  const std::vector sets = {set_of("a_b", {{"c"}}), set_of("a", {{"b_c"}}), set_of("d", {{"e"}})};
  const std::vector<Glob> wanted = {Glob("A"), Glob("d*")};
  const auto chosen = monitored_sets(sets, {}, wanted);
  ASSERT_EQ(chosen.list().size(), 2U);
  // The first set has taken meterbank_a_b_c.
  EXPECT_EQ(chosen.list()[0]->families.at(0).metric.name,
            monitored(sets).list()[0]->families.at(0).metric.name);
  EXPECT_NE(chosen.list()[0]->families.at(0).metric.name, "meterbank_a_b_c");
}

TEST(MonitoredSet, IsWatchedByAMetricThatEachRowHas) {
  const auto sets = monitored({set_of("shop", {{"full", CounterType::kRawFraction},
                                               {"state", CounterType::kText, {}, ValueForm::kText},
                                               {"stock", CounterType::kLargeRawCount},
                                               {"room", CounterType::kRawBase}})});
  const MonitoredSet& shop = *sets.list().at(0);
  ASSERT_EQ(shop.families.size(), 3U);
  EXPECT_EQ(sample_of(shop.steadiest()), "meterbank_shop_stock");
  const auto average =
      monitored({set_of("shop", {{"full", CounterType::kRawFraction},
                                 {"state", CounterType::kText, {}, ValueForm::kText},
                                 {"room", CounterType::kRawBase}})});
  EXPECT_EQ(sample_of(average.list().at(0)->steadiest()), "meterbank_shop_state_info");
}

TEST(MonitoredSet, KnowsWhatACountMeans) {
  const auto sets = monitored({set_of("shop", {{"sold"},
                                               {"busy", CounterType::kTimer},
                                               {"idle", CounterType::kTimer100NsInverse},
                                               {"queue", CounterType::kQueueLength100Ns},
                                               {"hits", CounterType::kSampleFraction},
                                               {"looks", CounterType::kSampleBase}})});
  std::vector<Meaning> meanings;
  for (const MonitoredFamily& family : sets.list().at(0)->families) {
    meanings.push_back(family.meaning);
  }
  EXPECT_EQ(meanings, (std::vector{Meaning::kRate, Meaning::kBusyShare, Meaning::kIdleShare,
                                   Meaning::kQueueLength, Meaning::kHits, Meaning::kBase}));
}

}  // namespace
}  // namespace meterbank::monitoring
