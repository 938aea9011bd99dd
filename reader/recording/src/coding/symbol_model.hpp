// SPDX-License-Identifier: Apache-2.0
//
// The probabilities of sixteen symbols, learnt from the symbols before.
//
// One model of sixteen symbols takes the place of four of one bit: it costs one step of the range
// coder, and no branch that a processor has to guess.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace meterbank::recording {

inline constexpr unsigned kSymbols = 16;
inline constexpr unsigned kShareBits = 15;

class SymbolModel {
 public:
  SymbolModel() noexcept {
    for (unsigned symbol = 1; symbol < kSymbols; ++symbol) {
      below_[symbol] = static_cast<std::int16_t>(symbol * (kTop / static_cast<int>(kSymbols)));
    }
  }

  // The shares of all symbols below this one, of 2^kShareBits. `symbol` may be kSymbols.
  [[nodiscard]] std::uint32_t below(unsigned symbol) const noexcept {
    if (symbol == kSymbols) return std::uint32_t{1} << kShareBits;
    const std::uint32_t not_first = 0U - (symbol != 0 ? 1U : 0U);
    return (static_cast<std::uint32_t>(below_[symbol]) + symbol) & not_first;
  }
  struct Share {
    std::uint32_t begin, end;
  };
  // below() of the symbol and of the next one, without a branch: a decoder has just learnt the
  // symbol, so nothing could be guessed ahead.
  [[nodiscard]] Share share_of(unsigned symbol) const noexcept {
    const std::uint32_t is_first = 0U - ((symbol - 1U) >> 31U);
    const std::uint32_t is_last = 0U - (symbol + 1) / kSymbols;
    const auto begin = static_cast<std::uint32_t>(below_[symbol]) + symbol;
    const auto end = static_cast<std::uint32_t>(below_[(symbol + 1) % kSymbols]) + symbol + 1;
    return {begin & ~is_first, (end & ~is_last) | (is_last & std::uint32_t{1} << kShareBits)};
  }
  // The symbol whose share covers this place, which is less than 2^kShareBits.
  [[nodiscard]] unsigned at(std::uint32_t place) const noexcept {
#if defined(__SSE2__)
    // One bit a symbol whose share begins behind the place; lane 0 holds no share.
    const __m128i wanted = _mm_set1_epi16(static_cast<std::int16_t>(place));
    const auto behind = [&](std::size_t first, Lanes more) {
      return _mm_cmpgt_epi16(std::bit_cast<__m128i>(load(first) + more), wanted);
    };
    const auto bits = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_packs_epi16(behind(0, kLow), behind(kLanes, kHigh))));
    return static_cast<unsigned>(std::countr_zero((bits | 1U << kSymbols) & ~1U)) - 1;
#else
    const auto wanted = static_cast<std::int16_t>(place);
    const auto first = std::bit_cast<Words>(load(0) + kLow <= wanted);
    const auto second = std::bit_cast<Words>(load(kLanes) + kHigh <= wanted);
    constexpr std::uint64_t kOnes = 0x0001'0001'0001'0001;
    constexpr std::uint64_t kWithoutCount = 0x0001'0001'0001'0000;
    const std::uint64_t sums =
        (first[0] & kWithoutCount) + (first[1] & kOnes) + (second[0] & kOnes) + (second[1] & kOnes);
    return static_cast<unsigned>(sums * kOnes >> 48);
#endif
  }

  void learn(unsigned symbol) noexcept {
    const std::int16_t seen = below_[0];
    const std::int16_t shift = kShifts[static_cast<std::size_t>(seen)];
    const auto coded = static_cast<std::int16_t>(symbol);
    Lanes low = load(0), high = load(kLanes);
    low += (((kLow > coded) & kTop) - low) >> shift;
    high += (((kHigh > coded) & kTop) - high) >> shift;
    low[0] = static_cast<std::int16_t>(seen + (seen < kSeenMax ? 1 : 0));
    store(0, low);
    store(kLanes, high);
  }

 private:
  static constexpr std::size_t kLanes = 8;
  using Lanes = std::int16_t __attribute__((vector_size(kLanes * 2)));
  using Words = std::array<std::uint64_t, 2>;
  static constexpr Lanes kLow = {0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr Lanes kHigh = {8, 9, 10, 11, 12, 13, 14, 15};

  [[nodiscard]] Lanes load(std::size_t first) const noexcept {
    Lanes lanes;
    std::memcpy(&lanes, &below_[first], sizeof lanes);
    return lanes;
  }
  void store(std::size_t first, Lanes lanes) noexcept {
    std::memcpy(&below_[first], &lanes, sizeof lanes);
  }

  // Each symbol keeps one of the shares, so that it can always be coded.
  static constexpr std::int16_t kTop = (1 << kShareBits) - static_cast<int>(kSymbols);

  // A symbol moves the shares by 2^-shift of their error: by much at first, so that a new model
  // learns quickly.
  static constexpr unsigned kShiftMax = 7;
  static constexpr std::int16_t kSeenMax = 255;
  static constexpr std::array<std::uint8_t, kSeenMax + 1> kShifts = [] {
    std::array<std::uint8_t, kSeenMax + 1> shifts{};
    for (unsigned seen = 0; seen <= kSeenMax; ++seen) {
      const auto shift = static_cast<unsigned>(std::bit_width((seen + 2) * 3 / 4));
      shifts[seen] = static_cast<std::uint8_t>(std::min(shift, kShiftMax));
    }
    return shifts;
  }();

  // Lane 0 would always be zero; it counts the symbols that were seen, up to a limit.
  alignas(32) std::array<std::int16_t, kSymbols> below_{};
};

}  // namespace meterbank::recording
