// SPDX-License-Identifier: Apache-2.0
//
// The other side of range_encoder.hpp. It reads zeros behind the end of its bytes, and notices it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "coding/range_encoder.hpp"

namespace meterbank::recording {

class RangeDecoder {
 public:
  static constexpr bool kEncodes = false;

  void begin(std::span<const std::byte> bytes) noexcept {
    bytes_ = bytes;
    next_ = 0;
    range_ = UINT64_MAX;
    number_ = read() << 32;
    number_ |= read();
    check();
  }

  bool bit(BitModel& model, bool /*unknown*/) noexcept {
    const std::uint64_t ones = (range_ >> kProbabilityBits) * model.one();
    const bool bit = number_ < ones;
    number_ -= bit ? 0 : ones;
    range_ = bit ? ones : range_ - ones;
    model.learn(bit);
    settle();
    return bit;
  }
  unsigned symbol(SymbolModel& model, unsigned /*unknown*/) noexcept {
    range_ >>= kShareBits;
    constexpr std::uint64_t kPlaceMax = (std::uint64_t{1} << kShareBits) - 1;
    const auto place = static_cast<std::uint32_t>(std::min(number_ / range_, kPlaceMax));
    const unsigned symbol = model.at(place);
    const auto [begin, end] = model.share_of(symbol);
    number_ -= range_ * begin;
    range_ *= end - begin;
    model.learn(symbol);
    settle();
    return symbol;
  }
  std::uint64_t plain(std::uint64_t /*unknown*/, unsigned count) noexcept {
    range_ >>= count;
    // Invalid bytes can be beyond the last value.
    const std::uint64_t value = std::min(number_ / range_, (std::uint64_t{1} << count) - 1);
    number_ -= value * range_;
    settle();
    return value;
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  // Whether the bytes ended where the encoder ended them.
  [[nodiscard]] bool finish() noexcept {
    failed_ = failed_ || next_ - kAhead + closing_bytes(range_) != bytes_.size();
    return !failed_;
  }

 private:
  static constexpr std::size_t kAhead = 8;  // bytes in `number_`

  [[nodiscard]] std::uint64_t read() noexcept {
    if (next_ + 4 <= bytes_.size()) {
      static_assert(std::endian::native == std::endian::little);
      std::uint32_t first_is_least = 0;
      std::memcpy(&first_is_least, bytes_.data() + next_, sizeof first_is_least);
      next_ += 4;
      return __builtin_bswap32(first_is_least);
    }
    std::uint64_t four = 0;
    for (std::size_t place = next_; place < next_ + 4; ++place) {
      four =
          four << 8 | (place < bytes_.size() ? std::to_integer<std::uint64_t>(bytes_[place]) : 0);
    }
    next_ += 4;
    return four;
  }
  // Each tick closes with one byte at least.
  void check() noexcept { failed_ = next_ - kAhead >= bytes_.size(); }
  void settle() noexcept {
    if (range_ >= kRangeMin) return;
    range_ <<= 32;
    number_ = number_ << 32 | read();
    check();
  }

  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t number_ = 0;  // the digits, less the lower end of the interval
  std::uint64_t range_ = UINT64_MAX;
  bool failed_ = false;
};

}  // namespace meterbank::recording
