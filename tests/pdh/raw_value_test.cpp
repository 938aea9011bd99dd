// SPDX-License-Identifier: Apache-2.0
//
// Values that a program computes from raw ones which it kept.
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

class PdhRawValues : public DisksTest {};

PDH_RAW_COUNTER raw_of(LONGLONG first, LONGLONG second) {
  PDH_RAW_COUNTER value{};
  value.CStatus = PDH_CSTATUS_NEW_DATA;
  value.FirstValue = first;
  value.SecondValue = second;
  value.MultiCount = 1;
  return value;
}

Formatted calculated(PDH_HCOUNTER counter, PDH_RAW_COUNTER newer, PDH_RAW_COUNTER* older) {
  PDH_FMT_COUNTERVALUE value{};
  const PDH_STATUS result =
      PdhCalculateCounterFromRawValue(counter, PDH_FMT_DOUBLE, &newer, older, &value);
  return {result, value.CStatus, value.doubleValue};
}

TEST_F(PdhRawValues, GiveWhatTheQueryGave) {
  OpenQuery query;
  const std::array counters{
      query.add("\\Test Disks(sda)\\Reads/sec"), query.add("\\Test Disks(sda)\\Queue Length"),
      query.add("\\Test Disks(sda)\\Avg. Bytes/Read"), query.add("\\Test Disks(sda)\\Temperature")};
  count(sda_, 10, 1);
  ASSERT_EQ(query.collect(), kDone);
  std::vector<PDH_RAW_COUNTER> older;
  for (const PDH_HCOUNTER counter : counters) {
    older.push_back(raw(counter));
    EXPECT_EQ(older.back().MultiCount, 1U);  // also of an average, whose base is no such number
  }
  count(sda_, 30, 2);
  sda_.update([](Values& values) noexcept {
    values.set(Disk::kTemperature, static_cast<std::uint64_t>(-3));
  });
  ASSERT_EQ(query.collect(), kDone);
  for (std::size_t index = 0; index < counters.size(); ++index) {
    const Formatted direct = formatted(counters[index]);
    const Formatted from_raw = calculated(counters[index], raw(counters[index]), &older[index]);
    EXPECT_EQ(direct.result, kDone) << index;
    EXPECT_EQ(from_raw.result, kDone) << index;
    EXPECT_EQ(from_raw.value, direct.value) << index;
  }
}

TEST_F(PdhRawValues, NeedAnOlderOneWhereTheTypeDoes) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(calculated(reads, raw_of(1, 1), nullptr).result, PDH_INVALID_ARGUMENT);
  EXPECT_EQ(calculated(ticks, raw_of(9, 0), nullptr).value, 9.0);
  PDH_FMT_COUNTERVALUE value{};
  EXPECT_EQ(PdhCalculateCounterFromRawValue(ticks, PDH_FMT_LONG, nullptr, nullptr, &value),
            PDH_INVALID_ARGUMENT);
  PDH_RAW_COUNTER newer = raw_of(9, 0);
  EXPECT_EQ(PdhCalculateCounterFromRawValue(ticks, PDH_FMT_LONG, &newer, nullptr, nullptr),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhCalculateCounterFromRawValue(ticks, PDH_FMT_RAW, &newer, nullptr, &value),
            PDH_INVALID_ARGUMENT);
}

TEST_F(PdhRawValues, MustBeGoodThemselves) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  PDH_RAW_COUNTER bad = raw_of(9, 0);
  bad.CStatus = PDH_CSTATUS_NO_INSTANCE;
  EXPECT_EQ(calculated(ticks, bad, nullptr).result, PDH_INVALID_DATA);
  EXPECT_EQ(calculated(ticks, bad, nullptr).status, PDH_CSTATUS_NO_INSTANCE);
}

Formatted of_type(DWORD type, LONGLONG base, PDH_RAW_COUNTER newer, PDH_RAW_COUNTER older) {
  PDH_FMT_COUNTERVALUE value{};
  const PDH_STATUS result =
      PdhFormatFromRawValue(type, PDH_FMT_DOUBLE, &base, &newer, &older, &value);
  return {result, value.CStatus, value.doubleValue};
}

TEST_F(PdhRawValues, FollowTheFormulaOfTheirType) {
  constexpr LONGLONG kSecond = 1'000'000'000;
  EXPECT_EQ(
      of_type(PERF_COUNTER_BULK_COUNT, kSecond, raw_of(30, 3 * kSecond), raw_of(10, kSecond)).value,
      10.0);
  EXPECT_EQ(of_type(PERF_100NSEC_TIMER, 10'000'000, raw_of(60, 200), raw_of(10, 100)).value, 50.0);
  EXPECT_EQ(of_type(PERF_AVERAGE_BULK, 0, raw_of(90, 4), raw_of(50, 2)).value, 20.0);
  EXPECT_EQ(of_type(PERF_ELAPSED_TIME, 100, raw_of(500, 1500), raw_of(500, 1400)).value, 10.0);
  EXPECT_EQ(of_type(PERF_RAW_FRACTION, 0, raw_of(1, 4), raw_of(1, 4)).value, 25.0);
}

TEST_F(PdhRawValues, SayWhichInputWentBackwards) {
  constexpr LONGLONG kBase = 1'000'000'000;
  EXPECT_EQ(of_type(PERF_COUNTER_BULK_COUNT, kBase, raw_of(1, 20), raw_of(2, 10)).result,
            PDH_CALC_NEGATIVE_VALUE);
  EXPECT_EQ(of_type(PERF_COUNTER_BULK_COUNT, kBase, raw_of(2, 10), raw_of(1, 20)).result,
            PDH_CALC_NEGATIVE_TIMEBASE);
  EXPECT_EQ(of_type(PERF_PRECISION_100NS_TIMER, kBase, raw_of(2, 10), raw_of(1, 20)).result,
            PDH_CALC_NEGATIVE_DENOMINATOR);
}

TEST_F(PdhRawValues, TakeTheTimeBaseOfThisMachine) {
  PDH_RAW_COUNTER newer = raw_of(3, 30), older = raw_of(1, 10);
  PDH_FMT_COUNTERVALUE value{};
  LONGLONG other = 10'000'000;
  EXPECT_EQ(
      PdhFormatFromRawValue(PERF_COUNTER_BULK_COUNT, PDH_FMT_LONG, &other, &newer, &older, &value),
      PDH_INVALID_ARGUMENT);
  EXPECT_EQ(
      PdhFormatFromRawValue(PERF_COUNTER_BULK_COUNT, PDH_FMT_LONG, nullptr, &newer, &older, &value),
      PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhFormatFromRawValue(PERF_COUNTER_LARGE_RAWCOUNT, PDH_FMT_LONG, nullptr, &newer,
                                  nullptr, &value),
            kDone);
  OpenQuery query;
  LONGLONG base = 0;
  ASSERT_EQ(PdhGetCounterTimeBase(query.add("\\Test Disks(sda)\\Reads/sec"), &base), kDone);
  EXPECT_EQ(base, 1'000'000'000);
  ASSERT_EQ(PdhGetCounterTimeBase(query.add("\\Test Disks(sda)\\% Busy"), &base), kDone);
  EXPECT_EQ(base, 10'000'000);
}

TEST_F(PdhRawValues, MakeStatisticsOfARing) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  constexpr LONGLONG kSecond = 1'000'000'000;
  std::array ring{raw_of(9, 3 * kSecond), raw_of(1, kSecond), raw_of(5, 2 * kSecond)};
  PDH_STATISTICS statistics{};
  ASSERT_EQ(PdhComputeCounterStatistics(ticks, PDH_FMT_DOUBLE, 1, 3, ring.data(), &statistics),
            kDone);
  EXPECT_EQ(statistics.count, 3U);
  EXPECT_EQ(statistics.min.doubleValue, 1.0);
  EXPECT_EQ(statistics.max.doubleValue, 9.0);
  EXPECT_EQ(statistics.mean.doubleValue, 5.0);
  ASSERT_EQ(PdhComputeCounterStatistics(reads, PDH_FMT_LARGE, 1, 3, ring.data(), &statistics),
            kDone);
  EXPECT_EQ(statistics.count, 2U) << "of three samples of a rate";
  EXPECT_EQ(statistics.mean.largeValue, 4);
  ring[1].CStatus = PDH_CSTATUS_NO_INSTANCE;
  ASSERT_EQ(PdhComputeCounterStatistics(reads, PDH_FMT_LARGE, 1, 2, ring.data(), &statistics),
            kDone);
  EXPECT_EQ(statistics.count, 0U);
  EXPECT_EQ(statistics.mean.CStatus, PDH_CSTATUS_INVALID_DATA);
  EXPECT_EQ(PdhComputeCounterStatistics(ticks, PDH_FMT_LONG, 3, 3, ring.data(), &statistics),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhComputeCounterStatistics(ticks, PDH_FMT_LONG, 0, 0, ring.data(), &statistics),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhComputeCounterStatistics(ticks, PDH_FMT_LONG, 0, 3, nullptr, &statistics),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhComputeCounterStatistics(ticks, PDH_FMT_LONG, 0, 3, ring.data(), nullptr),
            PDH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace meterbank::test
