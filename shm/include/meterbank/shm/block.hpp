// SPDX-License-Identifier: Apache-2.0
//
// The block protocol: how one writer and any number of invisible readers agree on the values of
// one instance. This header and segment_layout.hpp are the two pages to read first.
//
// ---- The idea -----------------------------------------------------------------------------------
//
// A block holds two copies of the same words and one sequence word. The low bit of the sequence
// says which copy a reader takes. A writer therefore never touches the copy that readers are being
// sent to, and a writer that dies leaves a complete copy behind, at every instruction.
//
//        seq even: readers take copy 0             seq odd: readers take copy 1
//        +-----+---------+---------+               +-----+---------+---------+
//        | 2n  | copy 0  | copy 1  |               |2n-1 | copy 0  | copy 1  |
//        +-----+---------+---------+               +-----+---------+---------+
//                  ^ readers  ^ writer                       ^ writer  ^ readers
//
// A commit is *settled*: after it both copies are equal and the sequence is even, so that at rest a
// reader only ever touches copy 0.
//
//      writer: one per block                       readers: any number, mapped read-only
//      copy 1 := new words         relaxed         s := seq                 acquire   [R1]
// [W1] seq := 2n - 1               release         target := copy[s & 1]    relaxed
// [W2] fence                       release         fence                    acquire   [R2]
//      copy 0 := the same words    relaxed         again := seq             relaxed
// [W3] seq := 2n                   release         accept iff again = s; version = (s + 1) / 2
// [W4] fence                       release
//
//      W1 and W3 pair with R1: a reader that sees the number sees the words it stands for.
//      W2 and W4 pair with R2: a reader that sees a word of the next step sees that seq moved on.
//
// Fields     seq and the copies are written by the owner of the instance only. seq is never reset,
//            not even when the slot gets a new life: 64 bits outlast 500 years of commits.
// Progress   Writer: wait-free, no loop on shared state, no failure. Reader: each attempt takes
//            words + 2 loads; read_bounded ends after kHotAttempts + kCheckpointAttempts of them.
// Crash      Death before W1: version n-1 is read. After W1: version n. There is no state in which
//            a reader has to wait for a writer, and none that a successor has to repair.
// Threads    Two writers on one block are a bug of the caller (a signal handler that commits to the
//            block its own thread is committing to is a second writer). Readers need no permission.
// Version    (seq + 1) / 2 counts commits; both numbers of one commit name the same version.
//
// ---- The checkpoint pair ------------------------------------------------------------------------
//
// A writer that never pauses can outrun every attempt. Therefore each kCheckpointEvery-th commit is
// followed by a second, rarely rewritten pair of copies with a sequence of its own, `cseq`. It has
// room for one version word in front of the values. It is never newer than seq, so one commit has
// one commit point, and a reader who fails kHotAttempts times finds it quiet.
//
//      after W4, every kCheckpointEvery commits:
//      next := pair[(cseq + 1) & 1]
//      next := version, words      relaxed         c := cseq                acquire   [R3]
// [W5] cseq := cseq + 1            release         target := pair[c & 1]    relaxed
//      (next commit's W2 and W4)                   fence                    acquire   [R4]
//                                                  accept iff cseq = c      relaxed
//      W5 pairs with R3 as W1 with R1. R4 pairs with W4 of the commits in between: the next
//      checkpoint's words come after it, so no fence of the checkpoint's own is needed.
//
// ---- The life of a slot -------------------------------------------------------------------------
//
// The slot word beside seq is generation << 2 | state. A slot is a place; a generation is one life
// of an instance in it. Whatever a reader took from a slot counts only if the generation is still
// the same afterwards.
//
//      owner                                       reader
//      membership := + 1           relaxed         (knows generation g from the catalog)
//      slot := g + 1, INIT         relaxed         copy names, words        as above
// [S2] fence                       release         fence                    acquire   [R5]
//      descriptor, first values                    slot, or membership      relaxed
// [S3] slot := g + 1, LIVE         release         accept iff its generation is still g, or
//      ...                                         membership is what it was
//      membership := + 1           relaxed
// [S4] slot := g + 1, CLOSED       release  (close; the last values stay readable)
// [S1] fence                       release
//
//      S2 pairs with R5: a word of the next life drags INIT and the new membership along. S3 and
//      S4 pair with the acquire load of slot_of(): LIVE is seen only with its descriptor, CLOSED
//      only with the last values. S1 pairs with the acquire load of membership at look-up: who
//      sees the number of the next life sees that this one is closed. A sweep over a whole set may
//      compare the one membership word instead of a generation per slot, for rows that were LIVE
//      at a look-up that loaded membership first.
//
// Blocks of sets with cuts have an epoch pair as well: epoch_pair.hpp, labels [E1..E3], [R6], [R7].
//
// docs/protocol.md has the proofs; tests/model/ checks this very source and the models of it, with
// each ordering removed in turn.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "meterbank/shm/atomics.hpp"

namespace meterbank {

inline constexpr std::uint32_t kHotAttempts = 5;
inline constexpr std::uint32_t kCheckpointAttempts = 4;
inline constexpr std::uint32_t kBlockWordsMax = 4096;

// Of a checkpoint pair: cseq, then two of (version, words).
constexpr std::uint32_t checkpoint_words(std::uint32_t words) noexcept {
  return 1 + 2 * (words + 1);
}
// One copy of an epoch pair: (version, epoch, epoch before, words).
constexpr std::uint32_t saved_words(std::uint32_t words) noexcept { return 3 + words; }
// Of an epoch pair: ecount, the epoch that the writer saw last, then two copies.
constexpr std::uint32_t cut_words(std::uint32_t words) noexcept {
  return 2 + 2 * saved_words(words);
}

enum class SlotState : std::uint64_t { kFree = 0, kInit = 1, kLive = 2, kClosed = 3 };

struct SlotWord {
  std::uint64_t generation = 0;  // 62 bits, grows by one per life, never returns
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

// A few words of a block and what they are to hold.
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

// Where the parts of one block lie. `W` is the policy's word, const for readers.
template <typename W>
struct BlockParts {
  W* seq = nullptr;
  W* slot = nullptr;
  W* copy0 = nullptr;
  W* copy1 = nullptr;       // copy0 itself for independent counters, which have one copy
  W* checkpoint = nullptr;  // cseq, then two copies of (version, words); null: the set has none
  std::uint32_t words = 0;
  W* cut = nullptr;  // the epoch pair, behind the checkpoint pair; null: the set has no cuts
};

// The owner's end of one block, 24 bytes: it is read at every commit, so it should not cost more
// cache than the block does. A value: copying it copies the right to write, so the library keeps it
// inside Instance. Thread safety: one thread at a time. Progress: every function is wait-free.
template <typename A>
class BlockWriter {
 public:
  using Word = typename A::Word;

  BlockWriter() noexcept = default;
  // The parts lie in one group, hence in one extent, in the order of BlockParts.
  explicit constexpr BlockWriter(const BlockParts<Word>& parts) noexcept
      : seq_(parts.seq),
        copy1_(distance(parts, parts.copy1)),
        checkpoint_(parts.checkpoint == nullptr ? 0 : distance(parts, parts.checkpoint)),
        copy0_(static_cast<std::uint16_t>(distance(parts, parts.copy0))),
        words_(static_cast<std::uint16_t>(parts.words)),
        words_in_place_(parts.copy0 == parts.copy1 ? words_ : std::uint16_t{0}),
        words_plain_(parts.cut == nullptr ? words_ : std::uint16_t{0}) {}

  [[nodiscard]] std::uint32_t words() const noexcept { return words_; }
  // All but the slot word and the epoch pair.
  [[nodiscard]] BlockParts<Word> parts() const noexcept {
    Word* const checkpoint = checkpoint_ == 0 ? nullptr : seq_ + checkpoint_;
    return {
        .seq = seq_, .copy0 = copy0(), .copy1 = copy1(), .checkpoint = checkpoint, .words = words_};
  }
  // Independent counters have one copy: there is nothing to commit, words are written in place.
  [[nodiscard]] bool is_in_place(std::uint32_t word) const noexcept {
    return word < words_in_place_;
  }
  [[nodiscard]] Word& word(std::uint32_t word) const noexcept { return copy0()[word]; }

  // relaxed: the one writer reads back its own last store.
  [[nodiscard]] std::uint64_t value(std::uint32_t word) const noexcept {
    return A::load_relaxed(copy0()[word]);
  }

  // One commit that changes one word. A word outside the block is ignored.
  void set(std::uint32_t word, std::uint64_t value) const noexcept {
    if (__builtin_expect(word < words_plain_, 1) != 0) return set_one(word, value);
    set_with_cut(*this, word, value);
  }
  void add(std::uint32_t word, std::uint64_t delta) const noexcept {
    if (__builtin_expect(word < words_plain_, 1) != 0) return set_one(word, value(word) + delta);
    add_with_cut(*this, word, delta);
  }

  // One commit of a few words that may lie far from each other. Precondition: each `word` < words,
  // as those that a schema gives to the counters of its own blocks; and no update is open.
  template <std::size_t kMost>
  void commit_words(const WordList<kMost>& list) const noexcept {
    if (words_plain_ != words_ && !look_at_epoch(list.entries[0].word)) return;
    Word* const seq_word = seq_;
    Word* const first = copy0();
    Word* const second = copy1();
    const std::uint64_t seq = A::load_relaxed(*seq_word);  // relaxed: own last store
    for (std::size_t i = 0; i < list.count; ++i) {
      A::store_relaxed(second[list.entries[i].word],
                       list.entries[i].value);  // relaxed: before [W1]
    }
    A::store_release(*seq_word, seq + 1);  // [W1] as in set()
    A::fence_release();                    // [W2] as in set()
    for (std::size_t i = 0; i < list.count; ++i) {
      A::store_relaxed(first[list.entries[i].word], list.entries[i].value);  // relaxed: before [W3]
    }
    A::store_release(*seq_word, seq + 2);  // [W3] as in set()
    A::fence_release();                    // [W4] as in set()
    if (is_checkpoint_due(seq + 2)) write_checkpoint(*this, seq + 2);
  }

  // Several words, one commit: written into copy 1, which no reader is being sent to, until
  // commit() or abort(). Before the commit nothing is visible, and a crash loses only this update.
  // Its second half rewrites all words from the first to the last that changed.
  class Update {
   public:
    explicit Update(const BlockWriter& writer) noexcept : writer_(writer) {}

    // Words outside the block are ignored, and read as zero.
    void set(std::uint32_t word, std::uint64_t value) noexcept {
      if (word < writer_.words_) {
        A::store_relaxed(writer_.copy1()[word], value);  // relaxed: published by [W1] of commit()
      }
      // Noted even if the block does not have the word: then the range of constants is a constant.
      // So last_ may be any number, and copy_changed() ends where the block does.
      first_ = std::min(first_, word);
      last_ = std::max(last_, word);
    }
    [[nodiscard]] std::uint64_t value(std::uint32_t word) const noexcept {
      if (word >= writer_.words_) return 0;
      return A::load_relaxed(writer_.copy1()[word]);  // relaxed: own last store
    }
    void commit() noexcept {
      if (__builtin_expect(first_ < writer_.words_plain_, 1) != 0) return publish();
      publish_with_cut(writer_.seq_, writer_.copy1_, writer_.checkpoint_, writer_.copy0_,
                       writer_.words_, std::min(last_, kBlockWordsMax) << 16 | first_);
    }
    // Takes back what set() staged. Words in place keep their new values: there is no second copy
    // to restore them from. Storing them again could undo additions that other threads and signal
    // handlers make to the words between.
    void abort() noexcept {
      if (!is_in_place()) copy_changed(writer_.copy1(), writer_.copy0());
    }
    [[nodiscard]] bool is_in_place() const noexcept { return writer_.is_in_place(0); }

   private:
    void publish() noexcept {
      const std::uint64_t seq = A::load_relaxed(*writer_.seq_);  // relaxed: own last store
      A::store_release(*writer_.seq_, seq + 1);                  // [W1] as in set()
      A::fence_release();                                        // [W2] as in set()
      copy_changed(writer_.copy0(), writer_.copy1());
      A::store_release(*writer_.seq_, seq + 2);  // [W3] as in set()
      A::fence_release();                        // [W4] as in set()
      if (is_checkpoint_due(seq + 2)) write_checkpoint(writer_, seq + 2);
    }
    // In pieces, because an update whose address is taken lives in memory.
    [[gnu::noinline]] static void publish_with_cut(Word* seq, std::uint32_t copy1,
                                                   std::uint32_t checkpoint, std::uint32_t copy0,
                                                   std::uint32_t words,
                                                   std::uint32_t changed) noexcept {
      BlockWriter writer;
      writer.seq_ = seq;
      writer.copy1_ = copy1;
      writer.checkpoint_ = checkpoint;
      writer.copy0_ = static_cast<std::uint16_t>(copy0);
      writer.words_ = static_cast<std::uint16_t>(words);
      Update update(writer);
      update.first_ = changed & 0xffff;
      update.last_ = changed >> 16;
      if (writer.look_at_epoch(update.first_)) update.publish();
    }
    // relaxed: ordered by the caller.
    void copy_changed(Word* target, const Word* source) noexcept {
      const std::uint32_t end = last_ < writer_.words_ ? last_ + 1 : writer_.words_;
      std::uint32_t word = first_;
      for (; word + 4 <= end; word += 4) {  // compilers do not unroll loops of atomics
        A::store_relaxed(target[word], A::load_relaxed(source[word]));
        A::store_relaxed(target[word + 1], A::load_relaxed(source[word + 1]));
        A::store_relaxed(target[word + 2], A::load_relaxed(source[word + 2]));
        A::store_relaxed(target[word + 3], A::load_relaxed(source[word + 3]));
      }
      for (; word < end; ++word) A::store_relaxed(target[word], A::load_relaxed(source[word]));
      first_ = kBlockWordsMax;
      last_ = 0;
    }

    const BlockWriter writer_;  // a copy, so that the compiler may keep all of this in registers
    std::uint32_t first_ = kBlockWordsMax;
    std::uint32_t last_ = 0;
  };

  // First commit of a life: all words at once, and the checkpoint with them, so that a bounded
  // read never meets the checkpoint of an earlier life. Called between [S2] and [S3].
  template <typename ValueOf>
  void commit_first(ValueOf&& value_of) const noexcept {
    Update update(*this);
    for (std::uint32_t word = 0; word < words_; ++word) update.set(word, value_of(word));
    update.commit();
    write_checkpoint(*this, A::load_relaxed(*seq_));  // relaxed: own last store
    // At any epoch before this one, the instance is shown with the values that it begins with: what
    // the pair holds of the slot's earlier life must not be taken for them.
    if (words_plain_ != words_) save(*this, A::epoch(), 0);
  }

 private:
  // Commits that look at the epoch first. One comparison with words_plain_ keeps them, and words
  // outside the block, off the path of all others; the calls are the last thing there.
  [[gnu::noinline]] static void set_with_cut(const BlockWriter& block, std::uint32_t word,
                                             std::uint64_t value) noexcept {
    if (block.look_at_epoch(word)) block.set_one(word, value);
  }
  [[gnu::noinline]] static void add_with_cut(const BlockWriter& block, std::uint32_t word,
                                             std::uint64_t delta) noexcept {
    if (block.look_at_epoch(word)) block.set_one(word, block.value(word) + delta);
  }
  [[nodiscard]] bool look_at_epoch(std::uint32_t word) const noexcept {
    if (word >= words_) return false;
    // After everything that the caller saw, so that what it saw belongs to no later epoch than this
    // commit; before the first store that the commit publishes.
    const std::uint64_t epoch = A::epoch();
    const std::uint64_t seen = A::load_relaxed(cut_pair()[1]);  // relaxed: own last store
    if (__builtin_expect(epoch != seen, 0) != 0) save(*this, epoch, seen);
    return true;
  }

  void set_one(std::uint32_t word, std::uint64_t value) const noexcept {
    Word* const seq_word = seq_;  // loaded once: compilers load members again after every atomic
    Word* const first = copy0() + word;
    Word* const second = copy1() + word;
    // relaxed: own last store. The copies are ordered by the labels at the head of this file.
    const std::uint64_t seq = A::load_relaxed(*seq_word);
    A::store_relaxed(*second, value);
    A::store_release(*seq_word, seq + 1);  // [W1] pairs with [R1]: the commit point.
    // [W2] pairs with [R2]. Without it a reader sent to copy 0 before could accept a mix of the
    // old words and this store, because the odd number might become visible after it.
    A::fence_release();
    A::store_relaxed(*first, value);
    // [W3] pairs with [R1]. Without it a reader sees the even number and old words of copy 0.
    A::store_release(*seq_word, seq + 2);
    // [W4] pairs with [R2]. Without it the next commit's first store to copy 1 could be seen by a
    // reader of the odd number that has not yet seen this even one.
    A::fence_release();
    if (is_checkpoint_due(seq + 2)) write_checkpoint(*this, seq + 2);
  }

  static constexpr std::uint32_t distance(const BlockParts<Word>& parts,
                                          const Word* part) noexcept {
    return static_cast<std::uint32_t>(part - parts.seq);
  }
  [[nodiscard]] Word* copy0() const noexcept { return seq_ + copy0_; }
  [[nodiscard]] Word* copy1() const noexcept { return seq_ + copy1_; }
  [[nodiscard]] Word* cut_pair() const noexcept {
    return seq_ + checkpoint_ + checkpoint_words(words_);
  }

  // seq grows by two a commit.
  [[nodiscard]] static bool is_checkpoint_due(std::uint64_t seq) noexcept {
    return (seq & (2 * A::kCheckpointEvery - 1)) == 0;
  }

  // After the commit, never before: a checkpoint newer than seq would be a second commit point.
  [[gnu::noinline, gnu::cold]] static void write_checkpoint(BlockWriter block,
                                                            std::uint64_t seq) noexcept {
    if (block.checkpoint_ == 0) return;
    Word* const pair = block.seq_ + block.checkpoint_;
    const std::uint64_t cseq = A::load_relaxed(pair[0]);  // relaxed: own last store
    Word* next = pair + 1 + ((cseq + 1) & 1) * (block.words_ + 1);
    A::store_relaxed(next[0], (seq + 1) / 2);  // relaxed: published by [W5]
    for (std::uint32_t word = 0; word < block.words_; ++word) {
      A::store_relaxed(next[1 + word], block.value(word));  // relaxed: as above
    }
    // [W5] pairs with [R3]. Without it a reader sees the new number and old words.
    A::store_release(pair[0], cseq + 1);
  }

  // Keeps the state before a commit, the first one to see `epoch`; the one before it saw `seen`.
  [[gnu::noinline, gnu::cold]] static void save(BlockWriter block, std::uint64_t epoch,
                                                std::uint64_t seen) noexcept {
    Word* const pair = block.cut_pair();
    const std::uint64_t ecount = A::load_relaxed(pair[0]);  // relaxed: own last store, even
    // [E1] announces the save. relaxed: what a reader of the odd number takes is the slot of the
    // save before, and that is published already. A commit follows each save, so one of its fences
    // [W2] [W4] lies between that slot and this store, and pairs with [R6] through it. Only the
    // first save of a life may be followed by this one at once; its readers know the life by [S3].
    A::store_relaxed(pair[0], ecount + 1);
    // [E2] pairs with [R7]. Without it the older slot could be rewritten under a reader that finds
    // ecount unmoved.
    A::fence_release();
    Word* const slot = pair + 2 + ((ecount / 2 + 1) & 1) * saved_words(block.words_);
    // relaxed, all of these: published by [E3].
    A::store_relaxed(slot[0], A::load_relaxed(*block.seq_) / 2);
    A::store_relaxed(slot[1], epoch);
    A::store_relaxed(slot[2], seen);
    for (std::uint32_t word = 0; word < block.words_; ++word) {
      A::store_relaxed(slot[3 + word], block.value(word));
    }
    A::store_relaxed(pair[1], epoch);  // relaxed: only the writer looks at it
    // [E3] pairs with [R6]. Without it a reader sees the new number and old words.
    A::store_release(pair[0], ecount + 2);
  }

  static_assert(kBlockWordsMax * 8 + 16 <= 0xffff, "the distance to copy 0 of a tile's last lane");

  Word* seq_ = nullptr;
  std::uint32_t copy1_ = 0;       // words from seq
  std::uint32_t checkpoint_ = 0;  // 0: none
  std::uint16_t copy0_ = 0;
  std::uint16_t words_ = 0;
  std::uint16_t words_in_place_ = 0;  // all or none
  std::uint16_t words_plain_ = 0;     // that a commit need not look at the epoch for: all or none
};

enum class ReadStatus : std::uint8_t {
  kFresh,       // the current version
  kCheckpoint,  // an older version, at most a few thousand commits behind a writer at full rate
  kBusy,        // every attempt was overtaken; the target holds nothing
};

struct ReadResult {
  ReadStatus status = ReadStatus::kBusy;
  std::uint64_t version = 0;   // commits in the life of the slot's memory; comparable per slot
  std::uint32_t attempts = 0;  // failed ones
};

// One attempt. True: `target` holds version (s + 1) / 2, stored to `version`. Wait-free.
template <typename A>
[[nodiscard, gnu::always_inline]] inline bool try_read(
    const BlockParts<const typename A::Word>& block, std::uint64_t* target,
    std::uint64_t& version) noexcept {
  // [R1] pairs with [W1] and [W3]. Without it the copy below could be older than the number.
  const std::uint64_t seq = A::load_acquire(*block.seq);
  A::copy_words(target, (seq & 1) == 0 ? block.copy0 : block.copy1, block.words);
  // [R2] pairs with [W2] and [W4]. Without it the second look at seq could happen before the copy,
  // and words of the next commit would pass. An acquire on that second load would not help.
  A::fence_acquire();
  version = (seq + 1) / 2;
  return A::load_relaxed(*block.seq) == seq;  // relaxed: fenced in by [R2]
}

template <typename A>
[[nodiscard]] bool try_read_checkpoint(const BlockParts<const typename A::Word>& block,
                                       std::uint64_t* target, std::uint64_t& version) noexcept {
  const typename A::Word* pair = block.checkpoint;
  const std::uint64_t cseq = A::load_acquire(pair[0]);  // [R3] pairs with [W5], as [R1]
  const typename A::Word* copy = pair + 1 + (cseq & 1) * (block.words + 1);
  version = A::load_relaxed(copy[0]);  // relaxed: between [R3] and [R4] like the words
  A::copy_words(target, copy + 1, block.words);
  A::fence_acquire();                       // [R4] pairs with [W4], as [R2]
  return A::load_relaxed(pair[0]) == cseq;  // relaxed: fenced in by [R4]
}

// What read_bounded() does after its first attempt was overtaken.
template <typename A>
[[nodiscard, gnu::noinline, gnu::cold]] ReadResult read_again(
    const BlockParts<const typename A::Word>& block, std::uint64_t* target,
    std::uint64_t version_at_least) noexcept {
  ReadResult result;
  for (result.attempts = 1; result.attempts < kHotAttempts; ++result.attempts) {
    A::pause();
    if (try_read<A>(block, target, result.version)) {
      result.status = ReadStatus::kFresh;
      return result;
    }
  }
  if (block.checkpoint == nullptr) return result;
  for (; result.attempts < kHotAttempts + kCheckpointAttempts; ++result.attempts) {
    if (!try_read_checkpoint<A>(block, target, result.version)) continue;
    if (result.version < version_at_least) break;
    result.status = ReadStatus::kCheckpoint;
    return result;
  }
  return result;
}

// Bounded: at most kHotAttempts + kCheckpointAttempts attempts. A checkpoint older than
// `version_at_least` (what this reader returned before) is not returned: time never runs backwards.
// A fresh version needs no such test: the loads of one word by one reader never run backwards.
template <typename A>
[[nodiscard]] ReadResult read_bounded(const BlockParts<const typename A::Word>& block,
                                      std::uint64_t* target,
                                      std::uint64_t version_at_least) noexcept {
  ReadResult result;
  if (try_read<A>(block, target, result.version)) {
    result.status = ReadStatus::kFresh;
    return result;
  }
  return read_again<A>(block, target, version_at_least);
}

// ---- The slot word ----

template <typename A>
[[nodiscard]] SlotWord slot_of(const typename A::Word& slot) noexcept {
  // Acquire: LIVE or CLOSED is seen only together with the descriptor it stands for [S3].
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

// Owner, one at a time: opens the next life. The descriptor and commit_first() follow, then
// slot_live(). Returns the new generation.
template <typename A>
std::uint64_t slot_begin(typename A::Word& membership, typename A::Word& slot) noexcept {
  // relaxed, all three: only the owner stores them, and [S2] puts them before the words.
  A::store_relaxed(membership, A::load_relaxed(membership) + 1);
  const std::uint64_t generation = SlotWord::of(A::load_relaxed(slot)).generation + 1;
  A::store_relaxed(slot, SlotWord{generation, SlotState::kInit}.raw());
  // [S2] pairs with [R5]. Without it a word of the next life passes under the old slot word, or in
  // a sweep under the old membership.
  A::fence_release();
  return generation;
}

template <typename A>
void slot_live(typename A::Word& slot, std::uint64_t generation) noexcept {
  // [S3] pairs with slot_of(). Without it LIVE is seen with a half-written descriptor.
  A::store_release(slot, SlotWord{generation, SlotState::kLive}.raw());
}

template <typename A>
void slot_close(typename A::Word& membership, typename A::Word& slot) noexcept {
  // relaxed, both: only the owner stores them; readers that miss it see a last life a little
  // longer.
  A::store_relaxed(membership, A::load_relaxed(membership) + 1);
  const std::uint64_t generation = SlotWord::of(A::load_relaxed(slot)).generation;
  // [S4] pairs with slot_of(). Without it CLOSED of an independent instance could be seen before
  // its last increment.
  A::store_release(slot, SlotWord{generation, SlotState::kClosed}.raw());
  // [S1] pairs with the acquire load of membership at look-up. Without it a look-up could pair the
  // membership of the next life with this LIVE, and a sweep would accept the next life's words.
  A::fence_release();
}

}  // namespace meterbank
