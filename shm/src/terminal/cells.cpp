// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

struct Range {
  char32_t first, last;
};

#include "cell_widths.inc"

template <std::size_t size>
bool contains(const Range (&ranges)[size], char32_t code_point) noexcept {
  const auto* const behind =
      std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return behind != std::begin(ranges) && code_point <= std::prev(behind)->last;
}

}  // namespace

std::size_t cells_of(char32_t code_point) noexcept {
  if (code_point < 0x300) return 1;  // no mark and nothing wide below
  if (contains(kNoCell, code_point)) return 0;
  return contains(kTwoCells, code_point) ? 2 : 1;
}

}  // namespace meterbank
