// SPDX-License-Identifier: Apache-2.0
//
// PcwRegister and PcwUnregister: rows 1 to 8 of the checklist, and 30.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>

#include "pcw_fixture.hpp"

namespace meterbank::register_test {
namespace {

using namespace test;

class PcwRegisterTest : public PcwTest {};

constexpr std::string_view kPoolsName = "Memory Pools";
const std::string kPools(kPoolsName);

NTSTATUS try_register(PPCW_REGISTRATION_INFORMATION info) {
  PPCW_REGISTRATION handle = nullptr;
  const NTSTATUS status = PcwRegister(&handle, info);
  if (NT_SUCCESS(status)) PcwUnregister(handle);
  EXPECT_EQ(handle == nullptr, !NT_SUCCESS(status));
  return status;
}

TEST_F(PcwRegisterTest, ShowsTheSetAtOnce) {
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);

  const auto set = find_set(kPools);

  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->symbol, "memory_pools");
  EXPECT_EQ(set->instances, InstanceKind::kMultiple);
  EXPECT_EQ(set->guid, Guid::from_name("driver", kPools));
  ASSERT_EQ(set->counters.size(), 2U);
  EXPECT_EQ(set->counters[0].name, "Counter 1");
  EXPECT_EQ(set->counters[0].symbol, "counter_1");
  EXPECT_EQ(set->counters[0].type, CounterType::kRawCount);
  EXPECT_EQ(set->counters[1].type, CounterType::kLargeRawCount);
}

TEST_F(PcwRegisterTest, TakesNamesAndTypesFromADescription) {
  const std::array counters{
      CounterSpec{.id = 2, .name = "Bytes", .symbol = "bytes", .type = CounterType::kBulkCount},
      CounterSpec{.id = 1, .name = "Used", .symbol = "used", .type = CounterType::kRawCount}};
  ASSERT_TRUE(pcw::describe({.name = "memory POOLS",
                             .symbol = "pools",
                             .guid = "{51d1685c-35ed-45be-99fe-17261a4f27f3}"_guid,
                             .counters = counters}));
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);
  const Pool pool{7, 0, 8};
  PPCW_INSTANCE instance = nullptr;
  PCW_DATA block = block_of(pool);
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);

  const auto set = find_set("memory POOLS");

  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->counters[0].name, "Bytes");
  EXPECT_EQ(only_values(collect("memory POOLS")), (std::vector<std::uint64_t>{8, 7}));
}

TEST_F(PcwRegisterTest, RefusesADescriptionThatContradictsIt) {
  const std::array too_few{
      CounterSpec{.id = 1, .name = "Used", .symbol = "used", .type = CounterType::kRawCount}};
  Information info(L"Memory Pools", pool_counters());

  ASSERT_TRUE(pcw::describe({.name = kPools, .symbol = "pools", .counters = too_few}));
  EXPECT_EQ(try_register(info), STATUS_INVALID_PARAMETER_2);
  EXPECT_EQ(pcw::last_refusal(), "a counter of the registration is not in the description");
  EXPECT_FALSE(pcw::describe({.name = "", .symbol = "pools", .counters = too_few}));
}

TEST_F(PcwRegisterTest, ReadsFieldsThatAreNarrowerOrWiderThanTheirTypes) {
  const std::array other_widths{
      CounterSpec{.id = 1, .name = "Used", .symbol = "used", .type = CounterType::kLargeRawCount},
      CounterSpec{.id = 2, .name = "Bytes", .symbol = "bytes", .type = CounterType::kRawCount}};
  ASSERT_TRUE(pcw::describe({.name = kPools, .symbol = "pools", .counters = other_widths}));
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);
  const Pool pool{0xffffffff, ~ULONG{0}, 0x1'0000'0007};
  PPCW_INSTANCE instance = nullptr;
  PCW_DATA block = block_of(pool);
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  EXPECT_EQ(only_values(collect(kPools)), (std::vector<std::uint64_t>{0xffffffff, 7}));
  --block.Size;  // the field must be there as a whole, whatever is read of it
  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"b"), 1, &block),
            STATUS_INVALID_BUFFER_SIZE);
}

TEST_F(PcwRegisterTest, CopiesWhatItIsGiven) {
  auto name = std::make_unique<std::wstring>(L"Memory Pools");
  auto counters = std::make_unique<std::vector<PCW_COUNTER_DESCRIPTOR>>(pool_counters());
  auto info = std::make_unique<Information>(name->c_str(), *counters);
  const Registered registration(*info);
  name->assign(name->size(), L'x');
  info->operator->()->Counters[0].Offset = 60000;
  name.reset();
  counters.reset();
  info.reset();
  const Pool pool{1, 2, 3};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;

  EXPECT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  EXPECT_EQ(only_values(collect(kPools)), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(PcwRegisterTest, RefusesInvalidNamesVersionsAndFlags) {
  const auto refused = [this](auto change) {
    Information info(L"Memory Pools", pool_counters());
    UNICODE_STRING name = *info->Name;
    info->Name = &name;
    change(*info.operator->(), name);
    const NTSTATUS status = try_register(info);
    EXPECT_EQ(find_set(kPools), nullptr);
    return status;
  };
  using Info = PCW_REGISTRATION_INFORMATION;
  using Text = UNICODE_STRING;
  constexpr NTSTATUS kRefused = STATUS_INVALID_PARAMETER_2;

  EXPECT_EQ(refused([](Info& info, Text&) { info.Name = nullptr; }), kRefused);
  EXPECT_EQ(refused([](Info&, Text& name) { name.Length = 0; }), kRefused);
  EXPECT_EQ(refused([](Info&, Text& name) { name.Length -= 1; }), kRefused);
  EXPECT_EQ(refused([](Info&, Text& name) { name.Length -= 2; }), kRefused);
  EXPECT_EQ(refused([](Info&, Text& name) { name.Buffer = nullptr; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Version = 0; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Version = 0x300; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Flags = static_cast<PCW_REGISTRATION_FLAGS>(2); }),
            kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.CounterCount = 0; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Counters = nullptr; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Counters[0].Size = 2; }), kRefused);
  EXPECT_EQ(refused([](Info& info, Text&) { info.Counters[0].Id = 2; }), kRefused);
  EXPECT_EQ(PcwRegister(nullptr, nullptr), STATUS_INVALID_PARAMETER_1);
  EXPECT_EQ(try_register(nullptr), kRefused);
  EXPECT_EQ(refused([](Info&, Text&) {}), STATUS_SUCCESS);  // the control
}

TEST_F(PcwRegisterTest, IgnoresFlagsBeforeVersionTwo) {
  Information info(L"Memory Pools", pool_counters());
  info->Version = PCW_VERSION_1;
  std::memset(&info->Flags, 0xff, sizeof info->Flags);
  EXPECT_EQ(try_register(info), STATUS_SUCCESS);
  info->Version = PCW_VERSION_2;
  EXPECT_EQ(try_register(info), STATUS_INVALID_PARAMETER_2);
}

TEST_F(PcwRegisterTest, IsSeenAlikeWithTheNeutralFlag) {
  Information info(L"Memory Pools", pool_counters());
  info->Flags = PcwRegistrationSiloNeutral;
  const Registered registration(info);
  EXPECT_NE(find_set(kPools), nullptr);
}

TEST_F(PcwRegisterTest, RefusesTooManyCounters) {
  std::vector<PCW_COUNTER_DESCRIPTOR> counters(kCountersMax + 1);
  for (std::size_t id = 0; id < counters.size(); ++id) {
    counters[id] = {static_cast<USHORT>(id), 0, static_cast<USHORT>(8 * id), 8};
  }
  Information all(L"Memory Pools", counters);
  EXPECT_EQ(try_register(all), STATUS_INTEGER_OVERFLOW);
  counters.pop_back();
  Information fewer(L"Memory Pools", counters);
  EXPECT_EQ(try_register(fewer), STATUS_SUCCESS);
}

TEST_F(PcwRegisterTest, SaysWhenTheSegmentIsFull) {
  ProviderOptions options;
  options.bytes_max = kExtentBytesMin;
  set_options(options);
  std::vector<PPCW_REGISTRATION> handles;
  NTSTATUS status = STATUS_SUCCESS;
  while (NT_SUCCESS(status) && handles.size() < kRegistrationsMax) {
    const std::wstring name = L"Set " + std::to_wstring(handles.size());
    Information info(name.c_str(), pool_counters());
    PPCW_REGISTRATION handle = nullptr;
    status = PcwRegister(&handle, info);
    if (NT_SUCCESS(status)) handles.push_back(handle);
  }
  EXPECT_EQ(status, STATUS_NO_MEMORY);
  EXPECT_EQ(find_set("Set " + std::to_string(handles.size())), nullptr);
  EXPECT_NE(find_set("Set 0"), nullptr);
  for (const PPCW_REGISTRATION handle : handles) PcwUnregister(handle);
}

TEST_F(PcwRegisterTest, TakesTheSameSetTwiceAndShowsTheRowsOfBoth) {
  Information info(L"Memory Pools", pool_counters());
  const Registered first(info);
  const Registered second(info);
  const Pool pool{1, 2, 3};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE one = nullptr;
  PPCW_INSTANCE other = nullptr;
  ASSERT_EQ(PcwCreateInstance(&one, first.get(), Name(L"a"), 1, &block), STATUS_SUCCESS);
  ASSERT_EQ(PcwCreateInstance(&other, second.get(), Name(L"a"), 1, &block), STATUS_SUCCESS);

  EXPECT_EQ(collect(kPools).count("a"), 2U);
}

// Registers the set with an instance, tells, and ends when the other end of `over` is closed.
void publish_pools_until(int ready, int over) {
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);
  const Pool pool{4, 5, 6};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  if (PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block) != STATUS_SUCCESS) {
    return;
  }
  char told = 1;
  if (::write(ready, &told, 1) != 1) return;
  static_cast<void>(!::read(over, &told, 1));
}

TEST_F(PcwRegisterTest, TakesTheSameSetInTwoProcessesAndShowsTheRowsOfBoth) {
  std::array<int, 2> ready{}, over{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(over.data(), O_CLOEXEC), 0);
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    ::close(over[1]);
    publish_pools_until(ready[1], over[0]);
    ::_exit(0);
  }
  char told = 0;
  ASSERT_EQ(::read(ready[0], &told, 1), 1);
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);
  const Pool pool{1, 2, 3};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);

  const SeenRows rows = collect(kPools);

  EXPECT_EQ(rows.count("a"), 2U);
  ::close(over[1]);
  EXPECT_EQ(::waitpid(other, nullptr, 0), other);
  EXPECT_EQ(collect(kPools).count("a"), 1U);
  for (const int end : {ready[0], ready[1], over[0]}) ::close(end);
}

TEST_F(PcwRegisterTest, EndsTheProviderWithTheLastRegistration) {
  Information info(L"Memory Pools", pool_counters());
  {
    const Registered registration(info);
    EXPECT_NE(pcw::provider_record(), "");
    EXPECT_NE(directory_.files(), 0U);
  }
  EXPECT_EQ(pcw::provider_record(), "");
  EXPECT_EQ(directory_.files(), 0U);
  const Registered again(info);
  EXPECT_NE(find_set(kPools), nullptr);
}

TEST_F(PcwRegisterTest, SaysWhyNothingCanBePublished) {
  ProviderOptions options;
  options.directory = directory_.path() + "/missing/too";
  set_options(options);
  Information info(L"Memory Pools", pool_counters());
  PPCW_REGISTRATION handle = nullptr;
  EXPECT_FALSE(NT_SUCCESS(PcwRegister(&handle, info)));
  EXPECT_EQ(handle, nullptr);
  EXPECT_NE(pcw::last_refusal().find("missing"), std::string::npos) << pcw::last_refusal();
}

TEST_F(PcwRegisterTest, ReadsNothingOnceUnregisterHasReturned) {
  Information info(L"Memory Pools", pool_counters());
  Registered registration(info);
  auto pool = std::make_unique<Pool>(Pool{1, 2, 3});
  PCW_DATA block = block_of(*pool);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  Asked asked = connect_one(kPools);
  ASSERT_EQ(asked.ask(MessageType::kCollect)->rows.size(), 1U);

  registration.unregister();
  pool.reset();  // a sanitizer would see a read from here on

  const auto answer = asked.ask(MessageType::kCollect);
  EXPECT_TRUE(!answer || answer->type == MessageType::kRefused);
  EXPECT_EQ(find_set(kPools), nullptr);
}

TEST_F(PcwRegisterTest, IgnoresAnInstanceThatUnregisterClosed) {
  Information info(L"Memory Pools", pool_counters());
  Registered registration(info);
  const Pool pool{1, 2, 3};
  PCW_DATA block = block_of(pool);
  PPCW_INSTANCE instance = nullptr;
  ASSERT_EQ(PcwCreateInstance(&instance, registration.get(), Name(L"a"), 1, &block),
            STATUS_SUCCESS);
  const PPCW_REGISTRATION handle = registration.get();

  registration.unregister();

  PcwCloseInstance(instance);
  PcwCloseInstance(instance);
  PcwUnregister(handle);
  EXPECT_EQ(PcwCreateInstance(&instance, handle, Name(L"b"), 1, &block),
            STATUS_INVALID_PARAMETER_2);
  PcwUnregister(nullptr);
  PcwCloseInstance(nullptr);
  const Registered again(info);
  EXPECT_EQ(collect(kPools).size(), 0U);
}

}  // namespace
}  // namespace meterbank::register_test
