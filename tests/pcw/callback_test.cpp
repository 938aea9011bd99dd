// SPDX-License-Identifier: Apache-2.0
//
// PCW_CALLBACK and PcwAddInstance: rows 17 to 29 of the checklist.
#include <functional>
#include <mutex>
#include <thread>

#include "../channel/channel_fixture.hpp"
#include "pcw_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

const std::string kPools = "Memory Pools";

// A callback that is a lambda, and what it saw.
class PcwCallback : public PcwTest {
 protected:
  using Function = std::function<NTSTATUS(PCW_CALLBACK_TYPE, PPCW_CALLBACK_INFORMATION)>;

  void on_call(Function function) { function_ = std::move(function); }

  static NTSTATUS NTAPI call(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info,
                             PVOID context) {
    return static_cast<PcwCallback*>(context)->function_(type, info);
  }
  static NTSTATUS add(PPCW_CALLBACK_INFORMATION info, const wchar_t* name, ULONG id,
                      const Pool& pool) {
    PCW_DATA block = block_of(pool);
    return PcwAddInstance(info->CollectData.Buffer, Name(std::wstring(name)), id, 1, &block);
  }

  Function function_;
  Information info_{L"Memory Pools", pool_counters(), call, this};
  Registered registration_{info_};
};

// A copy of what a callback was told.
struct Told {
  PCW_CALLBACK_TYPE type{};
  ULONG64 counters = 0;
  std::wstring mask;
  ULONG id = 0;
  bool many = false;
  bool has_buffer = false;
};

Told told(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info) {
  const auto text = [](PCUNICODE_STRING string) {
    return std::wstring(string->Buffer, string->Length / sizeof(WCHAR));
  };
  if (type == PcwCallbackAddCounter || type == PcwCallbackRemoveCounter) {
    const PCW_COUNTER_INFORMATION& counter = info->AddCounter;
    return {type, counter.CounterMask, text(counter.InstanceMask), 0, false, false};
  }
  const PCW_MASK_INFORMATION& mask = info->EnumerateInstances;
  return {type,
          mask.CounterMask,
          text(mask.InstanceMask),
          mask.InstanceId,
          mask.CollectMultiple != FALSE,
          mask.Buffer != nullptr && mask.CancelEvent != nullptr};
}

TEST_F(PcwCallback, ReceivesTheRequestedCounters) {
  std::vector<Told> all;
  on_call([&](auto type, auto* info) {
    all.push_back(told(type, info));
    return STATUS_SUCCESS;
  });
  Asked asked = connect_one(kPools);
  asked.request.counter_mask = {4};
  asked.request.pattern = "sm?ll*ä";
  asked.request.instance_id = 77;
  asked.request.collect_many = false;
  asked.ask(MessageType::kAddInterest);
  asked.ask(MessageType::kRemoveInterest);
  asked.ask(MessageType::kEnumerate);
  asked.request = {.registration = asked.request.registration,
                   .generation = asked.request.generation,
                   .pattern = {}};
  asked.ask(MessageType::kCollect);

  ASSERT_EQ(all.size(), 4U);
  for (int index = 0; index < 3; ++index) {
    EXPECT_EQ(all[static_cast<std::size_t>(index)].type, index);
    EXPECT_EQ(all[static_cast<std::size_t>(index)].counters, 4U);
    EXPECT_EQ(all[static_cast<std::size_t>(index)].mask, L"sm?ll*ä");
  }
  EXPECT_EQ(all[2].id, 77U);
  EXPECT_FALSE(all[2].many);
  EXPECT_EQ(all[3].type, PcwCallbackCollectData);
  EXPECT_EQ(all[3].counters, ~ULONG64{0});
  EXPECT_EQ(all[3].mask, L"*");
  EXPECT_EQ(all[3].id, PCW_ANY_INSTANCE_ID);
  EXPECT_TRUE(all[3].many);
  EXPECT_TRUE(all[3].has_buffer);
}

TEST_F(PcwCallback, SeesAllOnesWhereAnIdBeyond63IsWanted) {
  std::vector<ULONG64> masks;
  on_call([&](auto type, auto* info) {
    masks.push_back(told(type, info).counters);
    return STATUS_SUCCESS;
  });
  Asked asked = connect_one(kPools);
  asked.request.counter_mask = {2, 0};
  asked.ask(MessageType::kCollect);
  asked.request.counter_mask = {2, 1};
  asked.ask(MessageType::kCollect);
  EXPECT_EQ(masks, (std::vector<ULONG64>{2, ~ULONG64{0}}));
}

TEST_F(PcwCallback, RunsForTwoReadersAtOnce) {
  Gate gate;
  on_call([&](auto, auto* info) {
    gate.pass();
    return add(info, L"a", 1, {1, 2, 3});
  });
  Asked first = connect_one(kPools);
  Asked second = connect_one(kPools);
  first.request.type = second.request.type = MessageType::kCollect;
  first.reader.ask(first.request);
  second.reader.ask(second.request);
  gate.wait_for(2);  // both inside
  gate.open();
  EXPECT_EQ(first.reader.answer()->rows.size(), 1U);
  EXPECT_EQ(second.reader.answer()->rows.size(), 1U);
}

TEST_F(PcwCallback, IsHeardWhateverItReturns) {
  on_call([](auto, auto* info) {
    add(info, L"a", 1, {1, 2, 3});
    add(info, L"b", 2, {4, 5, 6});
    return STATUS_UNSUCCESSFUL;
  });
  const auto answer = connect_one(kPools).ask(MessageType::kCollect);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, CallbackOutcome::kFailed);
  EXPECT_EQ(answer->code, 0xc0000001U);
  EXPECT_EQ(answer->rows.size(), 2U);
}

TEST_F(PcwCallback, SucceedsWithEveryStatusOfSuccess) {
  on_call([](auto, auto* info) {
    add(info, L"a", 1, {1, 2, 3});
    return STATUS_PENDING;
  });
  const auto answer = connect_one(kPools).ask(MessageType::kCollect);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, CallbackOutcome::kFinished);
  EXPECT_EQ(answer->code, 0U);
}

TEST_F(PcwCallback, NeedsDataToCollectAndNoneToEnumerate) {
  std::vector<NTSTATUS> statuses;
  on_call([&](auto, auto* info) {
    PCW_DATA null_of_full_size{nullptr, sizeof(Pool)};
    const PPCW_BUFFER buffer = info->CollectData.Buffer;
    statuses.push_back(PcwAddInstance(buffer, Name(L"a"), 1, 0, nullptr));
    statuses.push_back(PcwAddInstance(buffer, Name(L"b"), 2, 1, &null_of_full_size));
    return STATUS_SUCCESS;
  });
  Asked asked = connect_one(kPools);
  EXPECT_EQ(asked.ask(MessageType::kEnumerate)->rows.size(), 2U);
  EXPECT_EQ(asked.ask(MessageType::kCollect)->rows.size(), 0U);
  EXPECT_EQ(statuses,
            (std::vector<NTSTATUS>{STATUS_SUCCESS, STATUS_SUCCESS, STATUS_INVALID_PARAMETER_5,
                                   STATUS_INVALID_PARAMETER_5}));
}

TEST_F(PcwCallback, IsToldWhichRowsCannotBe) {
  std::vector<NTSTATUS> statuses;
  on_call([&](auto, auto* info) {
    const Pool pool{1, 2, 3};
    const PPCW_BUFFER buffer = info->CollectData.Buffer;
    PCW_DATA block = block_of(pool);
    PCW_DATA short_block{&pool, 12};
    statuses.push_back(PcwAddInstance(buffer, Name(L"a"), 1, 1, &short_block));
    statuses.push_back(PcwAddInstance(buffer, Name(L"a"), 1, 0, &block));
    statuses.push_back(PcwAddInstance(buffer, nullptr, 1, 1, &block));
    statuses.push_back(PcwAddInstance(buffer, Name(L"a"), PCW_ANY_INSTANCE_ID, 1, &block));
    statuses.push_back(PcwAddInstance(buffer, Name(L"a"), 0xfffffffe, 1, &block));
    statuses.push_back(PcwAddInstance(nullptr, Name(L"a"), 1, 1, &block));
    return STATUS_SUCCESS;
  });
  EXPECT_EQ(collect(kPools).size(), 0U);
  EXPECT_EQ(statuses,
            (std::vector<NTSTATUS>{STATUS_INVALID_BUFFER_SIZE, STATUS_INVALID_PARAMETER_4,
                                   STATUS_INVALID_PARAMETER_2, STATUS_INVALID_PARAMETER_3,
                                   STATUS_INVALID_PARAMETER_3, STATUS_INVALID_PARAMETER_1}));
}

TEST_F(PcwCallback, HasItsRowsCopied) {
  on_call([](auto, auto* info) {
    Pool pool{1, 2, 3};
    std::wstring name = L"a";
    const NTSTATUS status = add(info, name.c_str(), 1, pool);
    pool = {};
    name = L"b";
    return status;
  });
  const SeenRows rows = collect(kPools);
  ASSERT_EQ(rows.count("a"), 1U);
  EXPECT_EQ(only_values(rows), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(PcwCallback, CannotAddRowsOnceItHasReturned) {
  PPCW_BUFFER kept = nullptr;
  on_call([&](auto, auto* info) {
    kept = info->CollectData.Buffer;
    return STATUS_SUCCESS;
  });
  EXPECT_EQ(collect(kPools).size(), 0U);
  const Pool pool{};
  PCW_DATA block = block_of(pool);
  EXPECT_EQ(PcwAddInstance(kept, Name(L"a"), 1, 1, &block), STATUS_INVALID_PARAMETER_1);
}

TEST_F(PcwCallback, StandsBesideCreatedRows) {
  on_call([](auto, auto* info) { return add(info, L"computed", 0, {1, 2, 3}); });
  const Pool pool{4, 5, 6};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration_.get(), Name(L"created"), 1, &block),
            STATUS_SUCCESS);
  const SeenRows rows = collect(kPools);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(values_of(rows, "computed"), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(values_of(rows, "created"), (std::vector<std::uint64_t>{4, 6}));
  EXPECT_NE(rows.find("created")->second.id, 0U);
}

TEST_F(PcwCallback, MayAddSeveralNamesOnOneIdAndSeveralIdsOfOneName) {
  on_call([](auto, auto* info) {
    add(info, L"small", 0, {1, 2, 3});
    add(info, L"large", 0, {4, 5, 6});
    return add(info, L"large", 7, {7, 8, 9});
  });
  const SeenRows rows = collect(kPools);
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.count("large"), 2U);
  EXPECT_EQ(values_of(rows, "small"), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(PcwCallback, StopsAtTheFirstRowWhereOneIsEnough) {
  std::vector<NTSTATUS> statuses;
  on_call([&](auto, auto* info) {
    statuses.push_back(add(info, L"a", 1, {1, 2, 3}));
    statuses.push_back(add(info, L"b", 2, {1, 2, 3}));
    return STATUS_SUCCESS;
  });
  Asked asked = connect_one(kPools);
  asked.request.collect_many = false;
  const auto answer = asked.ask(MessageType::kCollect);
  ASSERT_EQ(answer->rows.size(), 1U);
  EXPECT_EQ(answer->rows[0].name, "a");
  EXPECT_EQ(statuses, (std::vector<NTSTATUS>{STATUS_SUCCESS, STATUS_SUCCESS}));
}

TEST_F(PcwCallback, HearsThatItsReaderGaveUp) {
  LONG before = -1;
  NTSTATUS looked = STATUS_UNSUCCESSFUL;
  Gate entered;
  on_call([&](auto, auto* info) {
    const PKEVENT cancelled = info->CollectData.CancelEvent;
    LARGE_INTEGER no_time{};
    before = KeReadStateEvent(cancelled);
    looked = KeWaitForSingleObject(cancelled, Executive, KernelMode, FALSE, &no_time);
    entered.pass();
    return KeWaitForSingleObject(cancelled, Executive, KernelMode, FALSE, nullptr);
  });
  Asked asked = connect_one(kPools);
  asked.request.type = MessageType::kCollect;
  asked.reader.ask(asked.request);
  entered.wait_for(1);
  asked.reader.hang_up();
  entered.open();
  registration_.unregister();  // waits for the callback, which waits for the event
  EXPECT_EQ(before, 0);
  EXPECT_EQ(looked, STATUS_TIMEOUT);
}

TEST_F(PcwCallback, HearsOfEveryEndOfAnInterest) {
  std::atomic<int> interested{0};
  std::atomic<int> told_times{0};
  on_call([&](auto type, auto*) {
    // relaxed, all: counts that are compared when everything is quiet.
    if (type == PcwCallbackAddCounter) interested.fetch_add(1, std::memory_order_relaxed);
    if (type == PcwCallbackRemoveCounter) interested.fetch_sub(1, std::memory_order_relaxed);
    told_times.fetch_add(1, std::memory_order_relaxed);
    return STATUS_SUCCESS;
  });
  Asked orderly = connect_one(kPools);
  Asked gone = connect_one(kPools);
  orderly.ask(MessageType::kAddInterest);
  gone.ask(MessageType::kAddInterest);
  EXPECT_EQ(interested.load(std::memory_order_relaxed), 2);  // relaxed: answered
  orderly.ask(MessageType::kRemoveInterest);
  gone.reader.hang_up();
  // relaxed: as above.
  EXPECT_TRUE(comes_true([&] { return told_times.load(std::memory_order_relaxed) == 4; }));
  EXPECT_EQ(interested.load(std::memory_order_relaxed), 0);  // relaxed: as above
}

TEST_F(PcwCallback, GivesARowItsNameAndIdAThousandTimes) {
  on_call([](auto, auto* info) { return add(info, L"a", 4711, {1, 2, 3}); });
  const Pool pool{};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration_.get(), Name(L"b"), 1, &block),
            STATUS_SUCCESS);
  Asked asked = connect_one(kPools);
  std::set<std::pair<std::string, std::uint32_t>> seen;
  for (int read = 0; read < 1000; ++read) {
    const auto answer = asked.ask(MessageType::kCollect);
    ASSERT_TRUE(answer);
    for (const CopiedRow& row : answer->rows) seen.emplace(row.name, row.id);
  }
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen.count({"a", 4711}), 1U);
}

TEST_F(PcwCallback, MayCallEveryFunction) {
  PPCW_REGISTRATION own = registration_.get();
  NTSTATUS created = STATUS_UNSUCCESSFUL;
  static const Pool kPool{7, 8, 9};
  on_call([&](auto, auto*) {
    PCW_DATA block = block_of(kPool);
    PPCW_INSTANCE instance = nullptr;
    created = PcwCreateInstance(&instance, own, Name(L"late"), 1, &block);
    PcwCloseInstance(instance);
    Information other(L"Other Pools", pool_counters());
    PPCW_REGISTRATION handle = nullptr;
    const NTSTATUS status = PcwRegister(&handle, other);
    PcwUnregister(handle);
    PcwUnregister(own);  // itself: cannot be waited for from here
    return status;
  });
  EXPECT_EQ(connect_one(kPools).ask(MessageType::kCollect)->code, 0U);
  EXPECT_EQ(created, STATUS_SUCCESS);
  EXPECT_TRUE(comes_true([&] { return find_set(kPools) == nullptr; }));
}

}  // namespace
}  // namespace meterbank
