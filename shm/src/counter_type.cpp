// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/counter_type.hpp"

namespace meterbank {

std::string_view name_of(CounterType type) noexcept {
  switch (type) {
    case CounterType::kRawCountHex:
      return "perf_counter_rawcount_hex";
    case CounterType::kLargeRawCountHex:
      return "perf_counter_large_rawcount_hex";
    case CounterType::kRawCount:
      return "perf_counter_rawcount";
    case CounterType::kLargeRawCount:
      return "perf_counter_large_rawcount";
    case CounterType::kDelta:
      return "perf_counter_delta";
    case CounterType::kLargeDelta:
      return "perf_counter_large_delta";
    case CounterType::kCounter:
      return "perf_counter_counter";
    case CounterType::kBulkCount:
      return "perf_counter_bulk_count";
    case CounterType::kSampleCounter:
      return "perf_sample_counter";
    case CounterType::kQueueLength:
      return "perf_counter_queuelen_type";
    case CounterType::kLargeQueueLength:
      return "perf_counter_large_queuelen_type";
    case CounterType::kQueueLength100Ns:
      return "perf_counter_100ns_queuelen_type";
    case CounterType::kQueueLengthObject:
      return "perf_counter_obj_time_queuelen_type";
    case CounterType::kTimer:
      return "perf_counter_timer";
    case CounterType::kTimerInverse:
      return "perf_counter_timer_inv";
    case CounterType::kTimer100Ns:
      return "perf_100nsec_timer";
    case CounterType::kTimer100NsInverse:
      return "perf_100nsec_timer_inv";
    case CounterType::kTimerObject:
      return "perf_obj_time_timer";
    case CounterType::kPrecisionSystemTimer:
      return "perf_precision_system_timer";
    case CounterType::kPrecision100NsTimer:
      return "perf_precision_100ns_timer";
    case CounterType::kPrecisionObjectTimer:
      return "perf_precision_object_timer";
    case CounterType::kMultiTimer:
      return "perf_counter_multi_timer";
    case CounterType::kMultiTimerInverse:
      return "perf_counter_multi_timer_inv";
    case CounterType::kMultiTimer100Ns:
      return "perf_100nsec_multi_timer";
    case CounterType::kMultiTimer100NsInverse:
      return "perf_100nsec_multi_timer_inv";
    case CounterType::kSampleFraction:
      return "perf_sample_fraction";
    case CounterType::kRawFraction:
      return "perf_raw_fraction";
    case CounterType::kLargeRawFraction:
      return "perf_large_raw_fraction";
    case CounterType::kAverageTimer:
      return "perf_average_timer";
    case CounterType::kAverageBulk:
      return "perf_average_bulk";
    case CounterType::kElapsedTime:
      return "perf_elapsed_time";
    case CounterType::kNoData:
      return "perf_counter_nodata";
    case CounterType::kText:
      return "perf_counter_text";
    case CounterType::kComposite:
      return "perf_counter_composite";
    case CounterType::kSampleBase:
      return "perf_sample_base";
    case CounterType::kAverageBase:
      return "perf_average_base";
    case CounterType::kRawBase:
      return "perf_raw_base";
    case CounterType::kLargeRawBase:
      return "perf_large_raw_base";
    case CounterType::kMultiBase:
      return "perf_counter_multi_base";
  }
  return {};
}

}  // namespace meterbank
