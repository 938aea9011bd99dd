// SPDX-License-Identifier: Apache-2.0
//
// The epoch pair of a block, as readers of a cut see it; block.hpp has the writer's half.
//
// Blocks of sets with cuts keep what they were before their first commit of an epoch, twice, with
// the epochs between which it held. The provider counts epochs; see docs/protocol.md, "Cuts".
//
//      before W1, if the epoch moved:              reader of the cut at epoch e
// [E1] ecount := 2n - 1            relaxed         c := ecount              acquire   [R6]
// [E2] fence                       release         slot n or n - 1          relaxed
//      slot n & 1 := version, epoch, epoch         fence                    acquire   [R7]
//             before, copy 0       relaxed         accept iff ecount = c    relaxed
// [E3] ecount := 2n                release
//
//      E3 pairs with R6: a reader that sees 2n sees all of slot n. So does the last fence before
//      E1, which is a commit's, W2 or W4: a reader that sees 2n - 1 sees all of slot n - 1. Where
//      no commit lies between the two saves, save n - 1 is the first of a life, and the reader has
//      seen it with LIVE [S3]. E2 pairs with R7: a reader that sees a word of save n in the slot of
//      save n - 2 sees that ecount has moved on. W1 carries E3 along: no commit that saw epoch e or
//      a later one is seen without its save.
#pragma once

#include <cstdint>

#include "meterbank/shm/block.hpp"

namespace meterbank {

inline constexpr std::uint32_t kCutAttempts = 4;

enum class CutStatus : std::uint8_t {
  kCurrent,  // the current version; no commit has seen the epoch
  kSaved,    // what the block was before its first commit of the epoch or of a later one
  kTooLate,  // two later epochs have been seen since: the state is gone
  kBusy,     // every attempt was overtaken
};

// The state of the block at epoch `epoch`, which the provider has declared settled before. Bounded:
// kCutAttempts attempts. The target holds nothing unless the status says a state.
template <typename A>
[[nodiscard]] CutStatus read_at_epoch(const BlockParts<const typename A::Word>& block,
                                      std::uint64_t epoch, std::uint64_t* target,
                                      std::uint64_t& version) noexcept {
  const typename A::Word* const pair = block.cut;
  for (std::uint32_t attempt = 0; attempt < kCutAttempts; ++attempt) {
    if (attempt != 0) A::pause();
    // [R6] pairs with [E3], and through [E1] with the fences of the commit before. Without it the
    // slots could be older than the number.
    const std::uint64_t ecount = A::load_acquire(pair[0]);
    const std::uint64_t saves = ecount / 2;
    // relaxed, these and the slot's words: between [R6] and [R7].
    const typename A::Word* slot = pair + 2 + (saves & 1) * saved_words(block.words);
    CutStatus status = CutStatus::kSaved;
    if (A::load_relaxed(slot[1]) < epoch) {
      if (!try_read<A>(block, target, version)) continue;
      status = CutStatus::kCurrent;
    } else {
      if (A::load_relaxed(slot[2]) >= epoch) {
        slot = pair + 2 + ((saves + 1) & 1) * saved_words(block.words);
        // While a save is being written, that is where.
        if ((ecount & 1) != 0) return CutStatus::kTooLate;
        if (A::load_relaxed(slot[2]) >= epoch || A::load_relaxed(slot[1]) < epoch) {
          status = CutStatus::kTooLate;
        }
      }
      version = A::load_relaxed(slot[0]);
      A::copy_words(target, slot + 3, block.words);
      // [R7] pairs with [E2]. Without it ecount could be looked at before the copy.
      A::fence_acquire();
    }
    // relaxed: fenced in by [R7], or by [R2] of try_read(). A commit whose words try_read()
    // returned has published its save before [W1], so the number has moved if it saw the epoch.
    if (A::load_relaxed(pair[0]) == ecount) return status;
  }
  return CutStatus::kBusy;
}

}  // namespace meterbank
