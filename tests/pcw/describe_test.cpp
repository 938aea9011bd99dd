// SPDX-License-Identifier: Apache-2.0
//
// Descriptions in the words of C.
#include "meterbank/pcw/describe.h"

#include "pcw_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

constexpr METERBANK_COUNTER_DESCRIPTION kCounters[] = {
    {.Id = 2,
     .Type = PERF_AVERAGE_BULK,
     .Name = "Bytes per Use",
     .Symbol = "bytes",
     .Unit = "By",
     .Help = "How much.",
     .Links = {1, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER},
     .Scale = -3,
     .Detail = PERF_DETAIL_ADVANCED,
     .Aggregate = PERF_AGGREGATE_MAX,
     .Attributes = PERF_ATTRIB_DISPLAY_AS_HEX},
    {.Id = 1, .Type = PERF_AVERAGE_BASE, .Links = METERBANK_NO_LINKS},
};
constexpr GUID kGuid = {0x51d1685c, 0x35ed, 0x45be, {0x99, 0xfe, 0x17, 0x26, 0x1a, 0x4f, 0x27, 9}};

METERBANK_COUNTERSET_DESCRIPTION pools() {
  return {.Name = "Memory Pools",
          .Symbol = "pools",
          .Help = "Pools.",
          .Label = "pool",
          .Guid = kGuid,
          .InstanceType = PERF_COUNTERSET_MULTI_AGGREGATE,
          .CounterCount = ARRAYSIZE(kCounters),
          .Counters = kCounters};
}

class Describe : public PcwTest {};

TEST_F(Describe, TellsAllThatARegistrationLacks) {
  const auto set_info = pools();
  ASSERT_EQ(MeterbankPcwDescribe(&set_info), STATUS_SUCCESS) << pcw::last_refusal();
  Information info(L"Memory Pools", pool_counters());
  const Registered registration(info);

  const auto set = find_set("Memory Pools");

  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->symbol, "pools");
  EXPECT_EQ(set->help, "Pools.");
  EXPECT_EQ(set->label, "pool");
  EXPECT_EQ(set->guid, std::bit_cast<Guid>(kGuid));
  EXPECT_EQ(set->instances, InstanceKind::kMultipleAggregate);
  const CounterView& bytes = set->counters.at(0);
  EXPECT_EQ(bytes.id, 2U);
  EXPECT_EQ(bytes.type, CounterType::kAverageBulk);
  EXPECT_EQ(bytes.name, "Bytes per Use");
  EXPECT_EQ(bytes.symbol, "bytes");
  EXPECT_EQ(bytes.unit, "By");
  EXPECT_EQ(bytes.help, "How much.");
  EXPECT_EQ(bytes.base, 1U);  // the word of counter 1
  EXPECT_EQ(bytes.scale, -3);
  EXPECT_EQ(bytes.detail, 200U);
  EXPECT_EQ(bytes.aggregate, kAggregateMaximum);
  EXPECT_EQ(bytes.attributes, 16U);
  EXPECT_EQ(set->counters.at(1).detail, 100U);
}

TEST_F(Describe, TakesSignedAndRealValues) {
  METERBANK_COUNTER_DESCRIPTION counter{.Id = 1,
                                        .Type = PERF_COUNTER_LARGE_RAWCOUNT,
                                        .Name = "a",
                                        .Symbol = "a",
                                        .Links = METERBANK_NO_LINKS,
                                        .Form = METERBANK_FORM_SIGNED};
  METERBANK_COUNTERSET_DESCRIPTION set = pools();
  set.CounterCount = 1;
  set.Counters = &counter;
  EXPECT_EQ(MeterbankPcwDescribe(&set), STATUS_SUCCESS) << pcw::last_refusal();
  counter.Form = METERBANK_FORM_REAL;
  EXPECT_EQ(MeterbankPerfDescribe(&set), static_cast<DWORD>(ERROR_SUCCESS));
  counter.Form = METERBANK_FORM_REAL + 1;
  EXPECT_EQ(MeterbankPcwDescribe(&set), STATUS_INVALID_PARAMETER_2);
  EXPECT_EQ(pcw::last_refusal(), "counter 1 has an unknown form");
}

TEST_F(Describe, RefusesWhatNoSetCanBe) {
  const auto refused = [](const METERBANK_COUNTERSET_DESCRIPTION* set) {
    return MeterbankPcwDescribe(set) == STATUS_INVALID_PARAMETER_2 &&
           MeterbankPerfDescribe(set) == ERROR_INVALID_PARAMETER;
  };
  EXPECT_TRUE(refused(nullptr));
  auto set = pools();
  set.Counters = nullptr;
  EXPECT_TRUE(refused(&set));
  set = pools();
  set.InstanceType = PERF_COUNTERSET_FLAG_INSTANCE;
  EXPECT_TRUE(refused(&set));
  EXPECT_EQ(pcw::last_refusal(), "unknown instance type 16");
  set = pools();
  set.Symbol = nullptr;
  EXPECT_TRUE(refused(&set));
  set = pools();
  set.CounterCount = 1;  // and its base is missing
  EXPECT_TRUE(refused(&set));
  set = pools();
  EXPECT_FALSE(refused(&set));
}

}  // namespace
}  // namespace meterbank
