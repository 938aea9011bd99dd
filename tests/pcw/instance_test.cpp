// SPDX-License-Identifier: Apache-2.0
//
// PcwCreateInstance and PcwCloseInstance: rows 9 to 16 of the checklist.
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "pcw_fixture.hpp"

namespace meterbank::instance_test {
namespace {

using namespace test;

const std::string kPools = "Memory Pools";

class PcwInstances : public PcwTest {
 protected:
  NTSTATUS create(PCUNICODE_STRING name, const PCW_DATA& block) {
    PCW_DATA blocks[] = {block};
    return PcwCreateInstance(&last_, registration_.get(), name, 1, blocks);
  }

  Information info_{L"Memory Pools", pool_counters()};
  Registered registration_{info_};
  PPCW_INSTANCE last_ = nullptr;
};

TEST_F(PcwInstances, AreReadWhereTheyLie) {
  Pool pool{1, 0, 2};
  ASSERT_EQ(create(Name(L"a"), block_of(pool)), STATUS_SUCCESS);
  EXPECT_EQ(only_values(collect(kPools)), (std::vector<std::uint64_t>{1, 2}));
  std::atomic_ref(pool.used).store(41, std::memory_order_relaxed);   // relaxed: the answer orders
  std::atomic_ref(pool.bytes).store(42, std::memory_order_relaxed);  // relaxed: as above
  EXPECT_EQ(only_values(collect(kPools)), (std::vector<std::uint64_t>{41, 42}));
}

TEST_F(PcwInstances, HaveIdsOfTheirOwn) {
  constexpr int kRows = 10'000;
  const Pool pool{1, 0, 2};
  for (int row = 0; row < kRows; ++row) {
    ASSERT_EQ(create(Name(L"row " + std::to_wstring(row)), block_of(pool)), STATUS_SUCCESS);
  }
  std::set<std::uint32_t> ids;
  for (const auto& [name, row] : collect(kPools)) {
    EXPECT_LT(row.id, 0xfffffffeU);
    ids.insert(row.id);
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kRows));
}

TEST_F(PcwInstances, NeedABlockForEachStruct) {
  Information two(L"Two Structs", {{1, 0, 0, 8}, {2, 1, 4, 4}});
  const Registered registration(two);
  const ULONGLONG first = 11;
  const ULONG second[] = {22, 33};
  PCW_DATA blocks[] = {block_of(first), block_of(second)};
  PPCW_INSTANCE instance = nullptr;
  const Name name(L"a");
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), name, 0, nullptr),
            STATUS_INVALID_PARAMETER_4);
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), name, 1, blocks),
            STATUS_INVALID_PARAMETER_4);
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), name, 2, nullptr),
            STATUS_INVALID_PARAMETER_5);
  EXPECT_EQ(instance, nullptr);
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), name, 2, blocks), STATUS_SUCCESS);
  EXPECT_EQ(only_values(collect("Two Structs")), (std::vector<std::uint64_t>{11, 33}));
}

TEST_F(PcwInstances, RefuseABlockThatEndsBeforeACounter) {
  Information far(L"Far", {{1, 0, 100, 4}});
  const Registered registration(far);
  const std::array<std::uint8_t, 104> bytes{};
  PPCW_INSTANCE instance = nullptr;
  for (const ULONG size : {50U, 103U}) {
    PCW_DATA block{bytes.data(), size};
    EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
              STATUS_INVALID_BUFFER_SIZE);
  }
  PCW_DATA block{bytes.data(), 104};
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  block.Data = nullptr;
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"b"), 1, &block),
            STATUS_INVALID_PARAMETER_5);
}

TEST_F(PcwInstances, CarryEveryBitOfBothWidthsAlignedOrNot) {
  Information odd(L"Odd", {{1, 0, 1, 8}, {2, 0, 9, 4}, {3, 0, 16, 8}, {4, 0, 24, 4}});
  const Registered registration(odd);
  alignas(8) std::array<std::uint8_t, 32> bytes{};
  const std::uint64_t large = 0x8877'6655'4433'2211;
  std::memcpy(&bytes[1], &large, 8);
  std::memset(&bytes[9], 0xff, 4);
  std::memset(&bytes[16], 0xff, 8);
  std::memset(&bytes[24], 0xff, 4);
  PCW_DATA block = block_of(bytes);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  EXPECT_EQ(only_values(collect("Odd")),
            (std::vector<std::uint64_t>{large, 0xffffffff, ~std::uint64_t{0}, 0xffffffff}));
}

TEST_F(PcwInstances, KeepTheRulesOfNames) {
  const Pool pool{};
  EXPECT_EQ(create(nullptr, block_of(pool)), STATUS_INVALID_PARAMETER_3);
  EXPECT_EQ(create(Name(L"Ärger"), block_of(pool)), STATUS_SUCCESS);
  EXPECT_EQ(create(Name(L"a\nb"), block_of(pool)), STATUS_INVALID_PARAMETER_3);
  // The set does not say whether its rows have names.
  EXPECT_EQ(create(Name(L""), block_of(pool)), STATUS_SUCCESS);
  const SeenRows rows = collect(kPools);
  EXPECT_EQ(rows.count("Ärger"), 1U);
  EXPECT_EQ(rows.count("default"), 1U);
}

TEST_F(PcwInstances, ShareANameAndHaveIdsOfTheirOwn) {
  const Pool first{1, 0, 10}, second{2, 0, 20};
  ASSERT_EQ(create(Name(L"Ärger"), block_of(first)), STATUS_SUCCESS);
  PPCW_INSTANCE const one = last_;
  ASSERT_EQ(create(Name(L"äRGER"), block_of(second)), STATUS_SUCCESS);
  SeenRows rows = collect(kPools);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.find("Ärger")->second.id, 0U);
  EXPECT_EQ(rows.find("äRGER")->second.id, 1U);
  PcwCloseInstance(one);
  rows = collect(kPools);
  EXPECT_EQ(values_of(rows, "äRGER"), (std::vector<std::uint64_t>{2, 20}));
  EXPECT_EQ(rows.size(), 1U);
}

TEST_F(PcwInstances, KeepTheRulesOfTheirDescription) {
  const std::array counters{
      CounterSpec{.id = 1, .name = "Used", .symbol = "used", .type = CounterType::kRawCount},
      CounterSpec{
          .id = 2, .name = "Bytes", .symbol = "bytes", .type = CounterType::kLargeRawCount}};
  ASSERT_TRUE(pcw::describe({.name = "Many", .symbol = "many", .counters = counters}));
  ASSERT_TRUE(pcw::describe(
      {.name = "One", .symbol = "one", .instances = InstanceKind::kSingle, .counters = counters}));
  Information many(L"Many", pool_counters());
  Information one(L"One", pool_counters());
  const Registered many_rows(many);
  const Registered one_row(one);
  const Pool pool{};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  EXPECT_EQ(PcwCreateInstance(&instance, many_rows.get(), Name(L""), 1, &block),
            STATUS_INVALID_PARAMETER_3);
  // The name of an only row is not looked at; a second row is one too many.
  EXPECT_EQ(PcwCreateInstance(&instance, one_row.get(), Name(L"default"), 1, &block),
            STATUS_SUCCESS);
  EXPECT_EQ(PcwCreateInstance(&instance, one_row.get(), Name(L"other"), 1, &block),
            STATUS_OBJECT_NAME_COLLISION);
  EXPECT_EQ(collect("One").begin()->first, "");
}

TEST_F(PcwInstances, AreGoneOnceTheyAreClosed) {
  const Pool pool{};
  ASSERT_EQ(create(Name(L"a"), block_of(pool)), STATUS_SUCCESS);
  PcwCloseInstance(last_);
  EXPECT_EQ(collect(kPools).size(), 0U);
  EXPECT_EQ(create(Name(L"A"), block_of(pool)), STATUS_SUCCESS);
  EXPECT_EQ(collect(kPools).size(), 1U);
}

TEST_F(PcwInstances, AreNotReadOnceCloseHasReturned) {
  Asked asked = connect_one(kPools);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    // relaxed: a hint.
    while (!stop.load(std::memory_order_relaxed)) asked.ask(MessageType::kCollect);
  });
  for (int turn = 0; turn < 300; ++turn) {
    const auto pool = std::make_unique<Pool>();
    ASSERT_EQ(create(Name(L"a"), block_of(*pool)), STATUS_SUCCESS);
    EXPECT_EQ(collect(kPools).size(), 1U);
    PcwCloseInstance(last_);
  }
  stop.store(true, std::memory_order_relaxed);  // relaxed: as above
  reader.join();
}

TEST_F(PcwInstances, LieInSharedMemoryWhereTheyAreAllocated) {
  Information words(L"Words", {{1, 0, 0, 8}, {2, 0, 8, 4}});
  const Registered registration(words);
  PPCW_INSTANCE instance = nullptr;
  PVOID block = nullptr;
  ASSERT_EQ(MeterbankPcwAllocateInstance(&instance, registration.get(), Name(L"a"), &block),
            STATUS_SUCCESS);
  auto* const values = static_cast<ULONGLONG*>(block);
  EXPECT_EQ(values[0], 0U);
  std::atomic_ref(values[0]).store(7, std::memory_order_relaxed);  // relaxed: one thread
  auto* const half = static_cast<ULONG*>(block) + 2;
  std::atomic_ref(*half).store(8, std::memory_order_relaxed);  // relaxed: one thread

  EXPECT_EQ(shared_value("words/a/counter_1"), 7U);
  EXPECT_EQ(shared_value("words/a/counter_2"), 8U);
  EXPECT_EQ(collect("Words").size(), 0U);  // collecting sends no request

  const ULONGLONG data[2] = {};
  PCW_DATA outside = block_of(data);
  PPCW_INSTANCE other = nullptr;
  EXPECT_EQ(PcwCreateInstance(&other, registration.get(), Name(L"A"), 1, &outside), STATUS_SUCCESS);
  EXPECT_EQ(collect("Words").find("A")->second.id, 1U);  // that of the other one is 0
  PcwCloseInstance(instance);
}

TEST_F(PcwInstances, AreNotAllocatedInAnotherLayout) {
  PPCW_INSTANCE instance = nullptr;
  PVOID block = &instance;
  Information first_at_eight(L"Gap", {{1, 0, 8, 8}});
  Information packed(L"Packed", {{1, 0, 0, 4}, {2, 0, 4, 4}});
  Information two(L"Two", {{1, 0, 0, 8}, {2, 1, 8, 8}});
  for (Information* info : {&first_at_eight, &packed, &two}) {
    const Registered registration(*info);
    EXPECT_EQ(MeterbankPcwAllocateInstance(&instance, registration.get(), Name(L"a"), &block),
              STATUS_NOT_SUPPORTED);
    EXPECT_EQ(block, nullptr);
  }
}

}  // namespace
}  // namespace meterbank::instance_test
