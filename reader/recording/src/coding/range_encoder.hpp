// SPDX-License-Identifier: Apache-2.0
//
// A binary range coder of 64 bits: bits become a number in an interval that each of them narrows.
//
// The number is written in bytes, as digits. `low_` and `range_` are the interval behind the digits
// in `bytes_`. When the range has become small, the first four digits of `low_` are settled and
// move to `bytes_`. Later additions can still carry into them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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
    next_ = bytes_.data();
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

  // The bytes of all that was encoded since begin(), until the next begin().
  [[nodiscard]] std::span<const std::uint8_t> finish() {
    const unsigned count = closing_bytes(range_);
    const std::uint64_t step = std::uint64_t{1} << (64 - 8 * count);
    const std::uint64_t before = low_;
    low_ = (low_ + (step - 1)) & ~(step - 1);
    if (low_ < before) carry();
    for (unsigned byte = 0; byte < count; byte += kDigits) put_digits();
    next_ -= (kDigits - count % kDigits) % kDigits;
    return {bytes_.data(), next_};
  }

 private:
  static constexpr std::size_t kDigits = 4;

  void settle(std::uint64_t before) {
    if (low_ < before) carry();
    if (range_ < kRangeMin) {
      put_digits();
      range_ <<= 8 * kDigits;
    }
  }
  void put_digits() {
    if (next_ == bytes_.data() + bytes_.size()) grow();
    const auto digits = static_cast<std::uint32_t>(low_ >> 32);
    static_assert(std::endian::native == std::endian::little);
    const std::uint32_t most_significant_first = __builtin_bswap32(digits);
    std::memcpy(next_, &most_significant_first, kDigits);
    next_ += kDigits;
    low_ <<= 8 * kDigits;
  }
  // Apart, so that what happens all the time is short.
  [[gnu::noinline]] void grow() {
    const auto used = static_cast<std::size_t>(next_ - bytes_.data());
    bytes_.resize(std::max<std::size_t>(2 * bytes_.size(), 1024));
    next_ = bytes_.data() + used;
  }
  // Never passes the first byte, because the number is less than 1.
  [[gnu::noinline]] void carry() noexcept {
    for (std::uint8_t* last = next_; last != bytes_.data() && ++*--last == 0;) {
    }
  }

  std::vector<std::uint8_t> bytes_;  // a multiple of kDigits
  std::uint8_t* next_ = nullptr;     // behind those that are used
  std::uint64_t low_ = 0;
  std::uint64_t range_ = UINT64_MAX;
};

}  // namespace meterbank::recording
