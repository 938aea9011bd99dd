// SPDX-License-Identifier: Apache-2.0
//
// A user-mode provider made of its manifest, and what readers see of it.
#include "../../pcw/pcw_fixture.hpp"
#include "bakery_counters.h"
#include "bakery_symbols.h"
#include "heard_bakery_counters.h"
#include "other_bakery_file.hpp"

namespace meterbank {
namespace {

using namespace test;

constexpr ULONG kGood = ERROR_SUCCESS;

class Bakery : public PcwTest {
 protected:
  ~Bakery() override {
    MyCounterCleanup();
    HeardCounterCleanup();
  }
};

TEST_F(Bakery, PublishesUnderTheNamesOfItsManifest) {
  ASSERT_EQ(MyCounterInitialize(), kGood) << pcw::last_refusal();
  const auto left = PerfCreateInstance(MyBakeryProvider, &MyOvensGuid, L"Left", 1);
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(PerfSetULongCounterValue(MyBakeryProvider, left, OvenTemperature, 220), kGood);
  EXPECT_EQ(PerfSetULongLongCounterValue(MyBakeryProvider, left, OvenLoaves, 12), kGood);

  EXPECT_EQ(asked_value("\\Bakery Ovens(Left)\\Temperature"), 220U);
  EXPECT_EQ(asked_value("ovens/Left/oven_loaves"), 12U);
  const auto ovens = find_set("Bakery Ovens");
  ASSERT_NE(ovens, nullptr);
  EXPECT_EQ(ovens->guid, std::bit_cast<Guid>(MyOvensGUID));
  EXPECT_EQ(ovens->help, "The ovens, one instance each.");
  EXPECT_EQ(ovens->find(OvenBakingTime)->base, 3U);  // the word of counter 4
  const auto shop = find_set("Bakery Shop");
  ASSERT_NE(shop, nullptr);
  EXPECT_EQ(shop->instances, InstanceKind::kSingle);
  EXPECT_EQ(shop->find(ShopCustomers)->scale, 1);
}

TEST_F(Bakery, EndsWithItsCleanupAndMayBeginAgain) {
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(MyCounterInitialize(), kGood);
    EXPECT_NE(find_set("Bakery Shop"), nullptr);
    EXPECT_EQ(MyCounterCleanup(), kGood);
    EXPECT_EQ(MyBakeryProvider, nullptr);
    EXPECT_EQ(directory_.files(), 0U);
    EXPECT_EQ(MyCounterCleanup(), kGood);
  }
}

TEST_F(Bakery, StartsNothingWhereASetIsRefused) {
  const ULONG counters = std::exchange(MyShopInfo.CounterSet.NumCounters, 0);
  EXPECT_EQ(MyCounterInitialize(), static_cast<ULONG>(ERROR_INVALID_PARAMETER));
  EXPECT_EQ(MyBakeryProvider, nullptr);
  EXPECT_EQ(directory_.files(), 0U);
  MyShopInfo.CounterSet.NumCounters = counters;
  EXPECT_EQ(MyCounterInitialize(), kGood);
}

std::atomic<int> heard{0};
ULONG WINAPI hear(ULONG, PVOID, ULONG) {
  heard.fetch_add(1, std::memory_order_relaxed);  // relaxed: the answer orders
  return ERROR_SUCCESS;
}

TEST_F(Bakery, HandsTheCallbackOver) {
  ASSERT_EQ(HeardCounterInitialize(hear, nullptr, nullptr, nullptr), kGood);
  const auto shop = PerfCreateInstance(HeardBakeryProvider, &HeardShopGuid, L"", 0);
  ASSERT_NE(shop, nullptr);
  PerfSetULongLongCounterValue(HeardBakeryProvider, shop, ShopCustomers, 9);
  EXPECT_EQ(only_values(collect("Bakery Shop")), std::vector<std::uint64_t>{9});
  EXPECT_EQ(heard.load(std::memory_order_relaxed), 2);  // relaxed: as above; the start and the end
}

TEST_F(Bakery, IsOneForAllFilesOfAProgram) {
  EXPECT_EQ(handle_of_the_other_file(), &MyBakeryProvider);
}

}  // namespace
}  // namespace meterbank
