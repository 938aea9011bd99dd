// SPDX-License-Identifier: Apache-2.0
//
// The slot word: which life of a slot the values beside it belong to, and how a life begins and
// ends.
//
// A slot is a place for one instance; a generation is one life of an instance in it. The slot word
// stands beside the sequence word of the block (segment_layout.hpp) and holds both the generation
// and the state:
//
//    63                                                2 1       0
//   +---------------------------------------------------+---------+
//   | generation: grows by one per life, never returns  |  state  |
//   +---------------------------------------------------+---------+
//
//            slot_begin()          slot_live()           slot_close()
//     FREE --------------> INIT --------------> LIVE ---------------> CLOSED
//     g = 0                g + 1                                         |
//                            ^------------------ slot_begin() -----------+
//
// What a reader copied from a slot counts only if the generation is still the same afterwards.
//
//      owner                                       reader
//                                                  membership, first        acquire   [R9]
//                                                  slot: generation g       acquire   [R8]
// [S1] membership := + 1           release         copy names, words        as in block.hpp
//      slot := g + 1, INIT         relaxed
// [S2] fence                       release         fence                    acquire   [R5]
//      descriptor, first values                    slot, or membership      relaxed
// [S3] slot := g + 1, LIVE         release         accept iff its generation is still g, or
//      ...                                         membership is what it was
//      membership := + 1           relaxed
// [S4] slot := g + 1, CLOSED       release  (close; the last values stay readable)
//
//      S2 pairs with R5: a word of the next life drags INIT and the new membership along. S3 and S4
//      pair with R8: LIVE is seen only with its descriptor, CLOSED only with the last values. S1
//      pairs with R9: a reader that sees the membership of the next life sees that this life is
//      closed, and what the owner published about that: the change of the directory. A sweep over a
//      whole set may compare the one membership word instead of one generation per slot, for rows
//      that were LIVE at a look-up that loaded membership first.
//
// Thread safety  slot_begin(), slot_live() and slot_close(): the owner, one thread at a time.
//                slot_of() and still_in(): any number of threads of any process.
// Errors         None: each function succeeds. Any 64-bit number is a valid slot word.
// Progress       Every function is wait-free.
// Lifetime       The generation has 62 bits and never returns, so an old reader is never misled.
//
// docs/protocol.md has the proofs; tests/model checks this source with each ordering removed in
// turn.
#pragma once

#include <cstdint>

namespace meterbank {

enum class SlotState : std::uint64_t { kFree = 0, kInit = 1, kLive = 2, kClosed = 3 };

struct SlotWord {
  std::uint64_t generation = 0;
  SlotState state = SlotState::kFree;

  static constexpr SlotWord of(std::uint64_t raw) noexcept {
    return {raw >> 2, static_cast<SlotState>(raw & 3)};
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
    return generation << 2 | static_cast<std::uint64_t>(state);
  }
  [[nodiscard]] constexpr bool readable() const noexcept {
    return state == SlotState::kLive || state == SlotState::kClosed;
  }
};
static_assert(SlotWord{5, SlotState::kLive}.raw() == 22);
static_assert(SlotWord::of(22).generation == 5 && SlotWord::of(22).state == SlotState::kLive);
static_assert(SlotWord::of(0).state == SlotState::kFree, "fresh pages are zero");

// ---- Owner ----

// Opens the next life and returns its generation. The caller writes the descriptor and the first
// values, then calls slot_live().
template <typename A>
std::uint64_t slot_begin(typename A::Word& membership, typename A::Word& slot) noexcept {
  // relaxed, both loads and the store of the slot: only the owner stores them, and [S2] puts the
  // stores before the words.
  // [S1] pairs with [R9]. Without it a look-up could pair this membership with the last life, LIVE,
  // or with a directory in which that life goes on, and a sweep would accept words of this life.
  A::store_release(membership, A::load_relaxed(membership) + 1);
  const std::uint64_t generation = SlotWord::of(A::load_relaxed(slot)).generation + 1;
  A::store_relaxed(slot, SlotWord{generation, SlotState::kInit}.raw());
  // [S2] pairs with [R5]. Without it a word of the next life passes under the old slot word, or in
  // a sweep under the old membership.
  A::fence_release();
  return generation;
}

template <typename A>
void slot_live(typename A::Word& slot, std::uint64_t generation) noexcept {
  // [S3] pairs with [R8]. Without it LIVE is seen with a half-written descriptor.
  A::store_release(slot, SlotWord{generation, SlotState::kLive}.raw());
}

template <typename A>
void slot_close(typename A::Word& membership, typename A::Word& slot) noexcept {
  // relaxed, both: only the owner stores them; a reader that misses it sees the last life a little
  // longer.
  A::store_relaxed(membership, A::load_relaxed(membership) + 1);
  const std::uint64_t generation = SlotWord::of(A::load_relaxed(slot)).generation;
  // [S4] pairs with [R8]. Without it CLOSED of an independent instance could be seen before its
  // last increment.
  A::store_release(slot, SlotWord{generation, SlotState::kClosed}.raw());
}

// ---- Reader ----

template <typename A>
[[nodiscard]] SlotWord slot_of(const typename A::Word& slot) noexcept {
  // [R8] pairs with [S3] and [S4]. Without it LIVE is seen without its descriptor, or CLOSED
  // without the last values.
  return SlotWord::of(A::load_acquire(slot));
}

// True: nothing copied from the slot since slot_of() returned `generation` is of another life.
template <typename A>
[[nodiscard]] bool still_in(const typename A::Word& slot, std::uint64_t generation) noexcept {
  // [R5] pairs with [S2]. Without it this load could precede the copy it vouches for.
  A::fence_acquire();
  // relaxed: fenced in by [R5]
  return SlotWord::of(A::load_relaxed(slot)).generation == generation;
}

}  // namespace meterbank
