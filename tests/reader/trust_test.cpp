// SPDX-License-Identifier: Apache-2.0
//
// The order of trust, and which registrations are rows of one set.
#include <gtest/gtest.h>
#include <unistd.h>

#include "meterbank/reader/catalog.hpp"

namespace meterbank {
namespace {

TEST(Trust, GoesByTheUid) {
  const std::uint32_t own = ::geteuid(), other = own + 1000;
  EXPECT_TRUE(includes(UserPolicy::kOwn, own));
  EXPECT_EQ(includes(UserPolicy::kOwn, 0), own == 0);
  EXPECT_TRUE(includes(UserPolicy::kOwnAndRoot, own));
  EXPECT_TRUE(includes(UserPolicy::kOwnAndRoot, 0));
  EXPECT_FALSE(includes(UserPolicy::kOwnAndRoot, other));
  EXPECT_TRUE(includes(UserPolicy::kEveryone, other));
}

TEST(Trust, ComesBeforeLifeAndAge) {
  ProviderView trusted, other;
  trusted.trusted = true;
  trusted.state = ProviderState::kDead;
  trusted.created_realtime_ns = 2;
  other.created_realtime_ns = 1;
  EXPECT_TRUE(comes_before(trusted, other));
  EXPECT_FALSE(comes_before(other, trusted));
  other.trusted = true;
  EXPECT_TRUE(comes_before(other, trusted));
  trusted.state = ProviderState::kLive;
  EXPECT_TRUE(comes_before(other, trusted));
}

TEST(Descriptions, AgreeByWhatValuesMean) {
  Counterset one;
  one.counters.resize(2);
  one.counters[0].id = 1;
  one.counters[1].id = 2;
  Counterset two = one;
  two.name = two.counters[0].name = two.counters[0].help = "other";
  two.counters[1].id = 3;
  EXPECT_TRUE(agree(one, two));
  const auto with = [&one](auto&& change) {
    Counterset changed = one;
    change(changed);
    return changed;
  };
  EXPECT_FALSE(agree(one, with([](auto& set) { set.guid.part1 = 1; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.instances = InstanceKind::kMultiple; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.counters[1].type = CounterType::kBulkCount; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.counters[1].form = ValueForm::kReal; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.counters[1].aggregate = kAggregateSum; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.counters[1].scale = 1; })));
  EXPECT_FALSE(agree(one, with([](auto& set) { set.counters[1].unit = "s"; })));
}

}  // namespace
}  // namespace meterbank
