// SPDX-License-Identifier: Apache-2.0
//
// The block of a row, which programs for Windows write to: where it comes from and what lies where.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "perf_provider_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

static_assert(sizeof(PERF_COUNTERSET_INFO) == 40 && sizeof(PERF_COUNTER_INFO) == 32);
static_assert(sizeof(PERF_COUNTERSET_INSTANCE) == 32 && sizeof(PERF_COUNTER_IDENTITY) == 40);
static_assert(sizeof(PERF_PROVIDER_CONTEXT) == 40 && sizeof(WNODE_HEADER) == 48);
static_assert(offsetof(PERF_COUNTER_INFO, Attrib) == 8 &&
              offsetof(PERF_COUNTER_INFO, Offset) == 28);
static_assert(offsetof(PERF_COUNTERSET_INSTANCE, InstanceNameOffset) == 24);

TEST_F(PerfProviderTest, ShowsWhatTheProgramStoresInTheBlock) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  ASSERT_NE(row, nullptr);
  auto* const slots = reinterpret_cast<ULONGLONG*>(row + 1);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(slots[0], 5U);
  // relaxed, all: the answer orders.
  std::atomic_ref(slots[1]).store(9, std::memory_order_relaxed);
  EXPECT_EQ(PerfIncrementULongLongCounterValue(provider_, row, 2, 1), kGood);
  EXPECT_EQ(values_of_a(), (std::vector<std::uint64_t>{5, 10}));
  std::atomic_ref(slots[0]).fetch_add(2, std::memory_order_relaxed);
  EXPECT_EQ(values_of_a(), (std::vector<std::uint64_t>{7, 10}));
}

TEST_F(PerfProviderTest, HasReferencesInTheBlock) {
  start();
  ASSERT_EQ(set_info(queues(PERF_COUNTERSET_MULTI_INSTANCES, PERF_ATTRIB_BY_REFERENCE)), kGood);
  const auto row = create(L"a", 1);
  ASSERT_NE(row, nullptr);
  ULONGLONG first = 11;
  ULONGLONG second = 12;
  auto* const slots = reinterpret_cast<const void**>(row + 1);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, row, 2, &first), kGood);
  EXPECT_EQ(slots[1], &first);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, row, 0, &first), kMissing);
  std::atomic_ref(slots[1]).store(&second,
                                  std::memory_order_relaxed);  // relaxed: the answer orders
  EXPECT_EQ(values_of_a(), (std::vector<std::uint64_t>{0, 12}));
}

TEST_F(PerfProviderTest, KeepsTheNameOfTheOnlyRowOfItsSet) {
  start();
  ASSERT_EQ(set_info(queues(PERF_COUNTERSET_SINGLE_INSTANCE)), kGood);
  SetLastError(0xdeadbeef);
  const auto row = PerfCreateInstance(provider_, &kQueues, L"11", 1);
  ASSERT_NE(row, nullptr) << pcw::last_refusal();
  EXPECT_EQ(GetLastError(), 0xdeadbeefU);  // success says nothing
  EXPECT_EQ(lstrcmpW(reinterpret_cast<PCWSTR>(reinterpret_cast<const BYTE*>(row) +
                                              row->InstanceNameOffset),
                     L"11"),
            0);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"11", 1), row);
  EXPECT_EQ(error_of_create(L"12", 2), kTaken);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(only_values(collect(kQueuesName)), (std::vector<std::uint64_t>{5, 0}));
}

TEST_F(PerfProviderTest, TakesBlocksFromTheMemoryOfTheProvider) {
  struct Memory {
    int allocated = 0, freed = 0;
  } memory;
  GUID guid = kProvider;
  PERF_PROVIDER_CONTEXT context{};
  context.ContextSize = sizeof context;
  context.pMemContext = &memory;
  context.MemAllocRoutine = [](SIZE_T bytes, LPVOID mine) -> LPVOID {
    ++static_cast<Memory*>(mine)->allocated;
    return std::malloc(bytes);
  };
  context.MemFreeRoutine = [](LPVOID block, LPVOID mine) {
    ++static_cast<Memory*>(mine)->freed;
    std::free(block);
  };
  ASSERT_EQ(PerfStartProviderEx(&guid, &context, &provider_), kGood);
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  ASSERT_NE(row, nullptr);
  ASSERT_NE(create(L"b", 2), nullptr);
  EXPECT_EQ(PerfDeleteInstance(provider_, row), kGood);
  EXPECT_EQ(memory.allocated, 2);
  EXPECT_EQ(memory.freed, 1);
  stop();
  EXPECT_EQ(memory.freed, 2);
}

TEST_F(PerfProviderTest, SaysWhenTheProviderHasNoMemory) {
  GUID guid = kProvider;
  PERF_PROVIDER_CONTEXT context{};
  context.ContextSize = sizeof context;
  context.MemAllocRoutine = [](SIZE_T, LPVOID) -> LPVOID { return nullptr; };
  ASSERT_EQ(PerfStartProviderEx(&guid, &context, &provider_), kGood);
  ASSERT_EQ(set_info(queues()), kGood);
  EXPECT_EQ(error_of_create(L"a", 1), static_cast<DWORD>(ERROR_NOT_ENOUGH_MEMORY));
}

TEST_F(PerfProviderTest, RefusesNullWhereAnInstanceBelongs) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  EXPECT_EQ(PerfDeleteInstance(provider_, nullptr), kInvalid);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, nullptr, 1, 1), kInvalid);
  EXPECT_EQ(PerfSetULongLongCounterValue(provider_, nullptr, 2, 1), kInvalid);
  EXPECT_EQ(PerfIncrementULongCounterValue(provider_, nullptr, 1, 1), kInvalid);
  EXPECT_EQ(PerfIncrementULongLongCounterValue(provider_, nullptr, 2, 1), kInvalid);
  EXPECT_EQ(PerfDecrementULongCounterValue(provider_, nullptr, 1, 1), kInvalid);
  EXPECT_EQ(PerfDecrementULongLongCounterValue(provider_, nullptr, 2, 1), kInvalid);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, nullptr, 1, nullptr), kInvalid);
}

}  // namespace
}  // namespace meterbank
