// SPDX-License-Identifier: Apache-2.0
//
// The atomics policy that runs block.hpp and slot.hpp under the race explorer, which lets a load
// return older stores wherever C++ permits it. The policy can also drop one ordering: it knows what
// kind of word an operation touches, so one labelled line of the header is weakened and the header
// stays as it is.
#pragma once

// relacy redefines names such as `new` and `assert` as macros, so everything else comes first.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "meterbank/shm/block.hpp"
#include "meterbank/shm/slot.hpp"

#include <relacy/relacy.hpp>

// Its macros for checked allocation would break deleted functions; nothing here allocates.
#undef new
#undef delete

namespace meterbank {

// The labels are those of block.hpp, checkpoint.hpp, epoch_pair.hpp, slot.hpp and
// segment_layout.hpp.
enum class Fault {
  kNone,
  kReleaseOnOdd,            // [W1]
  kFenceAfterOdd,           // [W2]
  kReleaseOnEven,           // [W3]
  kFenceAfterEven,          // [W4]
  kReleaseOnCseq,           // [W5]
  kCommitFences,            // [W2] and [W4]: what [R4] pairs with
  kAcquireOfSeq,            // [R1]
  kFenceBeforeSeqAgain,     // [R2]
  kAcquireOfCseq,           // [R3]
  kFenceBeforeCseqAgain,    // [R4]
  kFenceBeforeSlotAgain,    // [R5], in a sweep the fence before the second membership load
  kReleaseOnMembership,     // [S1]
  kFenceAfterInit,          // [S2]
  kReleaseOnLive,           // [S3]
  kReleaseOnClosed,         // [S4]
  kAcquireOfSlot,           // [R8]
  kAcquireOfMembership,     // [R9]
  kReleaseOnDirectory,      // [P5]
  kAcquireOfDirectory,      // [Q5]
  kFenceAfterAnnouncement,  // [E2]
  kReleaseOnEcount,         // [E3]
  kAcquireOfEcount,         // [R6]
  kFenceBeforeEcountAgain,  // [R7]
  kVersionAtLeast,          // not an ordering: the reader forgets what it returned before
  kReleaseOnGivingBack,     // [X1] of index_set.hpp
  kAcquireOnTaking,         // [X2]
  kFenceAfterTaking,        // [X4]
  kFirstValuesAfterLive,  // not an ordering: shards get their first values when the life has begun
};

// kCounter stands for the words of an independent instance, which no sequence guards.
enum class Role {
  kValue,
  kCheckpointValue,
  kDescriptor,
  kCounter,
  kSeq,
  kCseq,
  kEcount,
  kSaved,
  kSlot,
  kMembership,
  kDirectory,  // SegmentHeader::directory_version
  kTaken       // numbers of an IndexSet
};

struct ModelWord : rl::atomic<std::uint64_t> {
  Role role = Role::kValue;
};

// The ordering that this run of the program goes without.
inline Fault dropped = Fault::kNone;

// What each thread touched last: it tells the labelled fences apart.
struct LastAccess {
  Role loaded = Role::kSeq;
  Role stored = Role::kValue;
  std::uint64_t value = 0;

  [[nodiscard]] bool stored_seq(std::uint64_t parity) const noexcept {
    return stored == Role::kSeq && (value & 1) == parity;
  }
  [[nodiscard]] bool stored_ecount(std::uint64_t parity) const noexcept {
    return stored == Role::kEcount && (value & 1) == parity;
  }
  [[nodiscard]] bool stored_slot(SlotState state) const noexcept {
    return stored == Role::kSlot && SlotWord::of(value).state == state;
  }
};
inline LastAccess last_accesses[3];
inline LastAccess& last_access() noexcept { return last_accesses[rl::thread_index()]; }

// Only the writing thread looks at it.
inline std::uint64_t process_epoch_now = 0;

template <std::uint64_t kEvery>
struct RelacyAtomics {
  using Word = ModelWord;
  static constexpr std::uint64_t kCheckpointEvery = kEvery;

  static std::uint64_t load_relaxed(const Word& word) noexcept {
    last_access().loaded = word.role;
    return word.load(rl::mo_relaxed, $);
  }
  static void store_relaxed(Word& word, std::uint64_t value) noexcept {
    note_store(word, value);
    word.store(value, rl::mo_relaxed, $);
  }
  static std::uint64_t load_acquire(const Word& word) noexcept {
    last_access().loaded = word.role;
    const bool weak = (dropped == Fault::kAcquireOfSeq && word.role == Role::kSeq) ||
                      (dropped == Fault::kAcquireOfCseq && word.role == Role::kCseq) ||
                      (dropped == Fault::kAcquireOfEcount && word.role == Role::kEcount) ||
                      (dropped == Fault::kAcquireOfSlot && word.role == Role::kSlot) ||
                      (dropped == Fault::kAcquireOfMembership && word.role == Role::kMembership) ||
                      (dropped == Fault::kAcquireOfDirectory && word.role == Role::kDirectory);
    return word.load(weak ? rl::mo_relaxed : rl::mo_acquire, $);
  }
  static void store_release(Word& word, std::uint64_t value) noexcept {
    note_store(word, value);
    const LastAccess& last = last_access();
    const bool weak = (dropped == Fault::kReleaseOnOdd && last.stored_seq(1)) ||
                      (dropped == Fault::kReleaseOnEven && last.stored_seq(0)) ||
                      (dropped == Fault::kReleaseOnCseq && word.role == Role::kCseq) ||
                      (dropped == Fault::kReleaseOnEcount && last.stored_ecount(0)) ||
                      (dropped == Fault::kReleaseOnMembership && word.role == Role::kMembership) ||
                      (dropped == Fault::kReleaseOnDirectory && word.role == Role::kDirectory) ||
                      (dropped == Fault::kReleaseOnLive && last.stored_slot(SlotState::kLive)) ||
                      (dropped == Fault::kReleaseOnClosed && last.stored_slot(SlotState::kClosed));
    word.store(value, weak ? rl::mo_relaxed : rl::mo_release, $);
  }
  static void fence_release() noexcept {
    const LastAccess& last = last_access();
    const bool missing = (dropped == Fault::kFenceAfterOdd && last.stored_seq(1)) ||
                         (dropped == Fault::kFenceAfterEven && last.stored_seq(0)) ||
                         (dropped == Fault::kFenceAfterAnnouncement && last.stored_ecount(1)) ||
                         (dropped == Fault::kCommitFences && last.stored == Role::kSeq) ||
                         (dropped == Fault::kFenceAfterTaking && last.stored == Role::kTaken) ||
                         (dropped == Fault::kFenceAfterInit && last.stored_slot(SlotState::kInit));
    // [W2] [W4] [E2] [S2] [X4], whichever the header calls for.
    if (!missing) rl::atomic_thread_fence(rl::mo_release, $);
  }
  static void fence_acquire() noexcept {
    const Role loaded = last_access().loaded;
    const bool missing =
        (dropped == Fault::kFenceBeforeSeqAgain && loaded == Role::kValue) ||
        (dropped == Fault::kFenceBeforeCseqAgain && loaded == Role::kCheckpointValue) ||
        (dropped == Fault::kFenceBeforeEcountAgain && loaded == Role::kSaved) ||
        (dropped == Fault::kFenceBeforeSlotAgain && loaded == Role::kCounter);
    // [R2] [R4] [R5] [R7], whichever the header calls for.
    if (!missing) rl::atomic_thread_fence(rl::mo_acquire, $);
  }
  static bool exchange_acquire(Word& word, std::uint64_t& seen, std::uint64_t next) noexcept {
    const bool weak = dropped == Fault::kAcquireOnTaking;
    last_access().stored = Role::kTaken;
    return word.compare_exchange_weak(seen, next, weak ? rl::mo_relaxed : rl::mo_acquire, $,
                                      rl::mo_relaxed, $);
  }
  static void clear_bits_release(Word& word, std::uint64_t bits) noexcept {
    const bool weak = dropped == Fault::kReleaseOnGivingBack;
    word.fetch_and(~bits, weak ? rl::mo_relaxed : rl::mo_release, $);  // [X1]
  }
  // The epoch of the process belongs to the writer's side; no scenario has two threads there.
  static std::uint64_t epoch() noexcept { return process_epoch_now; }

  static void copy_words(std::uint64_t* target, const Word* source, std::size_t count) noexcept {
    for (std::size_t word = 0; word < count; ++word) target[word] = load_relaxed(source[word]);
  }
  static void pause() noexcept {}

 private:
  static void note_store(const Word& word, std::uint64_t value) noexcept {
    last_access().stored = word.role;
    last_access().value = value;
  }
};

}  // namespace meterbank
