// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of remote write: prometheus.WriteRequest (1.0) and io.prometheus.write.v2.Request
// (2.0). Messages of both versions that are not told apart here are the same.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace meterbank::push::remote_write {

using Tag = protozero::pbf_tag_type;

enum class Request1 : Tag { kTimeSeries = 1, kMetadata = 3 };
enum class TimeSeries1 : Tag { kLabels = 1, kSamples = 2, kHistograms = 4 };
enum class Label : Tag { kName = 1, kValue = 2 };
enum class Metadata1 : Tag { kType = 1, kFamilyName = 2, kHelp = 4, kUnit = 5 };

enum class Request2 : Tag { kSymbols = 4, kTimeSeries = 5 };
enum class TimeSeries2 : Tag { kLabelRefs = 1, kSamples = 2, kHistograms = 3, kMetadata = 5 };
enum class Metadata2 : Tag { kType = 1, kHelpRef = 3, kUnitRef = 4 };

enum class Sample : Tag { kValue = 1, kTimestamp = 2, kStart = 3 };  // kStart: 2.0 only
enum class Histogram : Tag {
  kCount = 1,
  kSum = 3,
  kSchema = 4,
  kZeroThreshold = 5,
  kZeroCount = 6,
  kPositiveSpans = 11,
  kPositiveDeltas = 12,
  kTimestamp = 15,
  kStart = 17,  // 2.0 only
};
enum class Span : Tag { kOffset = 1, kLength = 2 };

// Of both versions of Metadata.
enum class MetricType : std::int32_t {
  kCounter = 1,
  kGauge = 2,
  kHistogram = 3,
  kSummary = 5,
  kInfo = 6,
};

}  // namespace meterbank::push::remote_write
