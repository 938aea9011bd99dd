// SPDX-License-Identifier: Apache-2.0
//
// The epoch pair of a block: what the block was before its first commit of an epoch.
//
// Blocks of sets with cuts keep two such states, each with the epochs between which it held. The
// provider counts epochs; docs/protocol.md, "Cuts", says what they are for. Save n goes to
// copy n & 1:
//
//   word    0        1         2         3       4        5 .. w+4    w+5 .. 2w+7
//        +--------+-------+ +---------+-------+--------+-----------+---------------+
//        | ecount | epoch | | version | epoch | epoch  | w words   | the same four |
//        |        | seen  | |         |       | before |           | fields        |
//        +--------+-------+ +---------+-------+--------+-----------+---------------+
//                           copy 0: saves 2, 4, ..                  copy 1: saves 1, 3, ..
//
//      before W1, if the epoch moved:              reader of the cut at epoch e
// [E1] ecount := 2n - 1            relaxed         c := ecount              acquire   [R6]
// [E2] fence                       release         copy n or n - 1          relaxed
//      copy n & 1 := version, epoch, epoch         fence                    acquire   [R7]
//             before, copy 0       relaxed         accept iff ecount = c    relaxed
// [E3] ecount := 2n                release
//
//      E3 pairs with R6: a reader that sees 2n sees all of save n. So does the last fence before
//      E1, which is a commit's, W2 or W4: a reader that sees 2n - 1 sees all of save n - 1. Where
//      no commit lies between the two saves, save n - 1 is the first of a life, and the reader has
//      seen it with LIVE, S3. E2 pairs with R7: a reader that sees a word of save n in the place of
//      save n - 2 sees that ecount has moved on. W1 carries E3 along: no commit that saw epoch e or
//      a later one is seen without its save.
//
// Thread safety  store_epoch_copy(): the writer of the block, before a commit. Readers: any number.
// Errors         None in the writer. Readers: CutStatus; the target holds a state only with
//                kCurrent and kSaved.
// Progress       Writer: wait-free. Reader: bounded, kCutAttempts attempts.
// Cost           Writer: words + 6 stores at the first commit of an epoch; at each other commit of
//                a set with cuts two loads and a comparison.
// Units          Epochs are counts of the provider process, versions are counts of commits.
#pragma once

#include <cstdint>

#include "meterbank/shm/block_parts.hpp"

namespace meterbank {

inline constexpr std::uint32_t kCutAttempts = 4;

// Words of an epoch pair: ecount, the epoch that the writer saw last, then two copies.
inline constexpr std::uint32_t kEpochSeen = 1;
// Words of one copy: (version, epoch, epoch before, words).
inline constexpr std::uint32_t kSavedVersion = 0;
inline constexpr std::uint32_t kSavedEpoch = 1;
inline constexpr std::uint32_t kSavedEpochBefore = 2;
inline constexpr std::uint32_t kSavedValues = 3;

constexpr std::uint32_t saved_words(std::uint32_t words) noexcept { return kSavedValues + words; }
constexpr std::uint32_t cut_words(std::uint32_t words) noexcept {
  return 2 + 2 * saved_words(words);
}
// The word at which the copy of save `save` begins.
constexpr std::uint64_t saved_copy_at(std::uint64_t save, std::uint32_t words) noexcept {
  return 2 + (save & 1) * saved_words(words);
}
static_assert(saved_copy_at(2, 8) == 2 && saved_copy_at(1, 8) == 13);
static_assert(cut_words(8) == saved_copy_at(1, 8) + 3 + 8);

// The writer's half: keeps version `version`, which is in `current`, before a commit that is the
// first to see `epoch`; the commit before it saw `seen`.
template <typename A>
[[gnu::always_inline]] inline void store_epoch_copy(typename A::Word* pair,
                                                    const typename A::Word* current,
                                                    std::uint32_t words, std::uint64_t version,
                                                    std::uint64_t epoch,
                                                    std::uint64_t seen) noexcept {
  const std::uint64_t ecount = A::load_relaxed(pair[0]);  // relaxed: own last store, even
  // [E1] announces the save. relaxed: a reader of the odd number takes the save before this one,
  // and that is published already. A commit follows each save, so one of its fences [W2] [W4] lies
  // between that save and this store, and pairs with [R6] through it. Only the first save of a life
  // may be followed by this one at once; its readers know the life by [S3].
  A::store_relaxed(pair[0], ecount + 1);
  // [E2] pairs with [R7]. Without it the older copy could be rewritten under a reader that finds
  // ecount unmoved.
  A::fence_release();
  typename A::Word* const copy = pair + saved_copy_at(ecount / 2 + 1, words);
  // relaxed, all of these: published by [E3].
  A::store_relaxed(copy[kSavedVersion], version);
  A::store_relaxed(copy[kSavedEpoch], epoch);
  A::store_relaxed(copy[kSavedEpochBefore], seen);
  for (std::uint32_t word = 0; word < words; ++word) {
    A::store_relaxed(copy[kSavedValues + word], A::load_relaxed(current[word]));
  }
  A::store_relaxed(pair[kEpochSeen], epoch);  // relaxed: only the writer looks at it
  // [E3] pairs with [R6]. Without it a reader sees the new number and old words.
  A::store_release(pair[0], ecount + 2);
}

enum class CutStatus : std::uint8_t {
  kCurrent,  // the current version; no commit has seen the epoch
  kSaved,    // what the block was before its first commit of the epoch or of a later one
  kTooLate,  // two later epochs have been seen since: the state is gone
  kBusy,     // every attempt was overtaken
};

// The reader's half; block.hpp has read_at_epoch(), which gives it one attempt at the block itself
// as `try_current()`.
template <typename A, typename TryCurrent>
[[nodiscard, gnu::always_inline]] inline CutStatus read_epoch_pair(
    const BlockParts<const typename A::Word>& block, std::uint64_t epoch, std::uint64_t* target,
    std::uint64_t& version, TryCurrent&& try_current) noexcept {
  const typename A::Word* const pair = block.cut;
  for (std::uint32_t attempt = 0; attempt < kCutAttempts; ++attempt) {
    if (attempt != 0) A::pause();
    // [R6] pairs with [E3], and through [E1] with the fences of the commit before. Without it the
    // copies could be older than the number.
    const std::uint64_t ecount = A::load_acquire(pair[0]);
    const std::uint64_t saves = ecount / 2;
    // relaxed, these and the words of the copy: between [R6] and [R7].
    const typename A::Word* copy = pair + saved_copy_at(saves, block.words);
    CutStatus status = CutStatus::kSaved;
    if (A::load_relaxed(copy[kSavedEpoch]) < epoch) {
      if (!try_current()) continue;
      status = CutStatus::kCurrent;
    } else {
      if (A::load_relaxed(copy[kSavedEpochBefore]) >= epoch) {
        copy = pair + saved_copy_at(saves + 1, block.words);
        // An announced save is writing to this copy.
        if ((ecount & 1) != 0) return CutStatus::kTooLate;
        if (A::load_relaxed(copy[kSavedEpochBefore]) >= epoch ||
            A::load_relaxed(copy[kSavedEpoch]) < epoch) {
          status = CutStatus::kTooLate;
        }
      }
      version = A::load_relaxed(copy[kSavedVersion]);
      A::copy_words(target, copy + kSavedValues, block.words);
      // [R7] pairs with [E2]. Without it ecount could be looked at before the copy.
      A::fence_acquire();
    }
    // relaxed: fenced in by [R7], or by [R2] of try_current(). A commit whose words try_current()
    // returned has published its save before [W1], so the number has moved if it saw the epoch.
    if (A::load_relaxed(pair[0]) == ecount) return status;
  }
  return CutStatus::kBusy;
}

}  // namespace meterbank
