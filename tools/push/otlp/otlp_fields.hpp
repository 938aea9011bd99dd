// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of opentelemetry.proto, version 1: collector/metrics, metrics, resource, common.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace meterbank::push::otlp {

using Tag = protozero::pbf_tag_type;

enum class Request : Tag { kResourceMetrics = 1 };  // ExportMetricsServiceRequest
enum class ResourceMetrics : Tag { kResource = 1, kScopeMetrics = 2 };
enum class Resource : Tag { kAttributes = 1 };
enum class ScopeMetrics : Tag { kScope = 1, kMetrics = 2 };
enum class Scope : Tag { kName = 1, kVersion = 2 };
enum class Metric : Tag {
  kName = 1,
  kDescription = 2,
  kUnit = 3,
  kGauge = 5,
  kSum = 7,
  kExponentialHistogram = 10,
  kSummary = 11,
};
// Of Gauge, Sum, ExponentialHistogram and Summary alike.
enum class Data : Tag { kPoints = 1, kTemporality = 2, kIsMonotonic = 3 };
inline constexpr std::int32_t kCumulative = 2;
enum class NumberPoint : Tag {
  kStart = 2,
  kTime = 3,
  kAsDouble = 4,
  kAsInt = 6,
  kAttributes = 7,
};
enum class HistogramPoint : Tag {
  kAttributes = 1,
  kStart = 2,
  kTime = 3,
  kCount = 4,
  kSum = 5,
  kScale = 6,
  kZeroCount = 7,
  kPositive = 8,
  kMin = 12,
  kMax = 13,
  kZeroThreshold = 14,
};
enum class Buckets : Tag { kOffset = 1, kCounts = 2 };
enum class SummaryPoint : Tag { kStart = 2, kTime = 3, kCount = 4, kSum = 5, kAttributes = 7 };
enum class KeyValue : Tag { kKey = 1, kValue = 2 };
enum class AnyValue : Tag { kString = 1, kBool = 2, kInt = 3, kDouble = 4 };
enum class Response : Tag { kPartialSuccess = 1 };  // ExportMetricsServiceResponse
enum class PartialSuccessField : Tag { kRejectedPoints = 1, kMessage = 2 };

}  // namespace meterbank::push::otlp
