// SPDX-License-Identifier: Apache-2.0
//
// User-mode providers: rows 31 to 41 of the checklist.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "meterbank/windows/utf16_functions.h"
#include "perf_provider_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

TEST_F(PerfProviderTest, StartsStopsAndStartsAgain) {
  for (int turn = 0; turn < 2; ++turn) {
    start();
    ASSERT_EQ(set_info(queues()), kGood);
    ASSERT_NE(create(L"a", 1), nullptr);
    EXPECT_NE(find_set(kQueuesName), nullptr);
    const HANDLE ended = provider_;
    stop();
    EXPECT_EQ(find_set(kQueuesName), nullptr);
    EXPECT_EQ(directory_.files(), 0U);
    EXPECT_EQ(PerfStopProvider(ended), kInvalid);
  }
}

TEST_F(PerfProviderTest, ChecksTheContext) {
  GUID guid = kProvider;
  PERF_PROVIDER_CONTEXT context{};
  HANDLE handle = nullptr;
  EXPECT_EQ(PerfStartProviderEx(&guid, &context, &handle), kInvalid);
  context.ContextSize = sizeof context;
  context.Reserved = 1;
  EXPECT_EQ(PerfStartProviderEx(&guid, &context, &handle), kInvalid);
  context.Reserved = 0;
  context.MemFreeRoutine = [](LPVOID, LPVOID) {};
  EXPECT_EQ(PerfStartProviderEx(&guid, &context, &handle), kInvalid);
  context.MemFreeRoutine = nullptr;
  EXPECT_EQ(PerfStartProviderEx(nullptr, &context, &handle), kInvalid);
  EXPECT_EQ(PerfStartProviderEx(&guid, &context, nullptr), kInvalid);
  context.ContextSize = sizeof context + 8;  // of a later version
  ASSERT_EQ(PerfStartProviderEx(&guid, &context, &provider_), kGood);
}

TEST_F(PerfProviderTest, ChecksTheTemplate) {
  start();
  Template info = queues();
  EXPECT_EQ(PerfSetCounterSetInfo(provider_, &info.set, sizeof info - 1), kInvalid);
  EXPECT_EQ(PerfSetCounterSetInfo(provider_, nullptr, sizeof info), kInvalid);
  EXPECT_EQ(PerfSetCounterSetInfo(nullptr, &info.set, sizeof info), kInvalid);
  info.set.NumCounters = 0;
  EXPECT_EQ(PerfSetCounterSetInfo(provider_, &info.set, sizeof info.set), kInvalid);
  info = queues();
  info.counters[0].Type = PERF_COUNTER_NODATA;
  EXPECT_EQ(set_info(info), kInvalid);
  info = queues();
  info.counters[0].CounterId = 0x10000;
  EXPECT_EQ(set_info(info), kInvalid);
  info = queues();
  info.counters[0].CounterId = 2;
  EXPECT_EQ(set_info(info), kInvalid);
  info = queues(PERF_COUNTERSET_INSTANCE_AGGREGATE);
  EXPECT_EQ(set_info(info), kInvalid);
  EXPECT_EQ(set_info(queues()), kGood);
  EXPECT_EQ(set_info(queues()), kTaken);
}

TEST_F(PerfProviderTest, TakesATemplateAsToolsAndProgramsLeaveIt) {
  start();
  struct {
    Template info = queues();
    PERF_COUNTER_INFO behind[2] = {};
  } longer;
  longer.info.counters[0].Size = sizeof(PERF_COUNTER_INFO);
  longer.info.counters[0].Offset = 0xdeadbeef;
  longer.info.counters[1].Size = 0;
  longer.info.counters[1].Offset = 3;
  longer.info.set.ProviderGuid = kOther;
  ASSERT_EQ(PerfSetCounterSetInfo(provider_, &longer.info.set, sizeof longer), kGood);
  const auto row = create(L"a", 1);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(PerfSetULongLongCounterValue(provider_, row, 2, ~ULONGLONG{0}), kGood);
  EXPECT_EQ(values_of_a(), (std::vector<std::uint64_t>{5, ~std::uint64_t{0}}));
}

TEST_F(PerfProviderTest, TakesNamesFromADescriptionOfItsGuid) {
  const std::array counters{
      CounterSpec{.id = 2, .name = "Bytes", .symbol = "bytes", .type = CounterType::kLargeRawCount},
      CounterSpec{.id = 1, .name = "Length", .symbol = "length", .type = CounterType::kRawCount}};
  ASSERT_TRUE(pcw::describe({.name = "Queues",
                             .symbol = "queues",
                             .guid = std::bit_cast<Guid>(kQueues),
                             .counters = counters}));
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  ASSERT_EQ(PerfSetULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(asked_value("queues/a/length"), 5U);
  // The block is in the order of the template, whatever the description has first.
  EXPECT_EQ(*reinterpret_cast<const ULONGLONG*>(row + 1), 5U);
}

TEST_F(PerfProviderTest, ChecksInstances) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  EXPECT_EQ(error_of_create(L"a", 1, kOther), kMissing);
  EXPECT_EQ(error_of_create(nullptr, 1), kInvalid);
  EXPECT_EQ(error_of_create(L"", 1), kInvalid);
  EXPECT_EQ(error_of_create(L"a", 0xffffffff), kInvalid);
  EXPECT_EQ(PerfCreateInstance(nullptr, &kQueues, L"a", 1), nullptr);
  EXPECT_EQ(GetLastError(), kInvalid);
  const auto row = create(L"a", 1);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(error_of_create(L"A", 1), kTaken);
  EXPECT_EQ(PerfDeleteInstance(provider_, row), kGood);
  EXPECT_EQ(PerfDeleteInstance(provider_, nullptr), kInvalid);
  EXPECT_NE(create(L"A", 1), nullptr);
}

TEST_F(PerfProviderTest, TakesSeveralNamesOnOneIdAndSeveralIdsOfOneName) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto small = create(L"Small", 0), medium = create(L"Medium", 0),
             again = create(L"Medium", 7);
  ASSERT_NE(small, nullptr);
  ASSERT_NE(medium, nullptr) << pcw::last_refusal();
  ASSERT_NE(again, nullptr) << pcw::last_refusal();
  EXPECT_EQ(error_of_create(L"MEDIUM", 0), kTaken);
  EXPECT_EQ(error_of_create(L"small", 0), kTaken);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"medium", 0), medium);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"medium", 7), again);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"small", 7), nullptr);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, medium, 1, 5), kGood);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, again, 1, 6), kGood);
  EXPECT_EQ(asked_value("\\" + kQueuesName + "(Medium#0)\\Counter 1"), 5U);
  EXPECT_EQ(asked_value("\\" + kQueuesName + "(Medium#7)\\Counter 1"), 6U);
  EXPECT_EQ(PerfDeleteInstance(provider_, medium), kGood);
  EXPECT_NE(create(L"medium", 0), nullptr);
}

TEST_F(PerfProviderTest, DescribesAnInstance) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"abc", 7);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->CounterSetGuid, kQueues);
  EXPECT_EQ(row->InstanceId, 7U);
  EXPECT_EQ(row->InstanceNameSize, 4 * sizeof(WCHAR));
  EXPECT_EQ(row->InstanceNameOffset, sizeof *row + 2 * sizeof(UINT64));
  EXPECT_EQ(row->dwSize, (row->InstanceNameOffset + row->InstanceNameSize + 7) / 8 * 8);
  const auto* const bytes = reinterpret_cast<const char*>(row);
  EXPECT_EQ(std::memcmp(bytes + row->InstanceNameOffset, L"abc", row->InstanceNameSize), 0);
}

TEST_F(PerfProviderTest, FindsItsOwnRows) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"A", 1), row);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"a", 2), nullptr);
  EXPECT_EQ(GetLastError(), kMissing);
  EXPECT_EQ(PerfQueryInstance(provider_, &kQueues, L"b", 1), nullptr);
}

TEST_F(PerfProviderTest, CountsExactlyAndWrapsAtTheWidth) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  const auto length = [&] { return values_of_a().at(0); };
  const auto bytes = [&] { return values_of_a().at(1); };
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 1, 0xfffffffe), kGood);
  EXPECT_EQ(PerfIncrementULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(length(), 3U);
  EXPECT_EQ(PerfDecrementULongCounterValue(provider_, row, 1, 4), kGood);
  EXPECT_EQ(length(), 0xffffffffU);
  EXPECT_EQ(PerfSetULongLongCounterValue(provider_, row, 2, ~ULONGLONG{0}), kGood);
  EXPECT_EQ(PerfIncrementULongLongCounterValue(provider_, row, 2, 3), kGood);
  EXPECT_EQ(bytes(), 2U);
  EXPECT_EQ(PerfDecrementULongLongCounterValue(provider_, row, 2, 3), kGood);
  EXPECT_EQ(bytes(), ~std::uint64_t{0});
  EXPECT_EQ(length(), 0xffffffffU);

  EXPECT_EQ(PerfSetULongLongCounterValue(provider_, row, 1, 1), kInvalid);
  EXPECT_EQ(PerfIncrementULongCounterValue(provider_, row, 2, 1), kInvalid);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 3, 1), kMissing);
  EXPECT_EQ(PerfSetULongCounterValue(provider_, nullptr, 1, 1), kInvalid);
  EXPECT_EQ(PerfSetULongCounterValue(nullptr, row, 1, 1), kInvalid);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, row, 1, &provider_), kInvalid);
}

TEST_F(PerfProviderTest, LosesNoIncrementOfSeveralThreads) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 20'000;
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  std::vector<std::thread> threads;
  for (int index = 0; index < kThreads; ++index) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        PerfIncrementULongCounterValue(provider_, row, 1, 1);
        PerfIncrementULongLongCounterValue(provider_, row, 2, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values_of_a(),
            (std::vector<std::uint64_t>{1U * kThreads * kTimes, 3U * kThreads * kTimes}));
}

TEST_F(PerfProviderTest, FetchesAReferencedValueWhenItIsWanted) {
  start();
  ASSERT_EQ(set_info(queues(PERF_COUNTERSET_MULTI_INSTANCES, PERF_ATTRIB_BY_REFERENCE)), kGood);
  const auto row = create(L"a", 1);
  ASSERT_NE(create(L"without", 2), nullptr);
  ULONGLONG value = 11;
  EXPECT_EQ(PerfSetULongCounterValue(provider_, row, 1, 5), kGood);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, row, 2, &value), kGood);
  EXPECT_EQ(PerfSetULongLongCounterValue(provider_, row, 2, 1), kInvalid);
  EXPECT_EQ(values_of(collect(kQueuesName), "a"), (std::vector<std::uint64_t>{5, 11}));
  std::atomic_ref(value).store(12, std::memory_order_relaxed);  // relaxed: the answer orders
  EXPECT_EQ(values_of(collect(kQueuesName), "a"), (std::vector<std::uint64_t>{5, 12}));

  // No address, no data: of this counter, and where it is wanted.
  Asked asked = connect_one(kQueuesName);
  const auto answer = asked.ask(MessageType::kCollect);
  EXPECT_EQ(answer->code, static_cast<DWORD>(ERROR_NO_DATA));
  EXPECT_EQ(answer->rows.size(), 2U);
  asked.request.counter_mask = {2};
  EXPECT_EQ(asked.ask(MessageType::kCollect)->code, kGood);
  EXPECT_EQ(PerfSetCounterRefValue(provider_, row, 2, nullptr), kGood);
  EXPECT_EQ(values_of(collect(kQueuesName), "a"), (std::vector<std::uint64_t>{5, 0}));
}

TEST_F(PerfProviderTest, CollectsBetweenStartAndEnd) {
  start(control);
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = create(L"a", 1);
  ULONG turn = 0;
  answer_ = [&](ULONG code) {
    if (code == PERF_COLLECT_START) {
      ++turn;
      PerfSetULongCounterValue(provider_, row, 1, turn);
      PerfSetULongLongCounterValue(provider_, row, 2, turn);
    } else if (code == PERF_COLLECT_END) {
      PerfSetULongCounterValue(provider_, row, 1, 0);
    }
    return kGood;
  };
  for (std::uint64_t read = 1; read <= 3; ++read) {
    EXPECT_EQ(values_of(collect(kQueuesName), "a"), (std::vector<std::uint64_t>{read, read}));
  }
  EXPECT_EQ(codes(), (std::vector<ULONG>{5, 6, 5, 6, 5, 6}));
  EXPECT_EQ(calls()[0].buffer.size(), sizeof(WCHAR));  // the empty name of this machine
  answer_ = nullptr;
}

TEST_F(PerfProviderTest, ReportsAddedAndRemovedCounters) {
  start(control);
  ASSERT_EQ(set_info(queues()), kGood);
  Asked asked = connect_one(kQueuesName);
  asked.request.counter_mask = {4};
  asked.request.pattern = "x*";
  asked.request.instance_id = 9;
  asked.ask(MessageType::kAddInterest);
  asked.ask(MessageType::kRemoveInterest);
  asked.request.counter_mask = {~std::uint64_t{0}};
  asked.ask(MessageType::kAddInterest);
  asked.ask(MessageType::kEnumerate);
  EXPECT_EQ(codes(), (std::vector<ULONG>{PERF_ADD_COUNTER, PERF_REMOVE_COUNTER, PERF_ADD_COUNTER,
                                         PERF_ENUM_INSTANCES}));
  const auto identity_of = [](const Call& call) {
    PERF_COUNTER_IDENTITY identity;
    std::memcpy(&identity, call.buffer.data() + sizeof(WNODE_HEADER), sizeof identity);
    return identity;
  };
  const PERF_COUNTER_IDENTITY first = identity_of(calls()[0]);
  EXPECT_EQ(first.CounterSetGuid, kQueues);
  EXPECT_EQ(first.CounterId, 2U);
  EXPECT_EQ(first.InstanceId, 9U);
  EXPECT_EQ(first.BufferSize + sizeof(WNODE_HEADER), calls()[0].buffer.size());
  EXPECT_EQ(std::memcmp(calls()[0].buffer.data() + sizeof(WNODE_HEADER) + first.NameOffset, L"x*",
                        3 * sizeof(WCHAR)),
            0);
  EXPECT_EQ(identity_of(calls()[2]).CounterId, PERF_WILDCARD_COUNTER);
}

TEST_F(PerfProviderTest, PassesOnWhatTheCallbackRefuses) {
  start(control);
  ASSERT_EQ(set_info(queues()), kGood);
  ASSERT_NE(create(L"a", 1), nullptr);
  answer_ = [](ULONG code) { return code + 1000; };
  Asked asked = connect_one(kQueuesName);
  EXPECT_EQ(asked.ask(MessageType::kAddInterest)->code, 1001U);
  EXPECT_EQ(asked.ask(MessageType::kEnumerate)->code, 1003U);
  const auto refused = asked.ask(MessageType::kCollect);
  EXPECT_EQ(refused->code, 1005U);
  EXPECT_EQ(refused->rows.size(), 0U);
  EXPECT_EQ(asked.ask(MessageType::kRemoveInterest)->code, kGood);
  answer_ = [](ULONG code) { return code == PERF_COLLECT_END ? 1006U : kGood; };
  const auto answer = asked.ask(MessageType::kCollect);
  EXPECT_EQ(answer->code, kGood);
  EXPECT_EQ(answer->rows.size(), 1U);
  answer_ = nullptr;
}

TEST_F(PerfProviderTest, MayBeStoppedByItsOwnCallback) {
  start(control);
  ASSERT_EQ(set_info(queues()), kGood);
  ASSERT_NE(create(L"a", 1), nullptr);
  answer_ = [&](ULONG code) {
    if (code == PERF_COLLECT_START) PerfStopProvider(provider_);
    return kGood;
  };
  const auto answer = connect_one(kQueuesName).ask(MessageType::kCollect);
  EXPECT_TRUE(!answer || answer->rows.empty());
  EXPECT_EQ(PerfStopProvider(provider_), kInvalid);
  provider_ = nullptr;
  answer_ = nullptr;
}

TEST_F(PerfProviderTest, ShowsTheSameRowOfTwoProviders) {
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  ASSERT_NE(create(L"X", 1), nullptr);
  const HANDLE first = std::exchange(provider_, nullptr);
  start();
  ASSERT_EQ(set_info(queues()), kGood);
  ASSERT_NE(create(L"X", 1), nullptr);
  EXPECT_EQ(collect(kQueuesName).count("X"), 2U);
  PerfStopProvider(first);
}

TEST_F(PerfProviderTest, SpeaksSixteenBitCharactersToProgramsThatDo) {
  GUID guid = kProvider;
  ASSERT_EQ(meterbank_utf16_PerfStartProvider(&guid, control, &provider_), kGood);
  ASSERT_EQ(set_info(queues()), kGood);
  const auto row = meterbank_utf16_PerfCreateInstance(provider_, &kQueues, u"ä", 1);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->InstanceNameSize, 4U);
  EXPECT_EQ(meterbank_utf16_PerfQueryInstance(provider_, &kQueues, u"Ä", 1), row);
  EXPECT_EQ(collect(kQueuesName).count("ä"), 1U);
  EXPECT_EQ(calls()[0].buffer.size(), 2U);
}

}  // namespace
}  // namespace meterbank
