// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

namespace meterbank::bench {
namespace {

void add_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<char>(number | 128));
  bytes.push_back(static_cast<char>(number));
}

// Calls `use` with the words of one column, tick after tick.
template <typename F>
void for_each_column(const GeneratedRows& rows, F&& use) {
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::size_t word = 0; word < rows.columns().size(); ++word) {
      use([&rows, row, word](std::size_t tick) { return rows.row(tick, row)[word]; });
    }
  }
}

}  // namespace

std::size_t ftdc_bytes(const GeneratedRows& rows) {
  std::string bytes;
  std::uint64_t zeros = 0;
  const auto end_run = [&] {
    if (zeros == 0) return;
    bytes.push_back('\0');
    add_number(bytes, zeros - 1);
    zeros = 0;
  };
  for_each_column(rows, [&](auto&& word_at) {
    std::uint64_t last = 0;
    for (std::size_t tick = 0; tick < rows.ticks(); ++tick) {
      const std::uint64_t difference = word_at(tick) - last;
      last = word_at(tick);
      if (difference == 0) {
        ++zeros;
      } else {
        end_run();
        add_number(bytes, difference);
      }
    }
  });
  end_run();
  uLongf size = ::compressBound(bytes.size());
  std::string compressed(size, '\0');
  constexpr int kLevel = 6;
  ::compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kLevel);
  return size;
}

std::size_t gorilla_bytes(const GeneratedRows& rows) {
  constexpr std::size_t kControlBits = 2, kLeadingBits = 5, kLengthBits = 6;
  constexpr int kLeadingMax = 31;
  std::size_t bits = 0;
  for_each_column(rows, [&](auto&& word_at) {
    std::uint64_t last = word_at(0);
    int leading = 64, length = 0;  // the window of bits that the last value used
    bits += 64;
    for (std::size_t tick = 1; tick < rows.ticks(); ++tick) {
      const std::uint64_t changed = word_at(tick) ^ last;
      last = word_at(tick);
      const int zeros = std::min(std::countl_zero(changed), kLeadingMax);
      const int trailing = std::countr_zero(changed);
      if (changed == 0) {
        bits += 1;
      } else if (length > 0 && zeros >= leading && trailing >= 64 - leading - length) {
        bits += kControlBits + static_cast<std::size_t>(length);
      } else {
        leading = zeros;
        length = 64 - zeros - trailing;
        bits += kControlBits + kLeadingBits + kLengthBits + static_cast<std::size_t>(length);
      }
    }
  });
  return bits / 8;
}

}  // namespace meterbank::bench
