// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/plain_metric.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "exposition/protobuf/field_tag.hpp"
#include "exposition/protobuf/metric_fields.hpp"

namespace meterbank::exposition {
namespace {

using Wire = protozero::pbf_wire_type;

constexpr char kMetricTag =
    static_cast<char>(tag_byte(field::MetricFamily::kMetric, Wire::length_delimited));

constexpr std::uint64_t kNsPerStampSecond = 1'000'000'000;
constexpr std::size_t kValueBytes = 1 + sizeof(double);

constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  constexpr std::size_t kBitsOfAByte = 7;
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + kBitsOfAByte - 1) / kBitsOfAByte;
}

// Seconds and nanoseconds, each behind a tag.
constexpr std::size_t stamp_bytes(std::uint64_t start_ns) noexcept {
  return 2 + varint_bytes(start_ns / kNsPerStampSecond) +
         varint_bytes(start_ns % kNsPerStampSecond);
}

constexpr std::size_t number_bytes(bool is_counter, std::uint64_t start_ns) noexcept {
  return kValueBytes + (is_counter && start_ns != 0 ? 2 + stamp_bytes(start_ns) : 0);
}

}  // namespace

void PlainMetric::make(bool is_counter, std::uint64_t start_ns) noexcept {
  size_ = 0;
  is_counter_ = is_counter;
  start_ns_ = start_ns;
  static_assert(field::Gauge::kValue == static_cast<field::Gauge>(field::Counter::kValue));
  put(tag_byte(is_counter ? field::Metric::kCounter : field::Metric::kGauge,
               Wire::length_delimited));
  put(number_bytes(is_counter, start_ns));
  put(tag_byte(field::Counter::kValue, Wire::fixed64));
  static_assert(std::endian::native == std::endian::little, "fixed64 is little-endian");
  size_ += sizeof(double);
  if (!is_counter || start_ns == 0) return;
  put(tag_byte(field::Counter::kCreatedTimestamp, Wire::length_delimited));
  put(stamp_bytes(start_ns));
  put(tag_byte(field::Timestamp::kSeconds, Wire::varint));
  put(start_ns / kNsPerStampSecond);
  put(tag_byte(field::Timestamp::kNanos, Wire::varint));
  put(start_ns % kNsPerStampSecond);
}

void PlainMetric::put(std::uint64_t varint) noexcept {
  constexpr std::uint64_t kMore = 0x80;
  while (varint >= kMore) {
    bytes_[size_++] = static_cast<char>(varint | kMore);
    varint >>= 7;
  }
  bytes_[size_++] = static_cast<char>(varint);
}

std::size_t PlainMetric::field_bytes(std::string_view labels, bool is_counter,
                                     std::uint64_t start_ns) noexcept {
  // The number has a tag and a length of one byte each.
  const std::size_t message = labels.size() + 2 + number_bytes(is_counter, start_ns);
  return 1 + varint_bytes(message) + message;
}

void PlainMetric::append_field(std::string& family, std::string_view labels) const {
  const std::size_t old_size = family.size();
  const std::size_t message = labels.size() + size_;
  family.resize(old_size + 1 + varint_bytes(message) + message);
  char* out = family.data() + old_size;
  *out++ = kMetricTag;
  out += protozero::add_varint_to_buffer(out, message);
  out = std::copy(labels.begin(), labels.end(), out);
  std::copy_n(bytes_.begin(), size_, out);
}

}  // namespace meterbank::exposition
