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
  const char* const wish = ::secure_getenv("METERBANK_RSEQ");
  if (wish != nullptr && std::string_view(wish) == "0") return 0;
  return __rseq_size == 0 ? 0 : __rseq_offset;
#else
  return 0;
#endif
}

std::ptrdiff_t area_for_processors(const BlockForm& form) noexcept {
  const bool is_small =
      form.consistency == Consistency::kIndependent || form.words <= kProcessorWordsMax;
  // Of the configured ones each may come to be used.
  const long processors = ::sysconf(_SC_NPROCESSORS_CONF);
  const bool is_enough = processors > 0 && static_cast<std::uint64_t>(processors) < form.shards;
  return is_small && is_enough ? rseq_area() : 0;
}

void settle(const BlockWriter<StdAtomics>& writer) noexcept {
  const BlockParts<SharedWord> block = writer.parts();
  const std::uint64_t seq = StdAtomics::load_relaxed(*block.seq);  // relaxed: who stored it is gone
  if ((seq & 1) == 0) return;
  // [W2] as in block.hpp: the fence that the last commit left to the next.
  StdAtomics::fence_release();
  for (std::uint32_t word = 0; word < block.words; ++word) {
    // relaxed: before [W3]
    StdAtomics::store_relaxed(block.copy0[word], StdAtomics::load_relaxed(block.copy1[word]));
  }
  StdAtomics::store_release(*block.seq, seq + 1);  // [W3] as in block.hpp
  StdAtomics::fence_release();                     // [W4] as in block.hpp
}

namespace {

// The checkpoint that a commit owes. If its thread is always interrupted, or moves away, the next
// one that is due comes in time.
void write_checkpoint(std::ptrdiff_t area, std::uint32_t processor,
                      const BlockParts<SharedWord>& block, std::uint64_t cseq,
                      const std::uint64_t* version_and_words) noexcept {
  constexpr std::uint32_t kAttempts = 4;
  SharedWord* const target = block.checkpoint + 1 + ((cseq + 1) & 1) * (block.words + 1);
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    if (publish_on(area, processor, block.checkpoint[0], cseq, cseq + 1, target, version_and_words,
                   block.words + 1)) {
      return;
    }
  }
}

// One commit on the block of the processor: `change(words)` changes a copy and says whether there
// is anything to commit; it may run several times. False: it was always interrupted, or the thread
// has no processor to write for.
template <typename Change>
bool commit_on_processor(const Shards& shards, Change&& change) noexcept {
  std::array<std::uint64_t, 1 + kProcessorWordsMax> version_and_words;
  std::uint64_t* const words = version_and_words.data() + 1;
  for (std::uint32_t attempt = 0; attempt < kSequenceAttempts; ++attempt) {
    const std::uint32_t processor = processor_now(shards.rseq);
    if (processor >= shards.own) return false;
    const Shard& shard = shards.first[processor];
    shards.open(shard);
    const BlockParts<SharedWord> block = shard.writer.parts();
    // [X6] pairs with the last store of publish_on(). Without it a thread that has moved could copy
    // words from before the commit whose number it sees.
    const std::uint64_t seq = StdAtomics::load_acquire(*block.seq);
    const bool is_even = (seq & 1) == 0;
    const std::uint64_t next = seq + (is_even ? 1 : 3);
    const std::uint64_t version = (next + 1) / 2;
    const bool is_due = block.checkpoint != nullptr && version % StdAtomics::kCheckpointEvery == 0;
    // relaxed: the sequence stores over this very number or not at all.
    const std::uint64_t cseq = is_due ? StdAtomics::load_relaxed(block.checkpoint[0]) : 0;
    // [X5] pairs with [R2], and with [R4] for cseq. Without it a reader of the copy that is now
    // written to could miss the number that took readers away from it.
    StdAtomics::fence_release();
    const SharedWord* const current = is_even ? block.copy0 : block.copy1;
    // relaxed, these: if the number has not moved when the sequence looks, neither have they.
    for (std::uint32_t word = 0; word < block.words; ++word) {
      words[word] = StdAtomics::load_relaxed(current[word]);
    }
    if (!change(words)) {
      StdAtomics::fence_acquire();  // [R2] as in try_read(): this one is only a reader
      if (StdAtomics::load_relaxed(*block.seq) == seq) return true;  // relaxed: fenced in by [R2]
      continue;
    }
    if (!publish_on(shards.rseq, processor, *block.seq, seq, next,
                    is_even ? block.copy1 : block.copy0, words, block.words)) {
      continue;
    }
    if (is_due) {
      version_and_words[0] = version;
      write_checkpoint(shards.rseq, processor, block, cseq, version_and_words.data());
    }
    return true;
  }
  return false;
}

void record_in(std::uint64_t* words, const DistributionPlace& place, double value) noexcept {
  const auto changes =
      changes_of(place, value, [words](std::uint32_t word) { return words[word]; });
  for (std::size_t i = 0; i < changes.count; ++i) {
    words[changes.entries[i].word] = changes.entries[i].value;
  }
}

// One change of one word, where each stands for itself.
bool change_in_place(const Shards& shards, const WaitingChange& wanted) noexcept {
  for (std::uint32_t attempt = 0; attempt < kSequenceAttempts; ++attempt) {
    const std::uint32_t processor = processor_now(shards.rseq);
    if (processor >= shards.own) return false;
    const Shard& shard = shards.first[processor];
    shards.open(shard);
    SharedWord& word = shard.writer.word(wanted.word);
    if (wanted.change == ShardChange::kAdd) {
      if (add_on(shards.rseq, processor, word, wanted.value)) return true;
      continue;
    }
    const std::uint64_t now = StdAtomics::load_relaxed(word);  // relaxed: a counter for itself
    const std::uint64_t next = changed(wanted.change, now, wanted.value);
    if (next == now || store_on(shards.rseq, processor, word, now, next)) return true;
  }
  return false;
}

}  // namespace

void change_on_processor(const Shards& shards, const WaitingChange* changes,
                         std::size_t count) noexcept {
  const BlockWriter<StdAtomics>& any = shards.shared().writer;
  if (any.is_in_place(0)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (changes[i].word >= any.words() || change_in_place(shards, changes[i])) continue;
      change_shared_shard(shards, changes[i].word, changes[i].change, changes[i].value);
    }
    return;
  }
  const bool is_done = commit_on_processor(shards, [&](std::uint64_t* words) {
    bool is_any = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (changes[i].word >= any.words()) continue;
      if (changes[i].change == ShardChange::kRecord) {
        record_in(words, changes[i].place, std::bit_cast<double>(changes[i].value));
        is_any = true;
        continue;
      }
      std::uint64_t& word = words[changes[i].word];
      const std::uint64_t next = changed(changes[i].change, word, changes[i].value);
      is_any |= changes[i].change == ShardChange::kAdd || next != word;
      word = next;
    }
    return is_any;
  });
  if (!is_done) change_shared_shard(shards, changes, count);
}

void record_on_processor(const Shards& shards, const DistributionPlace& place,
                         double value) noexcept {
  const bool is_done = commit_on_processor(shards, [&](std::uint64_t* words) {
    record_in(words, place, value);
    return true;
  });
  if (!is_done) record_shared(shards, place, value);
}

}  // namespace meterbank::detail
