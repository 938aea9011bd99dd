// SPDX-License-Identifier: Apache-2.0
//
// The structs and constants of the Windows headers, and that ours are the same.
#include <gtest/gtest.h>
#include <perflib.h>

#include <array>
#include <cstddef>

#include "meterbank/perflib/result_layout.hpp"
#include "meterbank/shm/counter_type.hpp"

namespace meterbank {
namespace {

// Checklist row 47: sizes that the interface promises.
static_assert(sizeof(PERF_DATA_HEADER) == 48);
static_assert(sizeof(PERF_COUNTER_HEADER) == 16);
static_assert(sizeof(PERF_MULTI_COUNTERS) == 8);
static_assert(sizeof(PERF_MULTI_INSTANCES) == 8);
static_assert(sizeof(PERF_INSTANCE_HEADER) == 8);
static_assert(sizeof(PERF_COUNTER_DATA) == 8);
static_assert(sizeof(PERF_COUNTERSET_REG_INFO) == 32);
static_assert(sizeof(PERF_COUNTER_REG_INFO) == 48);
static_assert(sizeof(PERF_COUNTER_IDENTIFIER) == 40);
static_assert(sizeof(PERF_STRING_BUFFER_HEADER) == 8);
static_assert(sizeof(PERF_STRING_COUNTER_HEADER) == 8);

#define SAME_PLACE(windows, theirs, ours, our)                      \
  static_assert(offsetof(windows, theirs) == offsetof(ours, our) && \
                sizeof(windows::theirs) == sizeof(ours::our) && sizeof(windows) == sizeof(ours))

SAME_PLACE(PERF_DATA_HEADER, dwNumCounters, ResultHeader, blocks);
SAME_PLACE(PERF_DATA_HEADER, PerfTimeStamp, ResultHeader, counter_ticks);
SAME_PLACE(PERF_DATA_HEADER, PerfTime100NSec, ResultHeader, time_100ns);
SAME_PLACE(PERF_DATA_HEADER, PerfFreq, ResultHeader, ticks_per_second);
SAME_PLACE(PERF_DATA_HEADER, SystemTime, ResultHeader, system_time);
SAME_PLACE(PERF_COUNTER_HEADER, dwStatus, BlockHeader, status);
SAME_PLACE(PERF_COUNTER_HEADER, dwType, BlockHeader, shape);
SAME_PLACE(PERF_COUNTER_HEADER, dwSize, BlockHeader, bytes);
SAME_PLACE(PERF_MULTI_COUNTERS, dwCounters, ColumnsHeader, count);
SAME_PLACE(PERF_MULTI_INSTANCES, dwInstances, RowsHeader, count);
SAME_PLACE(PERF_INSTANCE_HEADER, InstanceId, RowHeader, id);
SAME_PLACE(PERF_COUNTER_DATA, dwDataSize, ValueHeader, value_bytes);
SAME_PLACE(PERF_COUNTER_DATA, dwSize, ValueHeader, bytes);
SAME_PLACE(PERF_COUNTER_IDENTIFIER, Status, IdentifierHeader, status);
SAME_PLACE(PERF_COUNTER_IDENTIFIER, Size, IdentifierHeader, bytes);
SAME_PLACE(PERF_COUNTER_IDENTIFIER, CounterId, IdentifierHeader, counter);
SAME_PLACE(PERF_COUNTER_IDENTIFIER, InstanceId, IdentifierHeader, instance);
SAME_PLACE(PERF_COUNTER_IDENTIFIER, Index, IdentifierHeader, index);
SAME_PLACE(PERF_COUNTERSET_REG_INFO, DetailLevel, SetDescription, detail);
SAME_PLACE(PERF_COUNTERSET_REG_INFO, NumCounters, SetDescription, counters);
SAME_PLACE(PERF_COUNTERSET_REG_INFO, InstanceType, SetDescription, instances);
SAME_PLACE(PERF_COUNTER_REG_INFO, Attrib, CounterDescription, attributes);
SAME_PLACE(PERF_COUNTER_REG_INFO, DetailLevel, CounterDescription, detail);
SAME_PLACE(PERF_COUNTER_REG_INFO, DefaultScale, CounterDescription, scale);
SAME_PLACE(PERF_COUNTER_REG_INFO, BaseCounterId, CounterDescription, base);
SAME_PLACE(PERF_COUNTER_REG_INFO, PerfTimeId, CounterDescription, time);
SAME_PLACE(PERF_COUNTER_REG_INFO, PerfFreqId, CounterDescription, frequency);
SAME_PLACE(PERF_COUNTER_REG_INFO, MultiId, CounterDescription, multi);
SAME_PLACE(PERF_COUNTER_REG_INFO, AggregateFunc, CounterDescription, aggregate);
SAME_PLACE(PERF_STRING_COUNTER_HEADER, dwOffset, StringRef, offset);

// The published numbers, written out: neither the header's bits nor our enumerators made them.
struct PublishedType {
  std::uint32_t number;
  std::uint32_t from_bits;
  CounterType ours;
};
constexpr auto kPublished = std::to_array<PublishedType>({
    {0x00010000, PERF_COUNTER_RAWCOUNT, CounterType::kRawCount},
    {0x00010100, PERF_COUNTER_LARGE_RAWCOUNT, CounterType::kLargeRawCount},
    {0x00000000, PERF_COUNTER_RAWCOUNT_HEX, CounterType::kRawCountHex},
    {0x00000100, PERF_COUNTER_LARGE_RAWCOUNT_HEX, CounterType::kLargeRawCountHex},
    {0x00400400, PERF_COUNTER_DELTA, CounterType::kDelta},
    {0x00400500, PERF_COUNTER_LARGE_DELTA, CounterType::kLargeDelta},
    {0x10410400, PERF_COUNTER_COUNTER, CounterType::kCounter},
    {0x10410500, PERF_COUNTER_BULK_COUNT, CounterType::kBulkCount},
    {0x00410400, PERF_SAMPLE_COUNTER, CounterType::kSampleCounter},
    {0x00450400, PERF_COUNTER_QUEUELEN_TYPE, CounterType::kQueueLength},
    {0x00450500, PERF_COUNTER_LARGE_QUEUELEN_TYPE, CounterType::kLargeQueueLength},
    {0x00550500, PERF_COUNTER_100NS_QUEUELEN_TYPE, CounterType::kQueueLength100Ns},
    {0x00650500, PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, CounterType::kQueueLengthObject},
    {0x20410500, PERF_COUNTER_TIMER, CounterType::kTimer},
    {0x21410500, PERF_COUNTER_TIMER_INV, CounterType::kTimerInverse},
    {0x20510500, PERF_100NSEC_TIMER, CounterType::kTimer100Ns},
    {0x21510500, PERF_100NSEC_TIMER_INV, CounterType::kTimer100NsInverse},
    {0x20610500, PERF_OBJ_TIME_TIMER, CounterType::kTimerObject},
    {0x20470500, PERF_PRECISION_SYSTEM_TIMER, CounterType::kPrecisionSystemTimer},
    {0x20570500, PERF_PRECISION_100NS_TIMER, CounterType::kPrecision100NsTimer},
    {0x20670500, PERF_PRECISION_OBJECT_TIMER, CounterType::kPrecisionObjectTimer},
    {0x22410500, PERF_COUNTER_MULTI_TIMER, CounterType::kMultiTimer},
    {0x23410500, PERF_COUNTER_MULTI_TIMER_INV, CounterType::kMultiTimerInverse},
    {0x22510500, PERF_100NSEC_MULTI_TIMER, CounterType::kMultiTimer100Ns},
    {0x23510500, PERF_100NSEC_MULTI_TIMER_INV, CounterType::kMultiTimer100NsInverse},
    {0x20c20400, PERF_SAMPLE_FRACTION, CounterType::kSampleFraction},
    {0x20020400, PERF_RAW_FRACTION, CounterType::kRawFraction},
    {0x20020500, PERF_LARGE_RAW_FRACTION, CounterType::kLargeRawFraction},
    {0x30020400, PERF_AVERAGE_TIMER, CounterType::kAverageTimer},
    {0x40020500, PERF_AVERAGE_BULK, CounterType::kAverageBulk},
    {0x30240500, PERF_ELAPSED_TIME, CounterType::kElapsedTime},
    {0x40000200, PERF_COUNTER_NODATA, CounterType::kNoData},
    {0x40030401, PERF_SAMPLE_BASE, CounterType::kSampleBase},
    {0x40030402, PERF_AVERAGE_BASE, CounterType::kAverageBase},
    {0x40030403, PERF_RAW_BASE, CounterType::kRawBase},
    {0x40030500, PERF_LARGE_RAW_BASE, CounterType::kLargeRawBase},
    {0x40030500, PERF_PRECISION_TIMESTAMP, CounterType::kLargeRawBase},
    {0x42030500, PERF_COUNTER_MULTI_BASE, CounterType::kMultiBase},
});

TEST(CounterTypeCodes, AreThePublishedNumbersHoweverTheyAreWritten) {
  for (const PublishedType& type : kPublished) {
    EXPECT_EQ(type.from_bits, type.number);
    EXPECT_EQ(bits_of(type.ours), type.number);
  }
  EXPECT_EQ(PERF_COUNTER_TEXT, 0x00000b00);
  EXPECT_EQ(PERF_COUNTER_HISTOGRAM_TYPE, 0x80000000);
}

TEST(CounterTypeCodes, GiveTheWidthAndTheSuffixByTheirBits) {
  for (const PublishedType& type : kPublished) {
    const std::uint32_t size = type.number & PERF_SIZE_VARIABLE_LEN;
    EXPECT_EQ(width_of(type.ours), size == PERF_SIZE_DWORD   ? 4U
                                   : size == PERF_SIZE_LARGE ? 8U
                                                             : 0U);
    const std::uint32_t display = type.number & 0xf0000000;
    EXPECT_EQ(suffix_of(type.ours), display == PERF_DISPLAY_PER_SEC   ? "/sec"
                                    : display == PERF_DISPLAY_PERCENT ? "%"
                                    : display == PERF_DISPLAY_SECONDS ? "secs"
                                                                      : "");
  }
  // Two where a published sample has the width wrong.
  EXPECT_EQ(width_of(CounterType::kAverageTimer), 4U);
  EXPECT_EQ(width_of(CounterType::kTimerObject), 8U);
}

}  // namespace
}  // namespace meterbank
