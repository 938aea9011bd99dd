// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of one block lie, and short lists of its words. block.hpp says how they are
// written and read, segment_layout.hpp how they are placed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace meterbank {

inline constexpr std::uint32_t kBlockWordsMax = 4096;

// The parts of one block. `W` is the word of the atomics policy, const for readers.
// Lifetime: the parts stay valid while the extent that they lie in is mapped.
template <typename W>
struct BlockParts {
  W* seq = nullptr;
  W* slot = nullptr;
  W* copy0 = nullptr;
  W* copy1 = nullptr;       // copy0 itself for independent counters, which have one copy
  W* checkpoint = nullptr;  // the checkpoint pair; null: the set has none
  std::uint32_t words = 0;
  W* cut = nullptr;  // the epoch pair, behind the checkpoint pair; null: the set has no cuts
};

// Some words of a block and their new values.
// Errors: none are checked; the caller adds at most kMost entries.
template <std::size_t kMost>
struct WordList {
  struct Entry {
    std::uint32_t word;
    std::uint64_t value;
  };
  std::array<Entry, kMost> entries;  // the first `count` of them
  std::size_t count = 0;

  constexpr void add(std::uint32_t word, std::uint64_t value) noexcept {
    entries[count++] = {word, value};
  }
  // Calls `set(word, value)` for each.
  template <typename Set>
  constexpr void apply(Set&& set) const noexcept {
    for (std::size_t i = 0; i < count; ++i) set(entries[i].word, entries[i].value);
  }
};

// Positions of up to four words, in one register: 16 bits each, the one added last in the lowest.
// Errors: none are checked; the caller adds none once it is full, and each below kBlockWordsMax.
struct WordPositions {
  static constexpr std::uint64_t kNoPosition = 0xffff;
  std::uint64_t packed = ~std::uint64_t{0};

  [[nodiscard]] constexpr bool empty() const noexcept { return packed == ~std::uint64_t{0}; }
  [[nodiscard]] constexpr bool is_full() const noexcept { return packed >> 48 != kNoPosition; }
  constexpr void add(std::uint32_t word) noexcept { packed = packed << 16 | word; }
  // Calls `visit(word)` for each.
  template <typename Visit>
  constexpr void apply(Visit&& visit) const noexcept {
    for (std::uint64_t left = packed; (left & kNoPosition) != kNoPosition;) {
      visit(static_cast<std::uint32_t>(left & kNoPosition));
      left = left >> 16 | kNoPosition << 48;
    }
  }
};
static_assert(kBlockWordsMax < WordPositions::kNoPosition);

}  // namespace meterbank
