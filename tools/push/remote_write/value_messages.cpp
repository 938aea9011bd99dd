// SPDX-License-Identifier: Apache-2.0
#include "push/remote_write/value_messages.hpp"

#include <array>
#include <protozero/buffer_fixed.hpp>
#include <protozero/pbf_builder.hpp>

namespace meterbank::push::remote_write {

void append_sample(std::string& series, Tag tag, double value, const SeriesTimes& times,
                   Starts starts) {
  // A sample is at most 31 bytes, so it needs no memory of its own.
  std::array<char, 32> bytes;
  protozero::fixed_size_buffer_adaptor buffer(bytes.data(), bytes.size());
  protozero::basic_pbf_builder<protozero::fixed_size_buffer_adaptor, Sample> sample(buffer);
  sample.add_double(Sample::kValue, value);
  sample.add_int64(Sample::kTimestamp, times.time_ms);
  if (starts == Starts::kYes && times.start_ms != 0) {
    sample.add_int64(Sample::kStart, times.start_ms);
  }
  protozero::pbf_writer(series).add_message(tag, buffer.data(), buffer.size());
}

void append_histogram(std::string& series, Tag tag, const Distribution& distribution,
                      const exposition::NativeHistogram& buckets, const SeriesTimes& times,
                      Starts starts) {
  protozero::pbf_writer writer(series);
  protozero::pbf_builder<Histogram> message(writer, tag);
  message.add_uint64(Histogram::kCount, distribution.count);
  message.add_double(Histogram::kSum, distribution.sum);
  message.add_sint32(Histogram::kSchema, buckets.schema);
  message.add_double(Histogram::kZeroThreshold, buckets.zero_threshold);
  message.add_uint64(Histogram::kZeroCount, buckets.zero_count);
  for (const exposition::NativeHistogram::Span& span : buckets.spans) {
    protozero::pbf_builder<Span> span_message(message, Histogram::kPositiveSpans);
    span_message.add_sint32(Span::kOffset, span.offset);
    span_message.add_uint32(Span::kLength, span.length);
  }
  message.add_packed_sint64(Histogram::kPositiveDeltas, buckets.deltas.begin(),
                            buckets.deltas.end());
  message.add_int64(Histogram::kTimestamp, times.time_ms);
  if (starts == Starts::kYes && times.start_ms != 0) {
    message.add_int64(Histogram::kStart, times.start_ms);
  }
}

MetricType type_of(exposition::FamilyType type) noexcept {
  using exposition::FamilyType;
  switch (type) {
    case FamilyType::kCounter:
      return MetricType::kCounter;
    case FamilyType::kGauge:
      return MetricType::kGauge;
    case FamilyType::kSummary:
      return MetricType::kSummary;
    case FamilyType::kHistogram:
      return MetricType::kHistogram;
    case FamilyType::kInfo:
      break;
  }
  return MetricType::kInfo;
}

}  // namespace meterbank::push::remote_write
