// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of one block lie, and a short list of its words. block.hpp says how they are
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

}  // namespace meterbank
