// SPDX-License-Identifier: Apache-2.0
//
// What is more than a whole number, as consumers see it who know nothing else.
#include <cmath>
#include <limits>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

constexpr std::array kForms{CounterSpec{.id = 1,
                                        .name = "Temperature",
                                        .symbol = "temperature",
                                        .type = CounterType::kLargeRawCount,
                                        .aggregate = kAggregateMinimum,
                                        .form = ValueForm::kReal},
                            CounterSpec{.id = 2,
                                        .name = "Balance",
                                        .symbol = "balance",
                                        .type = CounterType::kLargeRawCount,
                                        .aggregate = kAggregateAverage,
                                        .form = ValueForm::kSigned},
                            CounterSpec{.id = 3,
                                        .name = "State",
                                        .symbol = "state",
                                        .type = CounterType::kText,
                                        .help = "Of no use here.",
                                        .form = ValueForm::kText,
                                        .text_bytes = 8},
                            CounterSpec{.id = 4,
                                        .name = "Latency",
                                        .symbol = "latency",
                                        .type = CounterType::kBulkCount,
                                        .aggregate = kAggregateSum,
                                        .form = ValueForm::kDistribution,
                                        .buckets = {.scale = 0, .least = 1, .most = 8}}};
constexpr CountersetSpec kStoves{.name = "Stoves",
                                 .symbol = "stoves",
                                 .guid = "{7b1f0cb4-55a8-4d0f-9f4b-0d8e8a0a7a11}"_guid,
                                 .instances = InstanceKind::kMultipleAggregate,
                                 .counters = kForms};

std::uint64_t minus(std::uint64_t value) { return ~value + 1; }

class PerfValueForms : public PerfTest {
 protected:
  // The value of the one counter of the left stove.
  std::uint64_t shown(std::uint32_t counter) {
    Handle handle;
    EXPECT_EQ(handle.add({kStoves.guid, u"left", counter}), kSuccess);
    const auto blocks = seen(handle);
    return blocks.at(0).rows.begin()->second.at(0);
  }

  Provider provider_ = provider("kitchen");
  Registration set_ = *provider_.add(kStoves);
  Instance left_ = *set_.create_instance("left"), right_ = *set_.create_instance("right");
};

TEST_F(PerfValueForms, ARealGaugeIsRoundedToAWholeNumberWithASign) {
  Gauge temperature = left_.gauge(0U);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::array cases{std::pair{0.0, std::uint64_t{0}},
                         std::pair{20.4, std::uint64_t{20}},
                         std::pair{20.5, std::uint64_t{21}},
                         std::pair{-0.4, std::uint64_t{0}},
                         std::pair{-17.25, minus(17)},
                         std::pair{-17.5, minus(18)},
                         std::pair{1e300, kMost},
                         std::pair{kInfinity, kMost},
                         std::pair{0x1p63, kMost},
                         std::pair{-0x1p63, kMost + 1},
                         std::pair{-kInfinity, kMost + 1},
                         std::pair{std::nan(""), std::uint64_t{0}}};
  for (const auto& [value, expected] : cases) {
    temperature.set(value);
    EXPECT_EQ(shown(1), expected) << value;
  }
}

TEST_F(PerfValueForms, ADistributionIsTheNumberOfItsValues) {
  Recorder latency = left_.recorder(3U);
  for (const double value : {0.5, 2.0, 3.0, 1e6}) latency.record(value);
  EXPECT_EQ(shown(4), 4U);
}

TEST_F(PerfValueForms, TextsAreHidden) {
  left_.text(2U).set("hot");
  Handle handle;
  EXPECT_EQ(handle.add({kStoves.guid, u"left", 3}), static_cast<ULONG>(ERROR_NOT_FOUND));
  ASSERT_EQ(handle.add({kStoves.guid, u"left"}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].rows, (Rows{{"", {{1, 0}, {2, 0}, {4, 0}}}}));
}

TEST_F(PerfValueForms, TheDescriptionOfASetHasNoTexts) {
  GUID set = guid_of(kStoves.guid);
  Bytes bytes(4096);
  DWORD needed = 0;
  const auto describe = [&](PerfRegInfoType request, DWORD counter) {
    return PerfQueryCounterSetRegistrationInfo(nullptr, &set, request, counter,
                                               reinterpret_cast<LPBYTE>(bytes.data()),
                                               static_cast<DWORD>(bytes.size()), &needed);
  };
  ASSERT_EQ(describe(PERF_REG_COUNTERSET_STRUCT, 0), kSuccess);
  EXPECT_EQ(needed, sizeof(SetDescription) + 3 * sizeof(CounterDescription));
  SetDescription description;
  std::memcpy(&description, bytes.data(), sizeof description);
  EXPECT_EQ(description.counters, 3U);
  ASSERT_EQ(describe(PERF_REG_COUNTER_NAME_STRINGS, 0), kSuccess);
  StringsHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.count, 3U);
  EXPECT_EQ(header.bytes, needed);
  EXPECT_EQ(describe(PERF_REG_COUNTER_STRUCT, 3), static_cast<ULONG>(ERROR_NOT_FOUND));
  EXPECT_EQ(describe(PERF_REG_COUNTER_STRUCT, 4), kSuccess);
}

TEST_F(PerfValueForms, ATotalKnowsSigns) {
  left_.gauge(0U).set(-3.4);
  right_.gauge(0U).set(2.0);
  left_.gauge(1U).set_signed(-9);
  right_.gauge(1U).set_signed(3);
  left_.recorder(3U).record(1);
  Handle handle;
  ASSERT_EQ(handle.add({kStoves.guid, u"_Total"}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{1, minus(3)}, {2, minus(3)}, {4, 1}}}}));
}

// Windows has a name for it and no formula: consumers get its bytes, and a type not to be shown.
using PerfComposite = PerfTest;
TEST_F(PerfComposite, IsDescribedAndCarriesItsBytes) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 5, .name = "Health", .symbol = "health", .type = CounterType::kComposite}};
  constexpr CountersetSpec kSet{.name = "Composite",
                                .symbol = "composite",
                                .guid = "{4e9b6d02-1c8f-4a35-b7d1-60f2a9c83e57}"_guid,
                                .instances = InstanceKind::kSingle,
                                .counters = kCounters};
  Provider provider = this->provider("composite");
  const Registration set = *provider.add(kSet);
  Instance row = *set.create_instance("");
  row.set(0, 0x1'0000'0002);
  Handle handle;
  ASSERT_EQ(handle.add({kSet.guid, u"", 5}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 0x1'0000'0002}}}}));
  const GUID guid = guid_of(kSet.guid);
  PERF_COUNTER_REG_INFO described{};
  DWORD bytes = 0;
  ASSERT_EQ(meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
                nullptr, &guid, PERF_REG_COUNTER_STRUCT, 5, reinterpret_cast<LPBYTE>(&described),
                sizeof described, &bytes),
            kSuccess);
  EXPECT_EQ(described.Type, 0x40010100U);
}

}  // namespace
}  // namespace meterbank::test
