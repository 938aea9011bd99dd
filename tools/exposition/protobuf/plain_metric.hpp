// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace meterbank::exposition {

// A Metric with labels and one number: most of every page, so its bytes are put together by hand,
// and only the value anew where the row before began at the same time.
//
//   | labels | 3 (counter) or 2 (gauge) | length | 1: double | 3: Timestamp, of a counter |
class PlainMetric {
 public:
  // `start_ns`: of a counter; 0: not known.
  void assign(bool is_counter, double value, std::uint64_t start_ns) noexcept {
    const bool is_same = size_ != 0 && is_counter == is_counter_ && start_ns == start_ns_;
    if (!is_same) make(is_counter, start_ns);
    std::memcpy(bytes_.data() + kValueAt, &value, sizeof value);
  }

  // The whole message as a field of its family: tag, length, labels and number.
  void append_field(std::string& family, std::string_view labels) const;
  // How many bytes append_field() appends; the value makes no difference.
  [[nodiscard]] static std::size_t field_bytes(std::string_view labels, bool is_counter,
                                               std::uint64_t start_ns) noexcept;

 private:
  static constexpr std::size_t kValueAt = 3;  // behind two tags and a length

  void make(bool is_counter, std::uint64_t start_ns) noexcept;
  void put(std::uint64_t varint) noexcept;

  std::array<char, 40> bytes_{};  // behind the labels
  std::size_t size_ = 0;
  // What bytes_ was made of.
  bool is_counter_ = false;
  std::uint64_t start_ns_ = 0;
};

}  // namespace meterbank::exposition
