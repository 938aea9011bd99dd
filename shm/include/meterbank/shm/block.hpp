// SPDX-License-Identifier: Apache-2.0
//
// The block protocol: how one writer and any number of read-only readers agree on the values of
// one instance. Read this header first, and segment_layout.hpp second.
//
// ---- The idea -----------------------------------------------------------------------------------
//
// A block holds two copies of the same words and one sequence word, seq. The low bit of seq says
// which copy readers take. The writer only ever changes the other copy, so a writer that dies at
// any instruction leaves a complete copy behind.
//
//        seq even: readers take copy 0             seq odd: readers take copy 1
//        +-----+---------+---------+               +-----+---------+---------+
//        | 2n  | copy 0  | copy 1  |               |2n-1 | copy 0  | copy 1  |
//        +-----+---------+---------+               +-----+---------+---------+
//                  ^ readers  ^ writer                       ^ writer  ^ readers
//
// Every commit *settles* the block: after it both copies are equal and seq is even, so between
// commits a reader touches copy 0 only.
//
//      writer: one per block                       readers: any number, mapped read-only
//      copy 1 := new words         relaxed         s := seq                 acquire   [R1]
// [W1] seq := 2n - 1               release         target := copy[s & 1]    relaxed
// [W2] fence                       release         fence                    acquire   [R2]
//      copy 0 := the same words    relaxed         again := seq             relaxed
// [W3] seq := 2n                   release         accept iff again = s; version = (s + 1) / 2
// [W4] fence                       release
//
//      W1 and W3 pair with R1: a reader that sees a value of seq also sees the words stored before
//      it. W2 and W4 pair with R2: a reader that copies a word stored after one of these fences
//      finds, in its second load, that seq has changed.
//
// Fields         Only the owner of the instance writes seq and the copies. seq is never reset, even
//                when the slot is reused: 64 bits outlast 300 years of commits.
// Crash          If the writer dies before W1, readers get version n-1; after W1, version n.
//                After a crash no reader waits and nothing needs repair.
// Thread safety  Only one thread at a time may write a block; the caller must ensure this. A signal
//                handler is a second writer if it commits to the block that its own thread is
//                committing to. Any number of readers, in any process, need no permission to write.
// Errors         set(), add() and Update ignore words outside the block; word(), value() and
//                commit_words() expect words inside it. A reader gets ReadStatus.
// Progress       Writer: wait-free, no loop on shared state, no failure. Reader: each attempt is
//                wait-free; read_bounded() ends after kHotAttempts + kCheckpointAttempts of them.
// Cost           A commit of one word: four stores; on x86-64 no locked instruction and no fence.
//                A read attempt: words + 2 loads.
// Lifetime       A block stays where it is while its extent is mapped; a BlockWriter and
//                BlockParts must not outlive the mapping.
// Units          A version is a count of commits, (seq + 1) / 2. Both values of seq in one commit,
//                2n - 1 and 2n, give version n.
//
// Three headers hold the rest of a block:
//   slot.hpp        the slot word: which life of the slot the values belong to
//   checkpoint.hpp  the checkpoint pair: older values for a reader that the writer outruns
//   epoch_pair.hpp  the epoch pair: earlier values, for reads of many blocks at one moment
//
// docs/protocol.md has the proofs. tests/model/ checks this source and models of it, and shows that
// these checks notice if any one ordering is removed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "meterbank/shm/atomics.hpp"
#include "meterbank/shm/block_parts.hpp"
#include "meterbank/shm/checkpoint.hpp"
#include "meterbank/shm/epoch_pair.hpp"

namespace meterbank {

inline constexpr std::uint32_t kHotAttempts = 5;
inline constexpr std::uint32_t kCheckpointAttempts = 4;

// ---- Writer ----

// Write access to one block, which it does not own: Instance does. Copies of a BlockWriter write to
// the same block, so only one thread at a time may use any of them. A BlockWriter has only 24
// bytes, because every commit reads its fields.
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
  // Returns all parts except the slot word and the epoch pair.
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

  // One commit that changes one word.
  void set(std::uint32_t word, std::uint64_t value) const noexcept {
    if (__builtin_expect(word < words_plain_, 1) != 0) return set_one(word, value);
    set_with_cut(*this, word, value);
  }
  void add(std::uint32_t word, std::uint64_t delta) const noexcept {
    if (__builtin_expect(word < words_plain_, 1) != 0) return set_one(word, value(word) + delta);
    add_with_cut(*this, word, delta);
  }

  // One commit of a few words that may lie far from each other. Precondition: each `word` < words,
  // as the schema guarantees, and no update is open.
  template <std::size_t kMost>
  void commit_words(const WordList<kMost>& list) const noexcept {
    if (words_plain_ != words_ && !look_at_epoch(list.entries[0].word)) return;
    const auto store_to = [&list](Word* copy) {
      list.apply([copy](std::uint32_t word, std::uint64_t value) {
        A::store_relaxed(copy[word], value);  // relaxed: published by [W1], then by [W3]
      });
    };
    Word* const first = copy0();
    Word* const second = copy1();
    commit([&] { store_to(second); }, [&] { store_to(first); });
  }

  class SparseUpdate;

  // Changes several words in one commit. Until commit() or abort() the new values are in copy 1,
  // which readers are not using. Before the commit nothing is visible, and a crash loses only this
  // update. The second half of the commit rewrites all words from the first changed to the last.
  class Update {
   public:
    explicit Update(const BlockWriter& writer) noexcept : writer_(writer) {}
    // An update that was begun elsewhere and has changed words from `first` to `last`.
    Update(const BlockWriter& writer, std::uint32_t first, std::uint32_t last) noexcept
        : writer_(writer), first_(first), last_(last) {}

    // Words outside the block are ignored, and read as zero.
    void set(std::uint32_t word, std::uint64_t value) noexcept {
      if (word < writer_.words_) {
        A::store_relaxed(writer_.copy1()[word], value);  // relaxed: published by [W1] of commit()
      }
      // The range includes words outside the block, so that constant arguments give a range that
      // the compiler knows. Therefore last_ may be outside the block; copy_changed() stops at the
      // end of the block.
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
    // Discards the values that set() stored in copy 1. Words in place keep their new values,
    // because they have no second copy. Writing them back could undo additions of other threads
    // and signal handlers to words between the first and the last changed one.
    void abort() noexcept {
      if (!is_in_place()) copy_changed(writer_.copy1(), writer_.copy0());
    }
    [[nodiscard]] bool is_in_place() const noexcept { return writer_.is_in_place(0); }

   private:
    friend class SparseUpdate;

    [[gnu::always_inline]] void publish() noexcept {
      Word* const target = writer_.copy0();
      const Word* const source = writer_.copy1();
      writer_.commit([] {}, [&]() __attribute__((always_inline)) { copy_changed(target, source); });
    }
    // Takes the fields one by one: passing `this` would force the update into memory.
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
      Update update(writer, changed & 0xffff, changed >> 16);
      if (writer.look_at_epoch(update.first_)) update.publish();
    }
    // relaxed: stores to copy 0 are published by [W3]; stores to copy 1 publish nothing.
    [[gnu::always_inline]] void copy_changed(Word* target, const Word* source) noexcept {
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

  // An update that also changes a few words far from the others, such as the bucket of a value in a
  // distribution. The words between are not rewritten for their sake.
  class SparseUpdate : public Update {
   public:
    explicit SparseUpdate(const BlockWriter& writer) noexcept : Update(writer) {}

    // Like set().
    void set_apart(std::uint32_t word, std::uint64_t value) noexcept {
      if (word >= this->writer_.words_ || apart_.is_full()) return this->set(word, value);
      A::store_relaxed(this->writer_.copy1()[word], value);  // relaxed: published by [W1]
      apart_.add(word);
    }
    void commit() noexcept {
      if (apart_.empty()) return Update::commit();
      publish_sparse(this->writer_, this->first_, this->last_, std::exchange(apart_, {}));
    }
    void abort() noexcept {
      if (!this->is_in_place()) copy(this->writer_.copy1(), this->writer_.copy0(), apart_);
      apart_ = {};
      Update::abort();
    }

   private:
    // Takes copies: the address of an update would force it into memory.
    [[gnu::noinline]] static void publish_sparse(BlockWriter writer, std::uint32_t first,
                                                 std::uint32_t last, WordPositions apart) noexcept {
      const bool has_cut = writer.words_plain_ != writer.words_;
      if (has_cut && !writer.look_at_epoch(0)) return;
      Update range(writer, first, last);
      Word* const target = writer.copy0();
      const Word* const source = writer.copy1();
      writer.commit([] {},
                    [&] {
                      range.copy_changed(target, source);
                      copy(target, source, apart);
                    });
    }
    // relaxed: stores to copy 0 are published by [W3]; stores to copy 1 publish nothing.
    static void copy(Word* target, const Word* source, WordPositions apart) noexcept {
      apart.apply([=](std::uint32_t word) {
        A::store_relaxed(target[word], A::load_relaxed(source[word]));
      });
    }

    WordPositions apart_;
  };

  // Makes the first commit of a life. It stores all words and the checkpoint, so that a bounded
  // read never gets a checkpoint of an earlier life. Call it between [S2] and [S3] (slot.hpp).
  template <typename ValueOf>
  void commit_first(ValueOf&& value_of) const noexcept {
    Update update(*this);
    for (std::uint32_t word = 0; word < words_; ++word) update.set(word, value_of(word));
    update.commit();
    write_checkpoint(*this, A::load_relaxed(*seq_));  // relaxed: own last store
    // Readers at an earlier epoch get these first values. Otherwise they could get values of the
    // slot's earlier life.
    if (words_plain_ != words_) save(*this, A::epoch(), 0);
  }

 private:
  // All commits are made here. `store_to_copy1()` stores the new words, `store_to_copy0()` the same
  // words, both relaxed.
  template <typename StoreToCopy1, typename StoreToCopy0>
  [[gnu::always_inline]] void commit(StoreToCopy1&& store_to_copy1,
                                     StoreToCopy0&& store_to_copy0) const noexcept {
    Word* const seq_word = seq_;  // loaded once: compilers load members again after every atomic
    const std::uint64_t seq = A::load_relaxed(*seq_word);  // relaxed: own last store
    store_to_copy1();
    // [W1] pairs with [R1]: the commit point. Without it a reader sees the odd number and old words
    // of copy 1.
    A::store_release(*seq_word, seq + 1);
    // [W2] pairs with [R2]. Without it a reader that was sent to copy 0 earlier could accept a mix
    // of old words and the next stores, because those stores might become visible before the
    // odd number.
    A::fence_release();
    store_to_copy0();
    // [W3] pairs with [R1]. Without it a reader sees the even number and old words of copy 0.
    A::store_release(*seq_word, seq + 2);
    // [W4] pairs with [R2]. Without it a reader of copy 1 could see the next commit's first store
    // to that copy before it sees this even number, and accept it.
    A::fence_release();
    if (is_checkpoint_due(seq + 2)) write_checkpoint(*this, seq + 2);
  }

  void set_one(std::uint32_t word, std::uint64_t value) const noexcept {
    Word* const first = copy0() + word;
    Word* const second = copy1() + word;
    commit([&] { A::store_relaxed(*second, value); },  // relaxed: published by [W1]
           [&] { A::store_relaxed(*first, value); });  // relaxed: published by [W3]
  }

  // These functions load the epoch before they commit. Their callers make one comparison with
  // words_plain_, which keeps this code, and words outside the block, off the common path. The
  // calls to these functions are tail calls.
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
    // The epoch is loaded after everything that the caller has read, so that the commit's epoch is
    // not earlier than the epoch of any value that the caller read. It is loaded before the first
    // store that the commit publishes.
    const std::uint64_t epoch = A::epoch();
    const std::uint64_t seen = A::load_relaxed(cut_pair()[kEpochSeen]);  // relaxed: own last store
    if (__builtin_expect(epoch != seen, 0) != 0) save(*this, epoch, seen);
    return true;
  }
  [[gnu::noinline, gnu::cold]] static void save(BlockWriter block, std::uint64_t epoch,
                                                std::uint64_t seen) noexcept {
    const std::uint64_t version = A::load_relaxed(*block.seq_) / 2;  // relaxed: own last store
    // Takes no address of `block`: each commit of a set with cuts would have to store it first.
    store_epoch_copy<A>(block.cut_pair(), block.copy0(), block.words_, version, epoch, seen);
  }

  // Each commit adds two to seq.
  [[nodiscard]] static bool is_checkpoint_due(std::uint64_t seq) noexcept {
    return (seq & (2 * A::kCheckpointEvery - 1)) == 0;
  }
  [[gnu::noinline, gnu::cold]] static void write_checkpoint(BlockWriter block,
                                                            std::uint64_t seq) noexcept {
    if (block.checkpoint_ == 0) return;
    store_checkpoint<A>(block.seq_ + block.checkpoint_, block.copy0(), block.words_, (seq + 1) / 2);
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

  static_assert(kBlockWordsMax * 8 + 16 <= 0xffff, "the distance to copy 0 of a tile's last lane");

  Word* seq_ = nullptr;
  std::uint32_t copy1_ = 0;       // words from seq
  std::uint32_t checkpoint_ = 0;  // 0: none
  std::uint16_t copy0_ = 0;
  std::uint16_t words_ = 0;
  std::uint16_t words_in_place_ = 0;  // all or none
  std::uint16_t words_plain_ = 0;     // changed without a look at the epoch: all or none
};
static_assert(sizeof(BlockWriter<StdAtomics>) == 24);

// ---- Reader ----

enum class ReadStatus : std::uint8_t {
  kFresh,       // the current version
  kCheckpoint,  // an older version, at most a few thousand commits behind a writer at full rate
  kBusy,        // every attempt was overtaken; the target holds nothing
};

struct ReadResult {
  ReadStatus status = ReadStatus::kBusy;
  std::uint64_t version = 0;   // commits in the life of the slot's memory; comparable per slot
  std::uint32_t attempts = 0;  // failed attempts
};

// One attempt. Returns true if `target` holds one version of the block; `version` is its number.
template <typename A>
[[nodiscard, gnu::always_inline]] inline bool try_read(
    const BlockParts<const typename A::Word>& block, std::uint64_t* target,
    std::uint64_t& version) noexcept {
  // [R1] pairs with [W1] and [W3]. Without it the copy below could be older than the number.
  const std::uint64_t seq = A::load_acquire(*block.seq);
  A::copy_words(target, (seq & 1) == 0 ? block.copy0 : block.copy1, block.words);
  // [R2] pairs with [W2] and [W4]. Without it seq could be loaded again before the copy is made,
  // and words of the next commit would be accepted. An acquire on that second load would not help.
  A::fence_acquire();
  version = (seq + 1) / 2;
  return A::load_relaxed(*block.seq) == seq;  // relaxed: ordered by [R2]
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

// Reads the block in at most kHotAttempts + kCheckpointAttempts attempts. `version_at_least` is the
// version that this reader got last: an older checkpoint is rejected, so that versions never go
// backwards. A fresh version needs no such test: one reader's loads of seq are in order.
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

// Reads the state of the block at epoch `epoch`, in at most kCutAttempts attempts. Preconditions:
// the provider has declared `epoch` settled (settled_epoch), and the block has an epoch pair.
template <typename A>
[[nodiscard, gnu::always_inline]] inline CutStatus read_at_epoch(
    const BlockParts<const typename A::Word>& block, std::uint64_t epoch, std::uint64_t* target,
    std::uint64_t& version) noexcept {
  return read_epoch_pair<A>(block, epoch, target, version,
                            [&]() noexcept { return try_read<A>(block, target, version); });
}

}  // namespace meterbank
