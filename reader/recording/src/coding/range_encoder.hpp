// SPDX-License-Identifier: Apache-2.0
//
// A binary range coder of 64 bits: bits become a number in an interval that each of them narrows.
//
// The number is written in bytes, as digits. `low_` and `range_` are the interval behind the digits
// in `bytes_`. When the range has become small, the first four digits of `low_` are settled and
// move to `bytes_`. Later additions can still carry into them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coding/bit_model.hpp"
#include "coding/symbol_model.hpp"

namespace meterbank::recording {

inline constexpr std::uint64_t kRangeMin = std::uint64_t{1} << 32;
inline constexpr unsigned kPlainBitsMax = 16;  // at once; more would waste a part of the range

// How many digits close a number: an interval of this range contains a number of so many digits,
// wherever it is. The decoder knows the range too, so it knows where the bytes have to end.
[[nodiscard]] constexpr unsigned closing_bytes(std::uint64_t range) noexcept {
  return static_cast<unsigned>(64 - std::bit_width(range)) / 8 + 1;
}

class RangeEncoder {
 public:
  static constexpr bool kEncodes = true;

  void begin() noexcept {
    bytes_.clear();
    low_ = 0;
    range_ = UINT64_MAX;
  }

  // All of these return their value, as those of the decoder do.
  bool bit(BitModel& model, bool bit) {
    const std::uint64_t ones = (range_ >> kProbabilityBits) * model.one();
    const std::uint64_t before = low_;
    low_ += bit ? 0 : ones;
    range_ = bit ? ones : range_ - ones;
    model.learn(bit);
    settle(before);
    return bit;
  }
  unsigned symbol(SymbolModel& model, unsigned symbol) {
    const std::uint64_t before = low_;
    const std::uint32_t begin = model.below(symbol), end = model.below(symbol + 1);
    range_ >>= kShareBits;
    low_ += range_ * begin;
    range_ *= end - begin;
    model.learn(symbol);
    settle(before);
    return symbol;
  }
  // `count` bits of even chances, at most kPlainBitsMax.
  std::uint64_t plain(std::uint64_t value, unsigned count) {
    const std::uint64_t before = low_;
    range_ >>= count;
    low_ += value * range_;
    settle(before);
    return value;
  }

  // The bytes of all that was encoded since begin().
  [[nodiscard]] const std::vector<std::uint8_t>& finish() {
    const unsigned count = closing_bytes(range_);
    const std::uint64_t step = std::uint64_t{1} << (64 - 8 * count);
    const std::uint64_t before = low_;
    low_ = (low_ + (step - 1)) & ~(step - 1);
    if (low_ < before) carry();
    for (unsigned byte = 0; byte < count; ++byte, low_ <<= 8) {
      bytes_.push_back(static_cast<std::uint8_t>(low_ >> 56));
    }
    return bytes_;
  }

 private:
  static constexpr std::size_t kDigits = 4;

  void settle(std::uint64_t before) {
    if (low_ < before) carry();
    if (range_ < kRangeMin) {
      const std::size_t size = bytes_.size();
      bytes_.resize(size + kDigits);
      for (std::size_t digit = 0; digit < kDigits; ++digit, low_ <<= 8) {
        bytes_[size + digit] = static_cast<std::uint8_t>(low_ >> 56);
      }
      range_ <<= 8 * kDigits;
    }
  }
  // Never passes the first byte, because the number is less than 1.
  void carry() noexcept {
    std::size_t last = bytes_.size();
    while (last > 0 && ++bytes_[--last] == 0) {
    }
  }

  std::vector<std::uint8_t> bytes_;
  std::uint64_t low_ = 0;
  std::uint64_t range_ = UINT64_MAX;
};

}  // namespace meterbank::recording
