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
  // `start_ns`: of a counter; 0: not known.
  PlainMetric(bool is_counter, double value, std::uint64_t start_ns) noexcept;

  // The whole message as a field of its family: tag, length, labels and number.
  void append_field(std::string& family, std::string_view labels) const;
  // How many bytes append_field() appends; the value makes no difference.
  [[nodiscard]] static std::size_t field_bytes(std::string_view labels, bool is_counter,
                                               std::uint64_t start_ns) noexcept;

 private:
  void put(std::uint64_t varint) noexcept;

  std::array<char, 40> bytes_;  // behind the labels
  std::size_t size_ = 0;
};

}  // namespace meterbank::exposition
