// SPDX-License-Identifier: Apache-2.0
//
// What is explored: one writer and one reader of one block, both running block.hpp itself. Every
// value is a function of the version (or of the life) it belongs to, so a mix shows at once.
#pragma once

#include "relacy_atomics.hpp"

namespace meterbank {

inline constexpr std::uint32_t kWords = 2;

// What the executions of a run reached. A run that never got to the interesting place proves
// nothing, so the program asks for each of these to have happened.
struct Reached {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t checkpoint = 0;
  std::uint64_t busy = 0;
};
inline Reached reached;

// A long gap between two steps of the reader is rare when every step of the writer may be
// interrupted. So each part of its work is done in one go in half of the executions.
class PerhapsInOneGo {
 public:
  PerhapsInOneGo() : in_one_go_(rl::rand(2) != 0) {
    if (in_one_go_) rl::ctx().disable_preemption();
  }
  ~PerhapsInOneGo() {
    if (in_one_go_) rl::ctx().enable_preemption();
  }
  PerhapsInOneGo(const PerhapsInOneGo&) = delete;
  PerhapsInOneGo& operator=(const PerhapsInOneGo&) = delete;

 private:
  bool in_one_go_;
};

// The memory of one block in one slot. What start() stores, the explorer orders before both
// threads.
template <std::uint32_t kCount>
struct BlockMemory {
  ModelWord seq;
  ModelWord slot;
  ModelWord membership;
  ModelWord directory;
  ModelWord descriptor;
  ModelWord counter;
  ModelWord copies[2][kCount];
  ModelWord checkpoint[1 + 2 * (1 + kCount)];

  // Every execution starts the same way, or relacy could not replay it.
  void start() {
    for (LastAccess& last : last_accesses) last = LastAccess{};
    for (auto& copy : copies) {
      for (ModelWord& word : copy) start_word(word, Role::kValue);
    }
    for (ModelWord& word : checkpoint) start_word(word, Role::kCheckpointValue);
    checkpoint[0].role = Role::kCseq;
    start_word(seq, Role::kSeq);
    start_word(slot, Role::kSlot);
    start_word(membership, Role::kMembership);
    start_word(directory, Role::kDirectory);
    start_word(descriptor, Role::kDescriptor);
    start_word(counter, Role::kCounter);
  }
  BlockParts<ModelWord> owned() { return {&seq, &slot, copies[0], copies[1], checkpoint, kCount}; }
  BlockParts<const ModelWord> seen() const {
    return {&seq, &slot, copies[0], copies[1], checkpoint, kCount};
  }

 private:
  static void start_word(ModelWord& word, Role role) {
    word.role = role;
    word.store(0, rl::mo_relaxed, $);
  }
};

using A = RelacyAtomics<2>;

// Four commits by the ways of committing, and two looks at them.
struct Settled : rl::test_suite<Settled, 2> {
  static constexpr std::uint64_t kExpected[5][kWords] = {
      {0, 0}, {11, 0}, {20, 21}, {30, 31}, {31, 31}};
  BlockMemory<kWords> memory;

  void before() { memory.start(); }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write() {
    BlockParts<ModelWord> parts = memory.owned();
    parts.checkpoint = nullptr;
    BlockWriter<A> writer(parts);
    writer.set(0, 11);
    BlockWriter<A>::Update update(writer);
    update.set(0, 20);
    update.set(1, 21);
    update.commit();
    BlockWriter<A>::SparseUpdate sparse(writer);
    sparse.set(0, 30);
    sparse.set_apart(1, 31);
    sparse.commit();
    writer.add(0, 1);
  }
  void read() {
    std::uint64_t newest = 0;
    for (int look = 0; look < 2; ++look) {
      std::uint64_t words[kWords] = {};
      std::uint64_t version = 0;
      if (!try_read<A>(memory.seen(), words, version)) {
        ++reached.refused;
        continue;
      }
      ++reached.accepted;
      RL_ASSERT(version >= newest && version <= 4);
      newest = version;
      for (std::uint32_t word = 0; word < kWords; ++word) {
        RL_ASSERT(words[word] == kExpected[version][word]);
      }
    }
  }
};

// The checkpoint pair alone, which a reader otherwise reaches only after five failures. Version v
// holds 10 v and 10 v + 1.
struct Checkpoint : rl::test_suite<Checkpoint, 2> {
  BlockMemory<kWords> memory;

  void before() { memory.start(); }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write() {
    BlockWriter<A> writer(memory.owned());
    for (std::uint64_t version = 1; version < 9; version += 4) {
      const PerhapsInOneGo part;
      for (std::uint64_t step = version; step < version + 4; ++step) {
        BlockWriter<A>::Update update(writer);
        for (std::uint32_t word = 0; word < kWords; ++word) update.set(word, 10 * step + word);
        update.commit();
      }
    }
  }
  void read() {
    std::uint64_t newest = 0;
    for (int look = 0; look < 2; ++look) {
      std::uint64_t words[kWords] = {};
      std::uint64_t version = 0;
      if (!try_read_checkpoint<A>(memory.seen(), words, version)) {
        ++reached.refused;
        continue;
      }
      ++reached.accepted;
      RL_ASSERT(version >= newest && version <= 8);
      newest = version;
      for (std::uint32_t word = 0; word < kWords; ++word) {
        RL_ASSERT(words[word] == (version == 0 ? 0 : 10 * version + word));
      }
    }
  }
};

// What the library calls: bounded, and never backwards. The commits are short and the block is
// wide, so that a reader does get overtaken five times in a row. Version v puts v into word
// v % kWide. A checkpoint every second commit could never be older than what a reader returned
// before its five failures, so here they are rarer.
struct Bounded : rl::test_suite<Bounded, 2> {
  using Sparse = RelacyAtomics<8>;
  static constexpr std::uint32_t kWide = 6;
  static constexpr std::uint64_t kVersions = 24;
  BlockMemory<kWide> memory;

  void before() { memory.start(); }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write() {
    BlockWriter<Sparse> writer(memory.owned());
    for (std::uint64_t version = 1; version <= kVersions; ++version) {
      writer.set(static_cast<std::uint32_t>(version % kWide), version);
    }
  }
  void read() {
    std::uint64_t newest = 0;
    for (int look = 0; look < 2; ++look) {
      std::uint64_t words[kWide] = {};
      const std::uint64_t at_least = dropped == Fault::kVersionAtLeast ? 0 : newest;
      const ReadResult result = read_bounded<Sparse>(memory.seen(), words, at_least);
      RL_ASSERT(result.attempts <= kHotAttempts + kCheckpointAttempts);
      if (result.status == ReadStatus::kBusy) {
        ++reached.busy;
        continue;
      }
      ++(result.status == ReadStatus::kFresh ? reached.accepted : reached.checkpoint);
      RL_ASSERT(result.version >= newest && result.version <= kVersions);
      newest = result.version;
      for (std::uint64_t word = 0; word < kWide; ++word) {
        const std::uint64_t behind = (newest + kWide - word) % kWide;
        RL_ASSERT(words[word] == (newest < behind ? 0 : newest - behind));
      }
    }
  }
};

// The epoch pair. Version v holds 10 v and 10 v + 1 and is the first commit of epoch v, so at epoch
// e the block is at version e - 1. Each epoch is settled before the commit that sees it, which puts
// no barrier between threads: the model in spin/epoch.pml has the barrier.
struct CutPair : rl::test_suite<CutPair, 2> {
  static constexpr std::uint64_t kEpochs = 5;
  BlockMemory<kWords> memory;
  ModelWord cut[checkpoint_words(kWords) + cut_words(kWords)];
  ModelWord settled;

  void before() {
    memory.start();
    for (ModelWord& word : cut) {
      word.role = Role::kSaved;
      word.store(0, rl::mo_relaxed, $);
    }
    cut[checkpoint_words(kWords)].role = Role::kEcount;
    settled.role = Role::kCounter;
    settled.store(0, rl::mo_relaxed, $);
    process_epoch_now = 0;
  }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write() {
    BlockParts<ModelWord> parts = memory.owned();
    parts.checkpoint = cut;
    parts.cut = cut + checkpoint_words(kWords);
    BlockWriter<RelacyAtomics<1024>> writer(parts);
    for (std::uint64_t version = 1; version <= kEpochs; ++version) {
      process_epoch_now = version;
      settled.store(version, rl::mo_release, $);
      const PerhapsInOneGo part;
      BlockWriter<RelacyAtomics<1024>>::Update update(writer);
      for (std::uint32_t word = 0; word < kWords; ++word) update.set(word, 10 * version + word);
      update.commit();
    }
  }
  void read() {
    BlockParts<const ModelWord> parts = memory.seen();
    parts.cut = cut + checkpoint_words(kWords);
    for (int look = 0; look < 2; ++look) {
      const std::uint64_t epoch = settled.load(rl::mo_acquire, $);
      if (epoch == 0) continue;
      std::uint64_t words[kWords] = {};
      std::uint64_t version = 0;
      const CutStatus status = read_at_epoch<RelacyAtomics<1024>>(parts, epoch, words, version);
      if (status == CutStatus::kTooLate || status == CutStatus::kBusy) {
        ++reached.refused;
        continue;
      }
      // Without the fences of commits the block itself is torn, as `settled` shows. Here it is
      // saved states that they must be missed by.
      if (dropped == Fault::kCommitFences && status != CutStatus::kSaved) continue;
      ++(status == CutStatus::kSaved ? reached.checkpoint : reached.accepted);
      RL_ASSERT(version == epoch - 1);
      for (std::uint32_t word = 0; word < kWords; ++word) {
        RL_ASSERT(words[word] == (version == 0 ? 0 : 10 * version + word));
      }
    }
  }
};

// The first save of a life, and the next one, with no commit between them. Life 1 begins in epoch 1
// with 10 and 11; the first commit sees epoch 2 and changes them. The reader wants epoch 1.
struct FirstSave : rl::test_suite<FirstSave, 2> {
  using Sparse = RelacyAtomics<1024>;
  BlockMemory<kWords> memory;
  ModelWord cut[checkpoint_words(kWords) + cut_words(kWords)];

  void before() {
    memory.start();
    for (ModelWord& word : cut) {
      word.role = Role::kSaved;
      word.store(0, rl::mo_relaxed, $);
    }
    cut[checkpoint_words(kWords)].role = Role::kEcount;
    process_epoch_now = 1;
  }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write() {
    BlockParts<ModelWord> parts = memory.owned();
    parts.checkpoint = cut;
    parts.cut = cut + checkpoint_words(kWords);
    const BlockWriter<Sparse> writer(parts);
    // In one go, or the reader would nearly always be done before. What it sees of it is open.
    rl::ctx().disable_preemption();
    const std::uint64_t life = slot_begin<Sparse>(memory.membership, memory.slot);
    writer.commit_first([](std::uint32_t word) { return std::uint64_t{10} + word; });
    slot_live<Sparse>(memory.slot, life);
    rl::ctx().enable_preemption();
    process_epoch_now = 2;
    writer.set(0, 20);
    writer.set(1, 21);
  }
  void read() {
    BlockParts<const ModelWord> parts = memory.seen();
    parts.cut = cut + checkpoint_words(kWords);
    std::uint64_t words[kWords] = {};
    std::uint64_t version = 0;
    if (!slot_of<Sparse>(memory.slot).readable() ||
        read_at_epoch<Sparse>(parts, 1, words, version) != CutStatus::kSaved) {
      ++reached.refused;
      return;
    }
    ++reached.accepted;
    for (std::uint32_t word = 0; word < kWords; ++word) RL_ASSERT(words[word] == 10 + word);
  }
};

// A slot is closed and reused. Life g is described by g, holds 100 g and 100 g + 1 and counts from
// 1000 g; before it is closed, the first life changes to 150 and 101 and counts one up.
struct ReusedSlot {
  BlockMemory<kWords> memory;
  bool has_directory = false;  // each change of the slot counts memory.directory up

  void announce() {
    // [P5], as OwnedSegment::directory_changed() has it
    if (has_directory) A::store_release(memory.directory, A::load_relaxed(memory.directory) + 1);
  }

  // The descriptor comes after the first values, so that [S3] alone publishes it.
  void fill_life(BlockWriter<A>& writer, std::uint64_t life) {
    A::store_relaxed(memory.counter, 1000 * life);
    writer.commit_first([life](std::uint32_t word) { return 100 * life + word; });
    A::store_relaxed(memory.descriptor, life);
    slot_live<A>(memory.slot, life);
    announce();
  }
  void start() {
    memory.start();
    BlockWriter<A> writer(memory.owned());
    fill_life(writer, slot_begin<A>(memory.membership, memory.slot));
  }
  void write() {
    BlockWriter<A> writer(memory.owned());
    {
      const PerhapsInOneGo part;
      writer.set(0, 150);
      A::store_relaxed(memory.counter, 1001);
      slot_close<A>(memory.membership, memory.slot);
      announce();
    }
    const std::uint64_t life = slot_begin<A>(memory.membership, memory.slot);
    const PerhapsInOneGo part;
    fill_life(writer, life);
  }
  static void check_values(std::uint64_t life, const std::uint64_t (&words)[kWords],
                           std::uint64_t counter) {
    RL_ASSERT(words[1] == 100 * life + 1);
    RL_ASSERT(words[0] == 100 * life || (life == 1 && words[0] == 150));
    RL_ASSERT(counter == 1000 * life || (life == 1 && counter == 1001));
  }
};

// A reader that holds the generation it found and asks for it again afterwards.
struct SlotReuse : rl::test_suite<SlotReuse, 2>, ReusedSlot {
  void before() { start(); }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void read() {
    const SlotWord found = slot_of<A>(memory.slot);
    if (!found.readable()) return;
    const std::uint64_t life = found.generation;
    const std::uint64_t described = A::load_relaxed(memory.descriptor);
    std::uint64_t words[kWords] = {};
    std::uint64_t version = 0;
    const bool whole = try_read<A>(memory.seen(), words, version);
    const std::uint64_t counter = A::load_relaxed(memory.counter);
    if (!still_in<A>(memory.slot, life) || !whole) {
      ++reached.refused;
      return;
    }
    ++reached.accepted;
    RL_ASSERT(described == life);
    check_values(life, words, counter);
    // The last values of a life are part of what CLOSED stands for.
    RL_ASSERT(found.state != SlotState::kClosed || (words[0] == 150 && counter == 1001));
  }
};

// A reader that looked the live row up and then trusts the one membership word of the set.
struct Sweep : rl::test_suite<Sweep, 2>, ReusedSlot {
  void before() { start(); }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void read() {
    const std::uint64_t members = A::load_acquire(memory.membership);
    const SlotWord found = slot_of<A>(memory.slot);
    if (found.state != SlotState::kLive) return;
    const std::uint64_t described = A::load_relaxed(memory.descriptor);
    if (!still_in<A>(memory.slot, found.generation)) return;
    RL_ASSERT(described == found.generation);

    std::uint64_t words[kWords] = {};
    std::uint64_t version = 0;
    const bool whole = try_read<A>(memory.seen(), words, version);
    const std::uint64_t counter = A::load_relaxed(memory.counter);
    A::fence_acquire();  // [R5], as still_in() has it
    if (A::load_relaxed(memory.membership) != members || !whole) {
      ++reached.refused;
      return;
    }
    ++reached.accepted;
    check_values(found.generation, words, counter);
  }
};

// A reader that found the row live when the directory had a number, and does not look again because
// the number is the same: it takes the row over and gives it the membership word of now.
struct TakenOver : rl::test_suite<TakenOver, 2>, ReusedSlot {
  void before() {
    has_directory = true;
    start();
  }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void read() {
    const std::uint64_t known = A::load_acquire(memory.directory);  // [Q5]
    const SlotWord found = slot_of<A>(memory.slot);
    if (found.state != SlotState::kLive) return;

    const std::uint64_t members = A::load_acquire(memory.membership);  // [R9]
    if (A::load_relaxed(memory.directory) != known) {
      ++reached.refused;
      return;
    }
    std::uint64_t words[kWords] = {};
    std::uint64_t version = 0;
    const bool whole = try_read<A>(memory.seen(), words, version);
    const std::uint64_t counter = A::load_relaxed(memory.counter);
    A::fence_acquire();  // [R5], as still_in() has it
    if (A::load_relaxed(memory.membership) != members || !whole) {
      ++reached.refused;
      return;
    }
    ++reached.accepted;
    check_values(found.generation, words, counter);
  }
};

}  // namespace meterbank
