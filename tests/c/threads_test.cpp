// SPDX-License-Identifier: Apache-2.0
//
// Set-up from many threads at once, and readers against writers in C.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <string>
#include <thread>
#include <vector>

#include "orders.hpp"
#include "torn.h"

namespace meterbank::test {
namespace {

// Threads that come in waves, all of which begin at once.
template <typename Work>
void race(int threads_count, Work work) {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(threads_count));
  for (int number = 0; number < threads_count; ++number) {
    threads.emplace_back([&, number] {
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      work(number);
    });
  }
  go.store(true, std::memory_order_release);
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadsOfC, MayAddAndCloseSetsAndInstancesTogether) {
  const OrdersProvider provider;
  std::atomic<int> created{0};
  for (int wave = 0; wave < 125; ++wave) {  // 1,000 threads
    race(8, [&](int number) {
      OrdersSpec spec;
      const std::string name = "Orders " + std::to_string(number % 4);
      const std::string symbol = "orders_" + std::to_string(number % 4);
      spec.set.name = name.c_str();
      spec.set.symbol = symbol.c_str();
      mb_set* set = nullptr;
      const mb_status added = mb_provider_add(provider.get(), spec.get(), &set, nullptr);
      ASSERT_TRUE(added == MB_OK || added == MB_EXISTS);
      if (added != MB_OK) return;
      mb_instance eu;
      ASSERT_EQ(mb_set_create_instance(set, "eu", nullptr, &eu, nullptr), MB_OK);
      mb_instance_add(&eu, kAccepted, 1);
      created += static_cast<int>(mb_instance_value(&eu, kAccepted));
      mb_instance_free(&eu);
      mb_set_close(set);
    });
  }
  EXPECT_GE(created.load(std::memory_order_relaxed), 125);
}

TEST(ThreadsOfC, MayCloseTheSameHandlesTogether) {
  for (int wave = 0; wave < 25; ++wave) {
    OrdersProvider provider;
    OrdersSpec spec;
    mb_set* const set = provider.add(spec.get());
    const mb_instance eu = create_instance(set, "eu");
    race(8, [&](int number) {
      mb_instance own = eu;
      mb_gauge gauge;
      if (number % 2 == 0) mb_instance_close(&own);
      mb_instance_gauge(&own, kDepth, &gauge, nullptr);
      if (number == 0) mb_instance_free(&own);
      mb_instance made;
      const mb_status status =
          mb_set_create_instance(set, std::to_string(number).c_str(), nullptr, &made, nullptr);
      EXPECT_TRUE(status == MB_OK || status == MB_CLOSED || status == MB_BAD_HANDLE)
          << mb_status_text(status);
      mb_set_close(set);
      if (number == 1) mb_provider_close(provider.get());
    });
    mb_instance late;
    EXPECT_EQ(mb_set_create_instance(set, "late", nullptr, &late, nullptr), MB_BAD_HANDLE);
    mb_set* other = nullptr;
    EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &other, nullptr), MB_BAD_HANDLE);
  }
}

TEST(ThreadsOfC, LoseNothingThatTheyAddFromAnyThread) {
  const OrdersProvider provider;
  OrdersSpec spec(MB_SET_INDEPENDENT);
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  race(4, [&](int) {
    const mb_counter counter = mb_instance_counter(&eu, kAccepted);
    for (int i = 0; i < 10'000; ++i) mb_counter_add_from_any_thread(&counter, 1);
  });
  EXPECT_EQ(mb_instance_value(&eu, kAccepted), 40'000U);
}

// Reads the block of an instance as readers do, while `write` runs, until enough reads met a
// change. The number of reads in which the words were not all the same.
struct Hunt {
  std::uint64_t reads = 0, changed = 0, torn = 0;
};
template <typename Write>
Hunt hunt(const mb_instance& instance, Write write) {
  const auto parts = std::bit_cast<BlockWriter<StdAtomics>>(instance.block).parts();
  const BlockParts<const SharedWord> block{.seq = parts.seq,
                                           .slot = parts.slot,
                                           .copy0 = parts.copy0,
                                           .copy1 = parts.copy1,
                                           .checkpoint = parts.checkpoint,
                                           .words = parts.words};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t value = 1; !stop.load(std::memory_order_relaxed); value += 100) {
      write(value);
    }
  });
  Hunt found;
  std::vector<std::uint64_t> target(block.words);
  std::uint64_t last = 0;
  constexpr std::uint64_t kReadsMax = 30'000'000;
  while (found.changed < 20'000 && found.torn == 0 && found.reads < kReadsMax) {
    std::uint64_t version = 0;
    ++found.reads;
    if (!try_read<StdAtomics>(block, target.data(), version)) continue;
    found.changed += target[0] == last ? 0U : 1U;
    last = target[0];
    for (const std::uint64_t word : target) found.torn += word == target[0] ? 0U : 1U;
  }
  stop.store(true, std::memory_order_relaxed);
  writer.join();
  return found;
}

struct WideSpec : OrdersSpec {
  explicit WideSpec(std::uint32_t flags) : OrdersSpec(flags) {
    counters.clear();
    for (std::uint32_t id = 0; id < kTornWords; ++id) {
      names.push_back("c" + std::to_string(id));
    }
    for (std::uint32_t id = 0; id < kTornWords; ++id) {
      counters.push_back(counter_spec(id, names[id].c_str(), names[id].c_str()));
    }
  }
  std::vector<std::string> names;
};

class TornReads : public testing::TestWithParam<std::uint32_t> {
 protected:
  OrdersProvider provider_;
  WideSpec spec_{GetParam()};
  mb_instance eu_ = create_instance(provider_.add(spec_.get()), "eu");
};

TEST_P(TornReads, DoNotHappenWithCommitsOfC) {
  const Hunt found = hunt(eu_, [&](std::uint64_t value) { c_torn_count_up(&eu_, value, 100); });
  EXPECT_EQ(found.torn, 0U);
  EXPECT_GT(found.changed, 0U);
}

// The same hunt finds a header that stages updates where readers look.
TEST_P(TornReads, AreFoundWhereAHeaderHasAFault) {
  const Hunt found =
      hunt(eu_, [&](std::uint64_t value) { c_torn_count_up_faulty(&eu_, value, 100); });
  EXPECT_GT(found.torn, 0U) << found.reads << " reads";
}

INSTANTIATE_TEST_SUITE_P(OfC, TornReads, testing::Values(0U, MB_SET_MANY, MB_SET_CUTS));

}  // namespace
}  // namespace meterbank::test
