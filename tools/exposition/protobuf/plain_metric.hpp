// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank::exposition {

// A Metric with labels and one number: most of every page, so its bytes are put together by hand.
//
//   | labels | 3 (counter) or 2 (gauge) | length | 1: double | 3: Timestamp, of a counter |
class PlainMetric {
 public:
  // `start_ns` 0: there is none, or it is a gauge.
  PlainMetric(bool is_counter, double value, std::uint64_t start_ns) noexcept;

  // Behind the labels.
  [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }
  // The whole message as a field of its family: tag, length, labels and bytes().
  void append_field(std::string& family, std::string_view labels) const;
  [[nodiscard]] std::size_t field_bytes(std::string_view labels) const noexcept;

 private:
  void put_varint(std::uint64_t value) noexcept;

  std::array<char, 40> bytes_;
  std::size_t size_ = 0;
};

}  // namespace meterbank::exposition
