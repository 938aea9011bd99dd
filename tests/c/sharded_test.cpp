// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/sharded.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "orders.hpp"

namespace meterbank::test {
namespace {

// A count, a maximum, a minimum and, in block sets, a distribution.
enum ShardCounter : std::uint32_t { kCount, kMost, kLeast, kLatency };

struct ShardedSpec : OrdersSpec {
  explicit ShardedSpec(std::uint32_t flags) : OrdersSpec(flags | MB_SET_SHARDED) {
    counters = {counter_spec(1, "Count", "count", MB_TYPE_BULK_COUNT),
                counter_spec(2, "Most", "most"), counter_spec(3, "Least", "least")};
    counters[kMost].aggregate = MB_AGGREGATE_MAXIMUM;
    counters[kLeast].aggregate = MB_AGGREGATE_MINIMUM;
    if ((flags & MB_SET_INDEPENDENT) != 0) return;
    counters.push_back(counter_spec(4, "Latency", "latency", MB_TYPE_BULK_COUNT));
    counters[kLatency].form = MB_FORM_DISTRIBUTION;
    counters[kLatency].bucket_least = 0.001;
    counters[kLatency].bucket_most = 10;
  }
};

mb_sharded create_sharded(mb_set* set, const char* name) {
  mb_sharded instance;
  mb_error error;
  EXPECT_EQ(mb_set_create_sharded(set, name, nullptr, &instance, &error), MB_OK) << error.what;
  return instance;
}

class Sharded : public testing::TestWithParam<std::uint32_t> {
 protected:
  [[nodiscard]] static bool has_latency() { return (GetParam() & MB_SET_INDEPENDENT) == 0; }

  OrdersProvider provider_{0};
  ShardedSpec spec_{GetParam()};
  mb_set* set_ = provider_.add(spec_.get());
};

TEST_P(Sharded, LosesNothingThatThreadsCount) {
  constexpr std::uint64_t kThreads = 6, kTurns = 5000;
  const mb_sharded eu = create_sharded(set_, "eu");
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
        mb_sharded_add(&eu, kCount, 1);
        mb_sharded_raise(&eu, kMost, number * kTurns + turn);
        mb_sharded_record(&eu, kLatency, 0.5);
        const mb_sharded_change changes[] = {
            {kCount, MB_SHARDED_ADD, 2, 0},
            {kMost, MB_SHARDED_RAISE, number, 0},
            {kLatency, MB_SHARDED_RECORD, 0, 0.25},
        };
        mb_sharded_update(&eu, changes, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto seen = read_all(provider_);
  EXPECT_EQ(seen.at("eu/count").raw.value, 3 * kThreads * kTurns);
  EXPECT_EQ(seen.at("eu/most").raw.value, kThreads * kTurns - 1);
  if (!has_latency()) return;
  EXPECT_EQ(seen.at("eu/latency").distribution->count, 2 * kThreads * kTurns);
  EXPECT_EQ(seen.at("eu/latency").distribution->sum, 0.75 * kThreads * kTurns);
}

TEST_P(Sharded, IgnoresPositionsKindsAndFormsThatItDoesNotHave) {
  const mb_sharded eu = create_sharded(set_, "eu");
  mb_sharded_add(&eu, kCount, 1);
  for (const std::uint32_t position : {500U, 4096U, 0xffffffffU}) {
    mb_sharded_add(&eu, position, 1);
    mb_sharded_raise(&eu, position, 1);
    mb_sharded_lower(&eu, position, 1);
    mb_sharded_record(&eu, position, 1);
    const mb_sharded_change changes[] = {
        {position, MB_SHARDED_ADD, 1, 0}, {position, MB_SHARDED_RECORD, 0, 1}, {kCount, 77, 1, 1}};
    mb_sharded_update(&eu, changes, 3);
  }
  mb_sharded_record(&eu, kCount, 1);  // not a distribution
  mb_sharded_update(&eu, nullptr, 0);
  EXPECT_EQ(read_all(provider_).at("eu/count").raw.value, 1U);
}

TEST_P(Sharded, IsFoundClosedAndFreedLikeOtherInstances) {
  mb_sharded eu = create_sharded(set_, "eu");
  mb_sharded found;
  ASSERT_EQ(mb_set_find_sharded(set_, "eu", &found, nullptr), MB_OK);
  EXPECT_NE(mb_sharded_id(&eu), 0xffffffffU);
  mb_sharded_add(&found, kCount, 2);
  mb_sharded_free(&found);
  EXPECT_EQ(read_all(provider_).at("eu/count").raw.value, 2U);
  mb_sharded copy = eu;
  mb_sharded_close(&eu);
  mb_sharded_add(&copy, kCount, 1);
  EXPECT_EQ(mb_set_find_sharded(set_, "eu", &found, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(found.counting, nullptr);
  mb_sharded_free(&eu);
  mb_sharded_free(&copy);
  EXPECT_EQ(eu.counting, nullptr);
  EXPECT_EQ(mb_sharded_id(&eu), 0xffffffffU);
}

TEST_P(Sharded, IsRefusedTheFunctionsOfOtherSets) {
  mb_instance plain;
  mb_sharded sharded;
  EXPECT_EQ(mb_set_create_instance(set_, "eu", nullptr, &plain, nullptr), MB_INVALID_ARGUMENT);
  EXPECT_EQ(plain.number, 0U);
  OrdersSpec other;
  other.set.name = "Other";
  other.set.symbol = "other";
  mb_set* const not_sharded = provider_.add(other.get());
  EXPECT_EQ(mb_set_create_sharded(not_sharded, "eu", nullptr, &sharded, nullptr),
            MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_set_create_sharded(set_, "eu", nullptr, nullptr, nullptr), MB_INVALID_ARGUMENT);
  mb_set_close(set_);
  EXPECT_EQ(mb_set_create_sharded(set_, "eu", nullptr, &sharded, nullptr), MB_BAD_HANDLE);
}

TEST(ShardedOfNull, CountsIntoNothing) {
  mb_sharded nothing;
  std::memset(&nothing, 0x55, sizeof nothing);
  ASSERT_EQ(mb_set_create_sharded(nullptr, "eu", nullptr, &nothing, nullptr), MB_OK);
  const mb_sharded_change change = {0, MB_SHARDED_ADD, 1, 0};
  mb_sharded_add(&nothing, 0, 1);
  mb_sharded_raise(&nothing, 0, 1);
  mb_sharded_lower(&nothing, 0, 1);
  mb_sharded_record(&nothing, 0, 1);
  mb_sharded_update(&nothing, &change, 1);
  EXPECT_EQ(mb_set_find_sharded(nullptr, "eu", &nothing, nullptr), MB_NOT_FOUND);
  mb_sharded_close(&nothing);
  mb_sharded_free(&nothing);
  mb_sharded_close(nullptr);
  mb_sharded_free(nullptr);
}

INSTANTIATE_TEST_SUITE_P(OfC, Sharded,
                         testing::Values(0U, MB_SET_BY_PROCESSOR, MB_SET_INDEPENDENT));

}  // namespace
}  // namespace meterbank::test
