// SPDX-License-Identifier: Apache-2.0
#include "processors.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <string_view>

#include "meterbank/publisher/sharded_recorder.hpp"

#if defined(METERBANK_RESTARTABLE) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define METERBANK_SYSTEM_REGISTERS 1
#endif

namespace meterbank::detail {

std::ptrdiff_t rseq_area() noexcept {
#ifdef METERBANK_SYSTEM_REGISTERS
  static_assert(offsetof(struct rseq, cpu_id) == kAreaProcessor);
  static_assert(offsetof(struct rseq, rseq_cs) == kAreaSequence);
  const char* const choice = ::secure_getenv("METERBANK_RSEQ");
  if (choice != nullptr && std::string_view(choice) == "0") return 0;
  return __rseq_size == 0 ? 0 : __rseq_offset;
#else
  return 0;
#endif
}

std::ptrdiff_t area_for_processors(const BlockForm& form, bool by_processor) noexcept {
  const bool is_small = form.consistency == Consistency::kIndependent ||
                        (by_processor && form.words <= kProcessorWordsMax);
  // Of the configured ones each may come to be used.
  const long processors = ::sysconf(_SC_NPROCESSORS_CONF);
  const bool is_enough = processors > 0 && static_cast<std::uint64_t>(processors) < form.shards;
  return is_small && is_enough ? rseq_area() : 0;
}

void settle(const BlockWriter<StdAtomics>& writer) noexcept {
  const BlockParts<SharedWord> block = writer.parts();
  const std::uint64_t seq =
      StdAtomics::load_relaxed(*block.seq);  // relaxed: the thread that stored it has ended
  if ((seq & 1) == 0) return;
  // [W2] pairs with [R2]. Without it a reader sent to copy 0 before the last commit could accept a
  // mix of old words and those stored below.
  StdAtomics::fence_release();
  for (std::uint32_t word = 0; word < block.words; ++word) {
    // relaxed: published by [W3]
    StdAtomics::store_relaxed(block.copy0[word], StdAtomics::load_relaxed(block.copy1[word]));
  }
  // [W3] pairs with [R1]. Without it a reader sees the even number and old words of copy 0.
  StdAtomics::store_release(*block.seq, seq + 1);
  // [W4] pairs with [R2]. Without it a reader of the odd number could take words of the next commit
  // for its own.
  StdAtomics::fence_release();
}

namespace {

// The block of a processor at one moment.
struct BlockNow {
  explicit BlockNow(const Shard& shard) noexcept
      : block(shard.writer.parts()),
        // [X6] pairs with [X7] in publish_on(). Without it a thread that has moved could take
        // words from before the commit whose number it sees.
        seq(StdAtomics::load_acquire(*block.seq)),
        current((seq & 1) == 0 ? block.copy0 : block.copy1),
        idle((seq & 1) == 0 ? block.copy1 : block.copy0) {
    // [X5] pairs with [R2]. Without it a reader of the idle copy could miss the number that took
    // readers away from it, and take words of the commit that follows for the ones before.
    StdAtomics::fence_release();
  }

  [[nodiscard]] std::uint64_t next() const noexcept { return seq + ((seq & 1) == 0 ? 1 : 3); }
  // relaxed: if the number has not moved when the sequence looks, neither have the words.
  [[nodiscard]] std::uint64_t value(std::uint32_t word) const noexcept {
    return StdAtomics::load_relaxed(current[word]);
  }
  // Whether what value() returned belongs together. Writers learn it from the sequence.
  [[nodiscard]] bool is_still() const noexcept {
    StdAtomics::fence_acquire();  // [R2] the second look at seq follows the copy
    return StdAtomics::load_relaxed(*block.seq) == seq;  // relaxed: fenced in by [R2]
  }

  const BlockParts<SharedWord> block;
  const std::uint64_t seq;
  const SharedWord* const current;
  SharedWord* const idle;
};

// The checkpoint that a commit owes. If its thread moves away or is always interrupted, the next
// one that is due comes in time.
[[gnu::noinline, gnu::cold]] void write_checkpoint(std::ptrdiff_t area, std::uint64_t processor,
                                                   const Shard& shard) noexcept {
  constexpr std::uint32_t kAttempts = 4;
  SharedWord* const pair = shard.writer.parts().checkpoint;
  if (pair == nullptr) return;
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    // [X6] pairs with [X7] in publish_on(). Without it the version that is read next could be
    // older than the last checkpoint.
    const std::uint64_t cseq = StdAtomics::load_acquire(pair[0]);
    const BlockNow now(shard);  // [X5] of it pairs with [R4] as well
    std::array<std::uint64_t, 1 + kProcessorWordsMax> words;
    for (std::uint32_t word = 0; word < now.block.words; ++word) words[1 + word] = now.value(word);
    words[0] = (now.seq + 1) / 2;
    if (!now.is_still()) continue;
    if (publish_on(area, processor,
                   {.number = pair,
                    .seen = cseq,
                    .next = cseq + 1,
                    .target = pair + 1 + ((cseq + 1) & 1) * (now.block.words + 1),
                    .source = words.data(),
                    .words = now.block.words + 1,
                    .word = 0,
                    .value = words[0]})) {
      return;
    }
  }
}

// True: committed, and the checkpoint was written if it was due.
[[gnu::always_inline]] inline bool publish(const Shards& shards, std::uint64_t processor,
                                           const BlockNow& now, const void* source,
                                           std::uint32_t word, std::uint64_t value) noexcept {
  const std::uint64_t next = now.next();
  if (!publish_on(shards.rseq, processor,
                  {.number = now.block.seq,
                   .seen = now.seq,
                   .next = next,
                   .target = now.idle,
                   .source = source,
                   .words = now.block.words,
                   .word = word,
                   .value = value})) {
    return false;
  }
  if ((next + 1) / 2 % StdAtomics::kCheckpointEvery == 0) [[unlikely]] {
    write_checkpoint(shards.rseq, processor, shards.first[processor]);
  }
  return true;
}

// Calls `try_once(processor, shard)` with the block of the processor that the thread is on until it
// is true. False: the thread was always interrupted, or has no processor to write for.
template <typename Try>
[[gnu::always_inline]] inline bool on_processor(const Shards& shards,
                                                const Try& try_once) noexcept {
  for (std::uint32_t attempt = 0; attempt < kSequenceAttempts; ++attempt) {
    const std::uint64_t processor = processor_now(shards.rseq);
    if (processor >= shards.own) return false;
    const Shard& shard = shards.first[processor];
    shards.open(shard);
    if (try_once(processor, shard)) return true;
  }
  return false;
}

// One commit of one word.
bool commit_one(const Shards& shards, std::uint32_t word, ShardChange change,
                std::uint64_t value) noexcept {
  return on_processor(shards, [&](std::uint64_t processor, const Shard& shard) {
    const BlockNow now(shard);
    const std::uint64_t before = now.value(word);
    const std::uint64_t after = changed(change, before, value);
    if (change != ShardChange::kAdd && after == before) return now.is_still();
    return publish(shards, processor, now, now.current, word, after);
  });
}

// One commit of what `change(words)` changes in a private copy; it may run several times.
template <typename Change>
[[gnu::always_inline]] inline bool commit_many(const Shards& shards,
                                               const Change& change) noexcept {
  return on_processor(shards, [&](std::uint64_t processor, const Shard& shard) {
    const BlockNow now(shard);
    std::array<std::uint64_t, kProcessorWordsMax> words;
    for (std::uint32_t word = 0; word < now.block.words; ++word) words[word] = now.value(word);
    change(words.data());
    return publish(shards, processor, now, words.data(), 0, words[0]);
  });
}

void record_in(std::uint64_t* words, const DistributionPlace& place, double value) noexcept {
  changes_of(place, value, [words](std::uint32_t word) {
    return words[word];
  }).apply([words](std::uint32_t word, std::uint64_t bits) { words[word] = bits; });
}

// One change of one word, where each stands for itself.
bool change_in_place(const Shards& shards, std::uint32_t word, ShardChange change,
                     std::uint64_t value) noexcept {
  return on_processor(shards, [&](std::uint64_t processor, const Shard& shard) {
    SharedWord& counter = shard.writer.word(word);
    if (change == ShardChange::kAdd) return add_on(shards.rseq, processor, counter, value);
    const std::uint64_t now = StdAtomics::load_relaxed(counter);  // relaxed: it stands for itself
    const std::uint64_t next = changed(change, now, value);
    return next == now || store_on(shards.rseq, processor, counter, now, next);
  });
}

}  // namespace

void change_on_processor(const Shards& shards, std::uint32_t word, ShardChange change,
                         std::uint64_t value) noexcept {
  const BlockWriter<StdAtomics>& any = shards.shared().writer;
  if (word >= any.words()) return;
  const bool is_done = any.is_in_place(word) ? change_in_place(shards, word, change, value)
                                             : commit_one(shards, word, change, value);
  if (!is_done) change_shared_shard(shards, word, change, value);
}

void change_on_processor(const Shards& shards, const WaitingChange* changes,
                         std::size_t count) noexcept {
  if (count == 0) return;
  if (count == 1 && changes->change != ShardChange::kRecord) {
    return change_on_processor(shards, changes->word, changes->change, changes->value);
  }
  const std::uint32_t end = shards.shared().writer.words();
  const bool is_done = commit_many(shards, [=](std::uint64_t* words) {
    for (const WaitingChange* wanted = changes; wanted != changes + count; ++wanted) {
      if (wanted->word >= end) continue;
      if (wanted->change == ShardChange::kRecord) {
        record_in(words, wanted->place(), std::bit_cast<double>(wanted->value));
      } else {
        words[wanted->word] = changed(wanted->change, words[wanted->word], wanted->value);
      }
    }
  });
  if (!is_done) change_shared_shard(shards, changes, count);
}

void record_on_processor(const Shards& shards, const DistributionPlace& place,
                         double value) noexcept {
  const bool is_done =
      commit_many(shards, [&](std::uint64_t* words) { record_in(words, place, value); });
  if (!is_done) record_shared(shards, place, value);
}

}  // namespace meterbank::detail
