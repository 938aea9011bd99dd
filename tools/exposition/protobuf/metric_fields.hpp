// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of io.prometheus.client, as prometheus/client_model has them in
// io/prometheus/client/metrics.proto.
#pragma once

#include <protozero/types.hpp>

namespace meterbank::exposition::field {

enum class MetricFamily : protozero::pbf_tag_type {
  kName = 1,
  kHelp = 2,
  kType = 3,
  kMetric = 4,
  kUnit = 5,
};
enum class MetricType : std::int32_t { kCounter = 0, kGauge = 1, kSummary = 2, kHistogram = 4 };
enum class Metric : protozero::pbf_tag_type {
  kLabel = 1,
  kGauge = 2,
  kCounter = 3,
  kSummary = 4,
  kHistogram = 7,
};
enum class LabelPair : protozero::pbf_tag_type { kName = 1, kValue = 2 };
enum class Gauge : protozero::pbf_tag_type { kValue = 1 };
enum class Counter : protozero::pbf_tag_type { kValue = 1, kCreatedTimestamp = 3 };
enum class Summary : protozero::pbf_tag_type {
  kSampleCount = 1,
  kSampleSum = 2,
  kCreatedTimestamp = 4,
};
enum class Histogram : protozero::pbf_tag_type {
  kSampleCount = 1,
  kSampleSum = 2,
  kSchema = 5,
  kZeroThreshold = 6,
  kZeroCount = 7,
  kPositiveSpan = 12,
  kPositiveDelta = 13,
  kCreatedTimestamp = 15,
};
enum class BucketSpan : protozero::pbf_tag_type { kOffset = 1, kLength = 2 };
enum class Timestamp : protozero::pbf_tag_type { kSeconds = 1, kNanos = 2 };

}  // namespace meterbank::exposition::field
