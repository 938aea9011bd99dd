// SPDX-License-Identifier: Apache-2.0
//
// The probability of a bit, learnt from the bits before it.
#pragma once

#include <array>
#include <cstdint>

namespace meterbank::recording {

inline constexpr unsigned kProbabilityBits = 16;

// 22 bits of probability that the next bit is 1, and below them how many bits were seen, up to a
// limit. The n-th bit moves the probability by 1/(n + 1.5) of its error, so that a new model learns
// in few bits, and an old one still follows.
class BitModel {
 public:
  // Of kProbabilityBits, never 0 and never all of them.
  [[nodiscard]] std::uint32_t one() const noexcept {
    const std::uint32_t one = state_ >> (32 - kProbabilityBits);
    return one + (one == 0 ? 1 : 0);
  }

  void learn(bool bit) noexcept {
    const std::uint32_t seen = state_ & kSeenMask;
    const std::uint32_t p = state_ >> kSeenBits;
    const std::uint32_t rate = kRates[seen];
    const std::uint32_t up = (kOne - 1 - p) >> 3;
    const std::uint32_t down = p >> 3;
    const std::uint32_t moved =
        bit ? p + (up * rate >> kMoveShift) : p - (down * rate >> kMoveShift);
    state_ = moved << kSeenBits | (seen + (seen < kSeenMax ? 1 : 0));
  }

 private:
  static constexpr unsigned kSeenBits = 10;
  static constexpr std::uint32_t kSeenMask = (1U << kSeenBits) - 1;
  static constexpr std::uint32_t kSeenMax = 255;
  static constexpr std::uint32_t kOne = 1U << (32 - kSeenBits);
  static constexpr unsigned kRateBits = 13;
  static constexpr unsigned kMoveShift = kRateBits - 3;

  static constexpr std::array<std::uint16_t, kSeenMax + 1> kRates = [] {
    std::array<std::uint16_t, kSeenMax + 1> rates{};
    for (std::uint32_t seen = 0; seen <= kSeenMax; ++seen) {
      rates[seen] = static_cast<std::uint16_t>((2U << kRateBits) / (2 * seen + 3));
    }
    return rates;
  }();

  std::uint32_t state_ = std::uint32_t{1} << 31;
};

}  // namespace meterbank::recording
