// SPDX-License-Identifier: Apache-2.0
//
// Each kernel is the read attempt of block.hpp over many blocks at once: it loads the numbers [R1],
// copies, fences [R2] and looks at the numbers again. Without [R1] a copy could be older than its
// number; without [R2] words of the next commit would pass. What moved meanwhile is read alone.
#include "sweep.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "meterbank/shm/block.hpp"
#include "meterbank/shm/shard_join.hpp"

#ifdef METERBANK_VECTOR_LOADS
#include <immintrin.h>
#endif

namespace meterbank {
namespace {

constexpr std::size_t kLanes = 8;

SweepTarget target_of(const SweepTarget& first, std::size_t row, std::size_t words) noexcept {
  return {first.values + row * words, first.versions + row, first.status + row};
}

// A kernel leaves odd numbers to read_row(), which is no failure; an even one that moved is an
// attempt that failed.
[[gnu::noinline, gnu::cold]] std::size_t read_alone(std::uint64_t before, const RowBlocks& blocks,
                                                    std::size_t row,
                                                    const SweepTarget& target) noexcept {
  return (before & 1 ? 0 : 1) + read_row(blocks[row], Consistency::kBlock, target);
}

// The rows of a copied tile one by one: those whose numbers were even and did not move are good.
[[gnu::noinline, gnu::cold]] std::size_t patch_tile(const std::uint64_t* before,
                                                    const std::uint64_t* again,
                                                    const RowBlocks& blocks, std::size_t first,
                                                    const SweepTarget& tile) noexcept {
  std::size_t failed = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const SweepTarget row = target_of(tile, lane, blocks.words());
    if ((before[lane] & 1) == 0 && again[lane] == before[lane]) {
      *row.versions = before[lane] / 2;
      *row.status = RowStatus::kFresh;
    } else {
      failed += read_alone(before[lane], blocks, first + lane, row);
    }
  }
  return failed;
}

// Of independent counters: each is exact by itself, so there is nothing to look at again.
template <std::size_t kLanesOfHead>
std::size_t copy_independent(const QueryPlan::Run& run, const RowBlocks& blocks,
                             const SweepTarget& target) noexcept {
  const std::size_t words = blocks.words();
  const SharedWord* source = run.head + 2 * kLanesOfHead;
  for (std::size_t row = 0; row < run.rows; row += kLanesOfHead, source += run.head_words) {
    StdAtomics::copy_words(target.values + row * words, source, kLanesOfHead * words);
  }
  std::fill_n(target.versions, run.rows, std::uint64_t{0});
  std::fill_n(target.status, run.rows, RowStatus::kFresh);
  return 0;
}

std::size_t sweep_tiles(const QueryPlan::Run& run, const RowBlocks& blocks,
                        const SweepTarget& target) noexcept {
  const std::size_t words = blocks.words();
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; row += kLanes) {
    const SharedWord* head = run.head + row / kLanes * run.head_words;
    const SweepTarget tile = target_of(target, row, words);
    std::uint64_t before[kLanes];
    std::uint64_t again[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      before[lane] = StdAtomics::load_acquire(head[lane]);  // [R1] the words follow their number
    }
    StdAtomics::copy_words(tile.values, head + 2 * kLanes, kLanes * words);
    StdAtomics::fence_acquire();  // [R2] the second look follows the copy
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      again[lane] = StdAtomics::load_relaxed(head[lane]);  // relaxed: fenced in by [R2]
    }
    failed += patch_tile(before, again, blocks, row, tile);
  }
  return failed;
}

template <Consistency kConsistency>
std::size_t sweep_rows(const QueryPlan::Run& run, const RowBlocks& blocks,
                       const SweepTarget& target) noexcept {
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; ++row) {
    failed += read_row(blocks[row], kConsistency, target_of(target, row, blocks.words()));
  }
  return failed;
}

#ifdef METERBANK_VECTOR_LOADS

constexpr std::size_t kUnrolledWords = 8;  // kernels up to this width know it when compiled

// Vector loads of words that another process stores to: assembler, because the compiler may not
// split, repeat or merge them. Both vendors document that an aligned 8-byte lane is read as a
// whole. Volatile assembler keeps its order; the clobber orders it with everything else.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load_four(
    const SharedWord* source) noexcept {
  __m256i four;
  asm volatile("vmovdqu (%1), %0" : "=x"(four) : "r"(source) : "memory");
  return four;
}

[[gnu::target("avx2"), gnu::always_inline]] inline void store_four(std::uint64_t* target,
                                                                   __m256i four) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), four);
}

// Blocks that did not change leave the memory of their versions as it is: reading costs less.
[[gnu::target("avx2"), gnu::always_inline]] inline void store_if_new(std::uint64_t* target,
                                                                     __m256i four) noexcept {
  const __m256i known = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(target));
  const __m256i changed = _mm256_xor_si256(known, four);
  if (_mm256_testz_si256(changed, changed) == 0) store_four(target, four);
}

[[gnu::target("avx2"), gnu::always_inline]] inline void copy_wide(std::uint64_t* target,
                                                                  const SharedWord* source,
                                                                  std::size_t count) noexcept {
  std::size_t word = 0;
  for (; word + 16 <= count; word += 16) {
    const __m256i first = load_four(source + word);
    const __m256i second = load_four(source + word + 4);
    const __m256i third = load_four(source + word + 8);
    const __m256i fourth = load_four(source + word + 12);
    store_four(target + word, first);
    store_four(target + word + 4, second);
    store_four(target + word + 8, third);
    store_four(target + word + 12, fourth);
  }
  for (; word + 4 <= count; word += 4) store_four(target + word, load_four(source + word));
  for (; word < count; ++word) target[word] = StdAtomics::load_relaxed(source[word]);
}

// kWords 0: known at run time only.
template <std::size_t kWords>
[[gnu::target("avx2")]] std::size_t tiles_of_width(const QueryPlan::Run& run,
                                                   const RowBlocks& blocks,
                                                   const SweepTarget& target) noexcept {
  const std::size_t words = kWords != 0 ? kWords : blocks.words();
  const std::size_t head_words = run.head_words;
  const std::size_t count = run.rows;
  const SharedWord* head = run.head;
  std::uint64_t* values = target.values;
  std::uint64_t* versions = target.versions;
  RowStatus* status = target.status;
  std::size_t failed = 0;
  for (std::size_t row = 0; row < count; row += kLanes) {
    // [R1] the words follow their numbers: an ordinary load acquires on this processor.
    const __m256i low = load_four(head);
    const __m256i high = load_four(head + 4);
    copy_wide(values, head + 2 * kLanes, kLanes * words);
    StdAtomics::fence_acquire();  // [R2] the second look follows the copy
    const __m256i low_again = load_four(head);
    const __m256i high_again = load_four(head + 4);
    const __m256i moved =
        _mm256_or_si256(_mm256_xor_si256(low, low_again), _mm256_xor_si256(high, high_again));
    const __m256i odd = _mm256_and_si256(_mm256_or_si256(low, high), _mm256_set1_epi64x(1));
    const __m256i wrong = _mm256_or_si256(moved, odd);
    if (__builtin_expect(_mm256_testz_si256(wrong, wrong), 1) != 0) {
      store_if_new(versions, _mm256_srli_epi64(low, 1));
      store_if_new(versions + 4, _mm256_srli_epi64(high, 1));
      std::fill_n(status, kLanes, RowStatus::kFresh);
    } else {
      std::uint64_t before[kLanes];
      std::uint64_t again[kLanes];
      store_four(before, low);
      store_four(before + 4, high);
      store_four(again, low_again);
      store_four(again + 4, high_again);
      failed += patch_tile(before, again, blocks, row, {values, versions, status});
    }
    head += head_words;
    values += kLanes * words;
    versions += kLanes;
    status += kLanes;
  }
  return failed;
}

template <std::size_t kWords>
[[gnu::target("avx2")]] std::size_t lines_of_width(const QueryPlan::Run& run,
                                                   const RowBlocks& blocks,
                                                   const SweepTarget& target) noexcept {
  const std::size_t words = kWords != 0 ? kWords : blocks.words();
  const std::size_t head_words = run.head_words;
  const std::size_t count = run.rows;
  const SharedWord* head = run.head;
  std::uint64_t* values = target.values;
  std::size_t failed = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const std::uint64_t before = StdAtomics::load_acquire(*head);  // [R1] words after it
    copy_wide(values, head + 2, words);
    StdAtomics::fence_acquire();  // [R2] the second look follows the copy
    const std::uint64_t again = StdAtomics::load_relaxed(*head);  // relaxed: fenced in by [R2]
    if (__builtin_expect(((before ^ again) | (before & 1)) == 0, 1) != 0) {
      if (target.versions[row] != before / 2) target.versions[row] = before / 2;
      target.status[row] = RowStatus::kFresh;
    } else {
      failed +=
          read_alone(before, blocks, row, {values, target.versions + row, target.status + row});
    }
    head += head_words;
    values += words;
  }
  return failed;
}

struct WidthKernels {
  std::array<SweepRun, kUnrolledWords + 1> tiles, lines;
};
template <std::size_t... kWidths>
constexpr WidthKernels kernels_of(std::index_sequence<kWidths...>) noexcept {
  return {{tiles_of_width<kWidths>...}, {lines_of_width<kWidths>...}};
}
constexpr WidthKernels kOfWidth = kernels_of(std::make_index_sequence<kUnrolledWords + 1>());

#endif

std::size_t read_block(const BlockParts<const SharedWord>& block, Consistency consistency,
                       const SweepTarget& target) noexcept {
  if (consistency == Consistency::kIndependent) {
    StdAtomics::copy_words(target.values, block.copy0, block.words);
    *target.versions = 0;
    *target.status = RowStatus::kFresh;
    return 0;
  }
  const ReadResult read = read_bounded<StdAtomics>(block, target.values, *target.versions);
  if (read.status == ReadStatus::kBusy) {
    std::fill_n(target.values, block.words, std::uint64_t{0});
    *target.status = RowStatus::kBusy;
    return read.attempts;
  }
  *target.versions = read.version;
  *target.status = read.status == ReadStatus::kFresh ? RowStatus::kFresh : RowStatus::kCheckpoint;
  return read.attempts;
}

void join(const std::vector<ShardJoin>& joins, std::uint64_t* values,
          const std::uint64_t* shard) noexcept {
  for (std::size_t word = 0; word < joins.size(); ++word) {
    values[word] = joined_word(joins[word], values[word], shard[word]);
  }
}

// In the shard that threads share a value may be in its bucket and not in the count as yet.
void count_parts(const Counterset& set, std::uint64_t* values) noexcept {
  using Shape = DistributionShape;
  for (const CounterView& counter : set.counters) {
    if (counter.form != ValueForm::kDistribution) continue;
    const std::uint64_t* const more = values + counter.more;
    const std::uint64_t* const buckets = more + Shape::kBuckets;
    values[counter.word] = std::accumulate(buckets, buckets + counter.shape.buckets,
                                           more[Shape::kBelow] + more[Shape::kAbove]);
  }
}

// The minimum of nothing is shown as what other counters begin with.
void end_minima(const std::vector<ShardJoin>& joins, std::uint64_t* values) noexcept {
  for (std::size_t word = 0; word < joins.size(); ++word) {
    const bool is_empty =
        joins[word] == ShardJoin::kMinimum && values[word] == first_value(joins[word]);
    if (is_empty) values[word] = 0;
  }
}

}  // namespace

std::size_t read_row(const BlockParts<const SharedWord>& block, Consistency consistency,
                     const SweepTarget& target) noexcept {
  return read_block(block, consistency, target);
}

std::size_t read_sharded_row(const BlockParts<const SharedWord>& first, std::uint64_t generation,
                             const Counterset& set, std::uint64_t* one_shard,
                             const SweepTarget& target, RowConsistency& consistency) noexcept {
  const bool is_block = set.consistency == Consistency::kBlock;
  consistency = is_block ? RowConsistency::kShards : RowConsistency::kIndependent;
  std::size_t failed = read_block(first, set.consistency, target);
  for (std::uint32_t shard = 1; shard < set.form.shards; ++shard) {
    if (*target.status == RowStatus::kBusy) break;
    const auto block = shard_parts(first, set.form, shard);
    // In use only if it was opened in this life. [R8] pairs with [S3]: what was counted before is
    // seen.
    const SlotWord slot = slot_of<StdAtomics>(*block.slot);
    if (slot.generation != generation || slot.state != SlotState::kLive) continue;
    RowStatus status = RowStatus::kFresh;
    failed += read_block(block, set.consistency, {one_shard, target.versions + shard, &status});
    if (status != RowStatus::kFresh) *target.status = status;
    const bool is_shared = shard + 1 == set.form.shards;
    if (is_shared) count_parts(set, one_shard);
    join(set.joins, target.values, one_shard);
    if (is_shared && is_block) consistency = RowConsistency::kSharedCounters;
  }
  if (*target.status == RowStatus::kBusy) {
    std::fill_n(target.values, set.form.words, std::uint64_t{0});
  } else {
    end_minima(set.joins, target.values);
  }
  return failed;
}

SweepRun portable_sweep(QueryPlan::Run::Kind kind, Consistency consistency) noexcept {
  using Kind = QueryPlan::Run::Kind;
  const bool is_independent = consistency == Consistency::kIndependent;
  if (kind == Kind::kTiles) return is_independent ? copy_independent<kLanes> : sweep_tiles;
  if (!is_independent) return sweep_rows<Consistency::kBlock>;
  return kind == Kind::kLines ? copy_independent<1> : sweep_rows<Consistency::kIndependent>;
}

SweepRun best_sweep(QueryPlan::Run::Kind kind, Consistency consistency,
                    [[maybe_unused]] std::size_t words) noexcept {
#ifdef METERBANK_VECTOR_LOADS
  using Kind = QueryPlan::Run::Kind;
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2 && consistency == Consistency::kBlock && kind != Kind::kScattered) {
    const auto& of_width = kind == Kind::kTiles ? kOfWidth.tiles : kOfWidth.lines;
    return of_width[words <= kUnrolledWords ? words : 0];
  }
#endif
  return portable_sweep(kind, consistency);
}

}  // namespace meterbank
