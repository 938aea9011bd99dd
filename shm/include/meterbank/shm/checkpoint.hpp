// SPDX-License-Identifier: Apache-2.0
//
// The checkpoint pair of a block: older values that a reader gets when a writer outruns it.
//
// A writer that never pauses can outrun every attempt of a reader (block.hpp). Therefore each
// kCheckpointEvery-th commit is followed by a second, rarely rewritten pair of copies with a
// sequence of its own, `cseq`:
//
//   word    0        1           2 .. w+1     w+2         w+3 .. 2w+2
//        +------+ +---------+---------------+---------+---------------+
//        | cseq | | version | w words       | version | w words       |
//        +------+ +---------+---------------+---------+---------------+
//                 copy 0: readers take it   copy 1: readers take it
//                 while cseq is even        while cseq is odd
//
// The checkpoint is never newer than seq, so one commit has one commit point, and a reader that
// fails kHotAttempts times finds the pair quiet.
//
//      after W4, every kCheckpointEvery commits:
//      next := pair[(cseq + 1) & 1]
//      next := version, words      relaxed         c := cseq                acquire   [R3]
// [W5] cseq := cseq + 1            release         target := pair[c & 1]    relaxed
//      (next commit's W2 and W4)                   fence                    acquire   [R4]
//                                                  accept iff cseq = c      relaxed
//
//      W5 pairs with R3 as W1 with R1. R4 pairs with W4 of the commits in between: the next
//      checkpoint's words come after it, so no fence of the checkpoint's own is needed.
//
// Thread safety  store_checkpoint(): the writer of the block, after a commit. Readers: any number.
// Errors         None in the writer. A reader whose attempt was overtaken gets false, and its
//                target holds nothing.
// Progress       Both halves are wait-free.
// Cost           Writer: words + 2 stores. Reader: words + 3 loads.
// Units          A version counts commits.
#pragma once

#include <cstdint>

#include "meterbank/shm/block_parts.hpp"

namespace meterbank {

constexpr std::uint32_t checkpoint_words(std::uint32_t words) noexcept {
  return 1 + 2 * (words + 1);
}
// The word at which copy `copy & 1` of a checkpoint pair begins, with its version.
constexpr std::uint64_t checkpoint_copy_at(std::uint64_t copy, std::uint32_t words) noexcept {
  return 1 + (copy & 1) * (words + 1);
}
static_assert(checkpoint_copy_at(0, 8) == 1 && checkpoint_copy_at(1, 8) == 10);
static_assert(checkpoint_words(8) == checkpoint_copy_at(1, 8) + 1 + 8);

// The writer's half: `copy0` of the settled block is `version`. It comes after the commit, never
// before: a checkpoint newer than seq would be a second commit point.
template <typename A>
[[gnu::always_inline]] inline void store_checkpoint(typename A::Word* pair,
                                                    const typename A::Word* copy0,
                                                    std::uint32_t words,
                                                    std::uint64_t version) noexcept {
  const std::uint64_t cseq = A::load_relaxed(pair[0]);  // relaxed: own last store
  typename A::Word* const next = pair + checkpoint_copy_at(cseq + 1, words);
  A::store_relaxed(next[0], version);  // relaxed: published by [W5]
  for (std::uint32_t word = 0; word < words; ++word) {
    A::store_relaxed(next[1 + word], A::load_relaxed(copy0[word]));  // relaxed: published by [W5]
  }
  // [W5] pairs with [R3]. Without it a reader sees the new number and old words.
  A::store_release(pair[0], cseq + 1);
}

// The reader's half: one attempt. True: `target` holds `version`.
template <typename A>
[[nodiscard]] bool try_read_checkpoint(const BlockParts<const typename A::Word>& block,
                                       std::uint64_t* target, std::uint64_t& version) noexcept {
  const typename A::Word* const pair = block.checkpoint;
  // [R3] pairs with [W5]. Without it the copy below could be older than the number.
  const std::uint64_t cseq = A::load_acquire(pair[0]);
  const typename A::Word* const copy = pair + checkpoint_copy_at(cseq, block.words);
  version = A::load_relaxed(copy[0]);  // relaxed: between [R3] and [R4] like the words
  A::copy_words(target, copy + 1, block.words);
  // [R4] pairs with [W4] of the commits between two checkpoints. Without it the second look at cseq
  // could happen before the copy, and words of the next checkpoint would pass.
  A::fence_acquire();
  return A::load_relaxed(pair[0]) == cseq;  // relaxed: fenced in by [R4]
}

}  // namespace meterbank
