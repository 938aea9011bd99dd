// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/plain_metric.hpp"

#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "exposition/protobuf/metric_fields.hpp"

namespace meterbank::exposition {
namespace {

template <typename Field>
constexpr std::uint8_t tag_of(Field field, protozero::pbf_wire_type wire) noexcept {
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(field) << 3 |
                                   static_cast<std::uint32_t>(wire));
}

using Wire = protozero::pbf_wire_type;

constexpr std::uint8_t kMetricTag = tag_of(field::MetricFamily::kMetric, Wire::length_delimited);

std::size_t varint_bytes(std::uint64_t value) noexcept {
  return static_cast<std::size_t>(protozero::length_of_varint(value));
}

}  // namespace

PlainMetric::PlainMetric(bool is_counter, double value, std::uint64_t start_ns) noexcept {
  static_assert(field::Gauge::kValue == static_cast<field::Gauge>(field::Counter::kValue));
  constexpr std::uint64_t kSecond = 1'000'000'000;  // ns
  const std::uint64_t seconds = start_ns / kSecond, nanos = start_ns % kSecond;
  const bool has_start = is_counter && start_ns != 0;
  const std::size_t stamp_bytes = 2 + varint_bytes(seconds) + varint_bytes(nanos);
  constexpr std::size_t kNumberBytes = 1 + sizeof(double);
  put_varint(
      tag_of(is_counter ? field::Metric::kCounter : field::Metric::kGauge, Wire::length_delimited));
  put_varint(kNumberBytes + (has_start ? 2 + stamp_bytes : 0));
  put_varint(tag_of(field::Counter::kValue, Wire::fixed64));
  static_assert(std::endian::native == std::endian::little, "fixed64 is little-endian");
  std::memcpy(bytes_.data() + size_, &value, sizeof(value));
  size_ += sizeof(value);
  if (!has_start) return;
  put_varint(tag_of(field::Counter::kCreatedTimestamp, Wire::length_delimited));
  put_varint(stamp_bytes);
  put_varint(tag_of(field::Timestamp::kSeconds, Wire::varint));
  put_varint(seconds);
  put_varint(tag_of(field::Timestamp::kNanos, Wire::varint));
  put_varint(nanos);
}

void PlainMetric::put_varint(std::uint64_t value) noexcept {
  constexpr std::uint64_t kMore = 0x80;
  while (value >= kMore) {
    bytes_[size_++] = static_cast<char>(value | kMore);
    value >>= 7;
  }
  bytes_[size_++] = static_cast<char>(value);
}

std::size_t PlainMetric::field_bytes(std::string_view labels) const noexcept {
  const std::size_t message = labels.size() + size_;
  return 1 + varint_bytes(message) + message;
}

void PlainMetric::append_field(std::string& family, std::string_view labels) const {
  std::array<char, 11> head;
  char* at = head.data();
  *at++ = static_cast<char>(kMetricTag);
  at += protozero::add_varint_to_buffer(at, labels.size() + size_);
  family.append(head.data(), at).append(labels).append(bytes());
}

}  // namespace meterbank::exposition
