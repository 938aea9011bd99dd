// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 64 bits as symbols. What is left of a word after its prediction, the residual, is
//
//   token   its length in bits, counted from the expected length; 0: the residual is zero
//   head    its sign, and up to three bits below its first
//   tail    all other bits, which are as good as random
//
// The statistics of a token are those of words of the same kind whose residuals had the same
// length lately. So a new column needs no time to learn: it finds what others have learnt.
//
// Each function returns what it coded. Encoders are given the value; decoders ignore it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "coding/range_encoder.hpp"
#include "coding/symbol_model.hpp"

namespace meterbank::recording {

// Lengths that are expected: bits in 1/256.
using Length = std::uint16_t;
inline constexpr unsigned kLengthBits = 8;

[[nodiscard]] constexpr std::uint64_t magnitude_of(std::uint64_t number) noexcept {
  // Without a branch: signs are hard to guess.
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(number) >> 63);
  return (number ^ sign) - sign;
}
[[nodiscard]] constexpr Length length_of(std::uint64_t number) noexcept {
  return static_cast<Length>(std::bit_width(magnitude_of(number)) << kLengthBits);
}

// Residuals whose statistics are kept apart.
enum class Kind : std::uint8_t { kInteger, kReal, kBucket, kTime, kPeer, kFirst, kNumber, kCount };

// What a residual is expected to be.
struct Expectation {
  Kind kind = Kind::kInteger;
  Length length = 0;
  bool is_difference = false;  // nothing better was known: the sign is often the same
  bool neighbour_moved = false;
};

class WordModels {
 public:
  // `past` is of this word: the last two outcomes, and the last two signs.
  template <typename Bits>
  std::uint64_t residual(Bits& bits, std::uint64_t value, const Expectation& expected,
                         std::uint8_t& past) {
    const std::uint64_t magnitude = magnitude_of(value);
    const auto wanted = static_cast<unsigned>(std::bit_width(magnitude));
    const unsigned usual = (expected.length + (1U << (kLengthBits - 1))) >> kLengthBits;
    const unsigned least = usual > kBelowUsual ? usual - kBelowUsual : 1;
    const unsigned token = bits.symbol(token_model(expected, past),
                                       wanted == 0 ? 0 : std::min(wanted - least, kEscape - 1) + 1);
    const bool is_zero = token == 0;
    const unsigned outcomes = (unsigned{past} << 1 & kOutcomes) | (is_zero ? 1U : 0U);
    past = static_cast<std::uint8_t>((past & kSigns) | outcomes);
    if (is_zero) return 0;
    unsigned width = std::min(least + token - 1, 64U);
    if (token == kEscape) width = this->width(bits, wanted);
    const unsigned relation = relation_of(width, usual);
    SymbolModel& head = heads_[relation][expected.is_difference ? 1 : 0]
                              [std::min(width, kHeadWidths) - 1][past >> kSignShift & 3U];
    const std::uint64_t coded =
        number(bits, head, width, magnitude, static_cast<unsigned>(value >> 63));
    const unsigned signs = (unsigned{past} << 1 & kSigns & ~(1U << kSignShift)) |
                           static_cast<unsigned>(coded >> 63) << kSignShift;
    past = static_cast<std::uint8_t>((past & kOutcomes) | signs);
    return coded;
  }

 private:
  static constexpr unsigned kEscape = kSymbols - 1;
  static constexpr unsigned kBelowUsual = 6;    // tokens for lengths below the usual one
  static constexpr unsigned kHalfLengths = 24;  // beyond these, halves of a bit are all the same
  static constexpr unsigned kHeadWidths = 8;
  static constexpr unsigned kOutcomes = 3;
  static constexpr unsigned kSignShift = 2;
  static constexpr unsigned kSigns = 3U << kSignShift;

  // 0: shorter than usual, 1: as long, 2: longer. Without a branch.
  static unsigned relation_of(unsigned width, unsigned usual) noexcept {
    const auto excess = static_cast<int>(width) - static_cast<int>(usual);
    return static_cast<unsigned>(1 + (excess >> 31) - (-excess >> 31));
  }

  SymbolModel& token_model(const Expectation& expected, std::uint8_t past) noexcept {
    unsigned halves = expected.length >> (kLengthBits - 1);
    if (halves >= kHalfLengths) halves = kHalfLengths + (halves & 1U);
    return tokens_[static_cast<std::size_t>(expected.kind)][halves]
                  [(past & kOutcomes) * 2 + (expected.neighbour_moved ? 1 : 0)];
  }

  // Of a residual that is much longer or shorter than expected: 1 to 64.
  template <typename Bits>
  unsigned width(Bits& bits, unsigned wanted) {
    const unsigned high = bits.symbol(wide_[kSymbols], wanted >> 4) & 7U;
    return std::clamp(high << 4 | bits.symbol(wide_[high], wanted & 15U), 1U, 64U);
  }

  template <typename Bits>
  std::uint64_t number(Bits& bits, SymbolModel& model, unsigned width, std::uint64_t magnitude,
                       unsigned sign_bit) {
    constexpr unsigned kHeadBits = 3;
    unsigned left = width - 1;
    const unsigned top = std::min(left, kHeadBits);
    left -= top;
    const unsigned mask = (1U << top) - 1;
    const unsigned head = bits.symbol(
        model, sign_bit << kHeadBits | (static_cast<unsigned>(magnitude >> left) & mask));
    std::uint64_t result = std::uint64_t{1} << top | (head & mask);
    // Once in any case: whether there are bits left is hard to guess.
    do {
      const unsigned count = std::min(left, kPlainBitsMax);
      left -= count;
      const std::uint64_t part = magnitude >> left & ((std::uint64_t{1} << count) - 1);
      result = result << count | bits.plain(part, count);
    } while (left > 0);
    const std::uint64_t sign = 0 - std::uint64_t{head >> kHeadBits};
    return (result ^ sign) - sign;
  }

  std::array<std::array<std::array<SymbolModel, 8>, kHalfLengths + 2>,
             static_cast<std::size_t>(Kind::kCount)>
      tokens_;
  std::array<std::array<std::array<std::array<SymbolModel, 4>, kHeadWidths>, 2>, 3> heads_;
  std::array<SymbolModel, kSymbols + 1> wide_;
};

}  // namespace meterbank::recording
