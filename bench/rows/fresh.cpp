// SPDX-License-Identifier: Apache-2.0
//
// Reading a block that another thread writes without a pause: how long one read takes and how many
// attempts it needs. The comparison is a block with one copy under a sequence lock.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "blocks.hpp"
#include "other_processor.hpp"
#include "rows.hpp"

namespace meterbank::bench {
namespace {

constexpr std::uint32_t kAttemptsMax = 1'000'000;  // of the sequence lock, which has no bound

struct Reads {
  std::vector<double> nanoseconds;
  std::uint64_t attempts_max = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t busy = 0;

  [[nodiscard]] double at(double share) const {
    std::vector<double> sorted = nanoseconds;
    std::sort(sorted.begin(), sorted.end());
    return quantile(sorted, share);
  }
};

// A writer at full rate on another processor, for as long as it lives.
template <typename F>
auto write_beside(F step) {
  return OtherProcessor([step]() mutable {
    for (int repeat = 0; repeat < 64; ++repeat) step();
  });
}

// A read each 20 us, so that the line has left this processor when it is read again.
template <typename F>
void read_apart(unsigned count, Reads& reads, F&& read) {
  using Steady = std::chrono::steady_clock;
  for (unsigned index = 0; index < count; ++index) {
    const auto until = Steady::now() + std::chrono::microseconds(20);
    while (Steady::now() < until) StdAtomics::pause();
    const auto begin = Steady::now();
    read();
    const std::chrono::duration<double, std::nano> spent = Steady::now() - begin;
    reads.nanoseconds.push_back(spent.count());
  }
}

void read_block(const Blocks& blocks, unsigned count, Reads& reads) {
  const BlockWriter<StdAtomics> block(blocks.parts(0));
  const std::uint32_t words = blocks.form().words;
  const auto writer = write_beside([block, words] {
    BlockWriter<StdAtomics>::Update update(block);
    for (std::uint32_t word = 0; word < words; ++word) update.set(word, update.value(word) + 1);
    update.commit();
  });
  const BlockParts<const SharedWord> parts = blocks.reader_parts(0);
  std::array<std::uint64_t, 16> values{};
  std::uint64_t version = 0;
  read_apart(count, reads, [&] {
    const ReadResult result = read_bounded<StdAtomics>(parts, values.data(), version);
    if (result.status != ReadStatus::kBusy) version = result.version;
    reads.attempts_max = std::max<std::uint64_t>(reads.attempts_max, result.attempts);
    reads.checkpoints += result.status == ReadStatus::kCheckpoint ? 1 : 0;
    reads.busy += result.status == ReadStatus::kBusy ? 1 : 0;
    keep(values.data());
  });
}

// One copy and a sequence that is odd while it is written.
//
//      writer                                      reader
//      seq := odd                  relaxed         s := seq                 acquire
// [B1] fence                       release         words                    relaxed
//      words                       relaxed         fence                    acquire   [B2]
//      seq := even                 release         good iff s is even and seq = s
void read_sequence_lock(const Blocks& blocks, unsigned count, Reads& reads) {
  const BlockParts<SharedWord> parts = blocks.parts(0);
  const auto writer = write_beside([parts] {
    // relaxed: own last store. [B1] the fence, which pairs with [B2], orders the odd number before
    // the words: without it a reader could accept a mix of them.
    const std::uint64_t seq = parts.seq->load(std::memory_order_relaxed);
    parts.seq->store(seq + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::uint32_t word = 0; word < parts.words; ++word) {
      parts.copy0[word].store(parts.copy0[word].load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
    }
    // release: the even number is seen only with the words.
    parts.seq->store(seq + 2, std::memory_order_release);
  });
  std::array<std::uint64_t, 16> values{};
  read_apart(count, reads, [&] {
    std::uint64_t attempts = 0;
    for (; attempts < kAttemptsMax; ++attempts) {
      const std::uint64_t seq = parts.seq->load(std::memory_order_acquire);  // before the words
      StdAtomics::copy_words(values.data(), parts.copy0, parts.words);
      StdAtomics::fence_acquire();  // [B2] pairs with [B1]: the second look must follow the copy
      // relaxed: fenced in.
      if ((seq & 1) == 0 && parts.seq->load(std::memory_order_relaxed) == seq) break;
    }
    reads.attempts_max = std::max(reads.attempts_max, attempts);
    keep(values.data());
  });
}

void read_one_word(const Blocks& blocks, unsigned count, Reads& reads) {
  SharedWord* const word = blocks.parts(0).copy0;
  const auto writer = write_beside([word] {
    // relaxed: one writer, one word.
    word->store(word->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  });
  read_apart(count, reads, [&] { keep(word->load(std::memory_order_relaxed)); });
}

void rows_for(std::uint32_t words, const Effort& effort, Table& table) {
  const Blocks ours({.words = words, .checkpoint = 1}, 1);
  const Blocks locked({.words = words}, 1);
  const Blocks single({.words = words}, 1);
  Rounds p50, p99;
  Rounds against_lock;
  Reads all, all_locked;
  for (unsigned round = 0; round < effort.fresh_rounds; ++round) {
    Reads reads, lock_reads, word_reads;
    read_block(ours, effort.fresh_reads, reads);
    read_sequence_lock(locked, effort.fresh_reads, lock_reads);
    read_one_word(single, effort.fresh_reads, word_reads);
    p50.add(reads.at(0.5), word_reads.at(0.5));
    p99.add(reads.at(0.99), word_reads.at(0.99));
    against_lock.add(reads.at(0.99), lock_reads.at(0.99));
    all.attempts_max = std::max(all.attempts_max, reads.attempts_max);
    all.checkpoints += reads.checkpoints;
    all.busy += reads.busy;
    all_locked.attempts_max = std::max(all_locked.attempts_max, lock_reads.attempts_max);
  }
  const std::string name = fmt::format("fresh read, line N={}, writer at full rate,", words);
  table.time_row(name + " p50 (limit: 1 word)", p50.comparison(), {});
  if (words <= 6) {
    table.time_row(name + " p99 (limit: 1 word)", p99.comparison(), 500.0);
  }
  table.ratio_row(name + " p99 (limit: seqlock)", against_lock.comparison(),
                  words > 6 ? std::optional<double>(0.4) : std::nullopt);
  table.plain_row("  failed attempts at most", static_cast<double>(all.attempts_max), "",
                  kHotAttempts + kCheckpointAttempts);
  table.plain_row("  reads served by the checkpoint", static_cast<double>(all.checkpoints), "", {});
  table.plain_row("  reads without a result", static_cast<double>(all.busy), "", {});
  table.plain_row("  failed attempts of the seqlock at most",
                  static_cast<double>(all_locked.attempts_max), "", {});
}

}  // namespace

void fresh_rows(const Effort& effort, Table& table) {
  if (std::thread::hardware_concurrency() < 2) {
    table.note_row("fresh read", "needs two processors");
    return;
  }
  rows_for(6, effort, table);
  rows_for(8, effort, table);
}

}  // namespace meterbank::bench
