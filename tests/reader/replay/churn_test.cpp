// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "hand_made.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank {
namespace {

using test::provider_called;
using test::registered;
using test::two_counters;

Timestamp tick(std::uint64_t number) {
  return {number * 1'000'000'000, 1'700'000'000'000'000'000 + number * 1'000'000'000};
}

// Rows of one set of which 1,000 end and 1,000 begin in each tick.
class ChangingRows {
 public:
  ChangingRows(Replay& replay, ReplaySetId set) : replay_(replay), set_(set) {}

  void begin(std::uint32_t count) {
    for (std::uint32_t row = 0; row < count; ++row, ++begun_) {
      // Slots are used again, and each life has a generation of its own.
      const auto id = replay_.begin_instance(set_, {.slot = begun_ % kSlots,
                                                    .name = "row " + std::to_string(begun_),
                                                    .generation = begun_ / kSlots + 1});
      ASSERT_TRUE(id) << id.error().what;
      replay_.words(set_, *id)[1] = begun_;
      rows_.push_back(*id);
    }
  }
  void end(std::uint32_t count) {
    for (std::uint32_t row = 0; row < count; ++row) {
      replay_.end_instance(set_, rows_.front());
      rows_.pop_front();
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] std::uint32_t oldest() const noexcept {
    return begun_ - static_cast<std::uint32_t>(rows_.size());
  }

 private:
  static constexpr std::uint32_t kSlots = 6'007;

  Replay& replay_;
  ReplaySetId set_;
  std::deque<ReplayRowId> rows_;
  std::uint32_t begun_ = 0;
};

TEST(ReplayChurn, AThousandInstancesATickKeepTheirValues) {
  Replay replay;
  const auto provider = replay.add_provider(provider_called("shop")).value();
  const auto set = replay.add_set(provider, registered(two_counters())).value();
  ChangingRows rows(replay, set);
  rows.begin(3'000);
  replay.show(tick(0));
  Query query = *Query::compile(replay.catalog(), {"queues/*/depth"});
  Sample sample;
  std::uint64_t bytes = 0;
  for (std::uint64_t number = 1; number <= 40; ++number) {
    rows.end(1'000);
    rows.begin(1'000);
    replay.show(tick(number));
    ASSERT_TRUE(query.update(replay.catalog()));
    EXPECT_EQ(query.collect(sample, replay.time()).not_fresh, 0U);
    ASSERT_EQ(sample.statuses().size(), rows.size());
    std::vector<bool> seen(rows.size());
    for (const Row& row : sample) {
      const std::uint64_t value = (*row.begin()).raw.value;
      ASSERT_EQ(row.name(), "row " + std::to_string(value));
      seen.at(value - rows.oldest()) = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
    // Places of rows that ended are used again after a tick.
    if (number == 2) bytes = replay.bytes();
    ASSERT_EQ(replay.bytes(), number < 2 ? replay.bytes() : bytes);
  }
}

TEST(ReplayChurn, AChangeOfOneProviderLeavesTheOthersAlone) {
  constexpr std::uint64_t kProviders = 1'000;
  Replay replay;
  std::vector<ReplaySetId> sets;
  std::vector<ReplayProviderId> providers;
  for (std::uint64_t number = 0; number < kProviders; ++number) {
    const std::string name = "shop" + std::to_string(number);
    providers.push_back(replay.add_provider(provider_called(name, number)).value());
    sets.push_back(replay.add_set(providers.back(), registered(two_counters())).value());
    ASSERT_TRUE(replay.begin_instance(sets.back(), {.slot = 0, .name = name}));
  }
  replay.show(tick(0));
  Query query = *Query::compile(replay.catalog(), {});
  Sample sample;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const auto before = replay.catalog().providers();
    ASSERT_EQ(before.size(), kProviders);
    const auto changed = static_cast<std::size_t>(number * 37 % kProviders);
    const auto slot = static_cast<std::uint32_t>(number);
    ASSERT_TRUE(replay.begin_instance(sets[changed], {.slot = slot, .name = "more"}));
    replay.show(tick(number));
    const auto& now = replay.catalog().providers();
    std::size_t others = 0;
    for (std::size_t index = 0; index < kProviders; ++index) others += now[index] == before[index];
    EXPECT_EQ(others, kProviders - 1);
    ASSERT_TRUE(query.update(replay.catalog()));
    EXPECT_EQ(query.collect(sample, replay.time()).rows, kProviders + number);
  }
}

TEST(ReplayChurn, ProvidersAndSetsThatComeAndGoTakeNoMoreMemory) {
  Replay replay;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const auto provider = replay.add_provider(provider_called("shop", number)).value();
    for (Ref registration = 1; registration <= 3; ++registration) {
      auto facts = registered(two_counters("set " + std::to_string(registration)), registration);
      const auto set = replay.add_set(provider, facts).value();
      ASSERT_TRUE(replay.begin_instance(set, {.slot = 0, .name = "a"}));
      if (registration != 1) continue;
      // The same registration again, as its next generation.
      replay.show(tick(number));
      replay.remove_set(set);
      facts.generation = 2;
      const auto again = replay.add_set(provider, facts, 0).value();
      ASSERT_TRUE(replay.begin_instance(again, {.slot = 0, .name = "a"}));
    }
    replay.show(tick(number));
    EXPECT_EQ(replay.catalog().providers().size(), 1U);
    EXPECT_EQ(replay.catalog().providers()[0]->sets.size(), 3U);
    EXPECT_LE(replay.bytes(), 4U * 256);
    replay.remove_provider(provider);
  }
  replay.show(tick(1'000));
  EXPECT_EQ(replay.bytes(), 0U);
  EXPECT_TRUE(replay.catalog().providers().empty());
}

}  // namespace
}  // namespace meterbank
