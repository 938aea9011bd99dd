// SPDX-License-Identifier: Apache-2.0
//
// What a query makes of these providers' rows.
#include <perflib.h>

#include <bit>

#include "../channel/channel_fixture.hpp"
#include "../support/cooked_values.hpp"
#include "pcw_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

class PcwQuery : public PcwTest {
 protected:
  using Values = std::map<std::string, double>;

  // By path. `timeout` is long where an answer comes.
  Values collect_values(const std::string& pattern,
                        std::chrono::nanoseconds timeout = std::chrono::seconds(10)) {
    const Catalog catalog = this->catalog();
    auto query = Query::compile(catalog, {pattern});
    query->collect(sample_, timeout);
    Values values;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample_)) {
      if (has_value(row.cooked.status)) values[row.short_path()] = row.cooked.value;
    }
    return values;
  }

  Sample sample_;
};

// Adds three rows, or those that are wanted.
template <bool kHeedsTheMask>
NTSTATUS NTAPI add_pools(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info, PVOID) {
  if (type != PcwCallbackCollectData && type != PcwCallbackEnumerateInstances) {
    return STATUS_SUCCESS;
  }
  const PCW_MASK_INFORMATION& mask = info->CollectData;
  const Name names[] = {Name(L"ant"), Name(L"bee"), Name(L"ape")};
  for (ULONG row = 0; row < 3; ++row) {
    Pool pool{10 + row, 0, 20 + row};
    if constexpr (kHeedsTheMask) {
      if (row == 1 && mask.InstanceMask->Buffer[0] == L'a') continue;
      if ((mask.CounterMask & 4) == 0) pool.bytes = 0;
    }
    PCW_DATA block = block_of(pool);
    PcwAddInstance(mask.Buffer, names[row], row, 1, &block);
  }
  return STATUS_SUCCESS;
}

TEST_F(PcwQuery, GetsTheSameFromACallbackThatFiltersAndOneThatDoesNot) {
  Information heedless(L"Heedless", pool_counters(), add_pools<false>);
  Information heedful(L"Heedful", pool_counters(), add_pools<true>);
  const Registered first(heedless);
  const Registered second(heedful);
  EXPECT_EQ(collect_values("heedless/a*/counter_1"),
            (Values{{"heedless/ant/counter_1", 10}, {"heedless/ape/counter_1", 12}}));
  EXPECT_EQ(collect_values("heedful/a*/counter_1"),
            (Values{{"heedful/ant/counter_1", 10}, {"heedful/ape/counter_1", 12}}));
  EXPECT_EQ(collect_values("heedful").size(), 6U);
}

TEST_F(PcwQuery, KnowsARowByItsNameAndItsId) {
  Information info(L"Words", {{1, 0, 0, 8}},
                   [](PCW_CALLBACK_TYPE, PPCW_CALLBACK_INFORMATION call, PVOID) -> NTSTATUS {
                     const std::array<ULONG, 4> ids{0, 1, 1, 0};
                     const Name names[] = {Name(L"a"), Name(L"a"), Name(L"A"), Name(L"b")};
                     for (ULONGLONG row = 0; row < 4; ++row) {
                       PCW_DATA block = block_of(row);
                       PcwAddInstance(call->CollectData.Buffer, names[row], ids[row], 1, &block);
                     }
                     return STATUS_SUCCESS;
                   });
  const Registered registration(info);
  collect_values("words");  // the first answer says what there is
  EXPECT_EQ(
      collect_values("words"),
      (Values{{"words/a#0/counter_1", 0}, {"words/a#1/counter_1", 1}, {"words/b/counter_1", 3}}));
  EXPECT_EQ(collect_values("words/a#1/counter_1"), (Values{{"words/a#1/counter_1", 1}}));
}

TEST_F(PcwQuery, SeesCreatedComputedAndSharedRowsTogether) {
  Information info(L"Words", {{1, 0, 0, 8}},
                   [](PCW_CALLBACK_TYPE, PPCW_CALLBACK_INFORMATION call, PVOID) -> NTSTATUS {
                     const ULONGLONG value = 3;
                     PCW_DATA block = block_of(value);
                     return PcwAddInstance(call->CollectData.Buffer, Name(L"computed"), 3, 1,
                                           &block);
                   });
  const Registered registration(info);
  const ULONGLONG value = 1;
  PCW_DATA block = block_of(value);
  PPCW_INSTANCE created = nullptr;
  PPCW_INSTANCE shared = nullptr;
  PVOID words = nullptr;
  ASSERT_EQ(PcwCreateInstance(&created, registration.get(), Name(L"created"), 1, &block),
            STATUS_SUCCESS);
  ASSERT_EQ(MeterbankPcwAllocateInstance(&shared, registration.get(), Name(L"shared"), &words),
            STATUS_SUCCESS);
  std::atomic_ref(*static_cast<ULONGLONG*>(words)).store(2, std::memory_order_relaxed);  // relaxed
  EXPECT_EQ(collect_values("words"), (Values{{"words/created/counter_1", 1},
                                             {"words/shared/counter_1", 2},
                                             {"words/computed/counter_1", 3}}));
}

TEST_F(PcwQuery, IsToldOfAReferenceThatLeadsNowhere) {
  const GUID set = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  struct {
    PERF_COUNTERSET_INFO set;
    PERF_COUNTER_INFO counters[2];
  } info = {{set, set, 2, PERF_COUNTERSET_MULTI_INSTANCES},
            {{1, PERF_COUNTER_RAWCOUNT, 0, 4, PERF_DETAIL_NOVICE, 0, 0},
             {2, PERF_COUNTER_RAWCOUNT, PERF_ATTRIB_BY_REFERENCE, 4, PERF_DETAIL_NOVICE, 0, 4}}};
  GUID provider = set;
  HANDLE handle = nullptr;
  ASSERT_EQ(PerfStartProvider(&provider, nullptr, &handle), static_cast<ULONG>(ERROR_SUCCESS));
  ASSERT_EQ(PerfSetCounterSetInfo(handle, &info.set, sizeof info),
            static_cast<ULONG>(ERROR_SUCCESS));
  const auto row = PerfCreateInstance(handle, &set, L"a", 1);
  PerfSetULongCounterValue(handle, row, 1, 5);
  const std::string name = "\\" + std::bit_cast<Guid>(set).text() + "(*)\\";

  EXPECT_EQ(collect_values(name + "Counter 1").begin()->second, 5);
  EXPECT_EQ(sample_.callbacks->at(0).outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(collect_values(name + "Counter 2").begin()->second, 0);
  EXPECT_EQ(sample_.callbacks->at(0).outcome, AnswerOutcome::kReturnedCode);
  EXPECT_EQ(sample_.callbacks->at(0).code, static_cast<ULONG>(ERROR_NO_DATA));
  PerfStopProvider(handle);
}

Gate* slow_gate = nullptr;
ULONG WINAPI control_slowly(ULONG code, PVOID, ULONG) {
  if (code == PERF_COLLECT_START) slow_gate->pass();
  return ERROR_SUCCESS;
}

TEST_F(PcwQuery, WaitsForASlowCallbackUpToItsTimeout) {
  Gate gate;
  slow_gate = &gate;
  const GUID set = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  struct {
    PERF_COUNTERSET_INFO set;
    PERF_COUNTER_INFO counter;
  } info = {{set, set, 1, PERF_COUNTERSET_MULTI_INSTANCES},
            {1, PERF_COUNTER_RAWCOUNT, 0, 4, PERF_DETAIL_NOVICE, 0, 0}};
  GUID provider = set;
  HANDLE handle = nullptr;
  ASSERT_EQ(PerfStartProvider(&provider, control_slowly, &handle),
            static_cast<ULONG>(ERROR_SUCCESS));
  ASSERT_EQ(PerfSetCounterSetInfo(handle, &info.set, sizeof info),
            static_cast<ULONG>(ERROR_SUCCESS));
  const std::string name = "\\" + std::bit_cast<Guid>(set).text() + "(*)\\*";

  EXPECT_EQ(collect_values(name, std::chrono::milliseconds(20)).size(), 0U);
  EXPECT_EQ(sample_.callbacks->at(0).outcome, AnswerOutcome::kTimeout);
  gate.open();
  PerfStopProvider(handle);
}

}  // namespace
}  // namespace meterbank
