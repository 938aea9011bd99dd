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

// There is a kernel for each number of words up to this one. Kernel 0 reads the number at run time.
constexpr std::size_t kUnrolledWords = 8;
using Widths = std::make_index_sequence<kUnrolledWords + 1>;
using KernelsOfWidth = std::array<SweepRun, kUnrolledWords + 1>;

// Vector loads of words that another process stores to: assembler, because the compiler may not
// split, repeat or merge them. Both vendors document that an aligned 8-byte lane is read as a
// whole. Volatile assembler keeps its order; the clobber orders it with everything else.
namespace avx2 {

#define METERBANK_LANES [[gnu::target("avx2")]]

struct Lanes {
  __m256i low, high;
};

METERBANK_LANES [[gnu::always_inline]] inline __m256i load_half(const SharedWord* source) noexcept {
  __m256i half;
  asm volatile("vmovdqu (%1), %0" : "=x"(half) : "r"(source) : "memory");
  return half;
}
METERBANK_LANES [[gnu::always_inline]] inline Lanes load(const SharedWord* source) noexcept {
  const __m256i low = load_half(source);
  return {low, load_half(source + kLanes / 2)};
}
METERBANK_LANES [[gnu::always_inline]] inline void store_half(std::uint64_t* target,
                                                              __m256i half) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), half);
}
METERBANK_LANES [[gnu::always_inline]] inline void store(std::uint64_t* target,
                                                         const Lanes& lanes) noexcept {
  store_half(target, lanes.low);
  store_half(target + kLanes / 2, lanes.high);
}
METERBANK_LANES [[gnu::always_inline]] inline void store_past_caches(std::uint64_t* target,
                                                                     const Lanes& lanes) noexcept {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(target), lanes.low);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(target + kLanes / 2), lanes.high);
}
METERBANK_LANES [[gnu::always_inline]] inline bool are_even_and_equal(const Lanes& left,
                                                                      const Lanes& right) noexcept {
  const __m256i differ = _mm256_or_si256(_mm256_xor_si256(left.low, right.low),
                                         _mm256_xor_si256(left.high, right.high));
  const __m256i odd = _mm256_and_si256(_mm256_or_si256(left.low, left.high), _mm256_set1_epi64x(1));
  const __m256i wrong = _mm256_or_si256(differ, odd);
  return _mm256_testz_si256(wrong, wrong) != 0;
}
METERBANK_LANES [[gnu::always_inline]] inline void store_half_if_new(std::uint64_t* target,
                                                                     __m256i half) noexcept {
  const __m256i known = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(target));
  const __m256i changed = _mm256_xor_si256(known, half);
  if (_mm256_testz_si256(changed, changed) == 0) store_half(target, half);
}
// Versions that did not change are not stored again: a load costs less than a store.
METERBANK_LANES [[gnu::always_inline]] inline void store_halves_if_new(
    std::uint64_t* target, const Lanes& lanes) noexcept {
  store_half_if_new(target, _mm256_srli_epi64(lanes.low, 1));
  store_half_if_new(target + kLanes / 2, _mm256_srli_epi64(lanes.high, 1));
}

#include "sweep_tiles.inc"

METERBANK_LANES [[gnu::always_inline]] inline void copy_words(std::uint64_t* target,
                                                              const SharedWord* source,
                                                              std::size_t count) noexcept {
  std::size_t word = 0;
  for (; word + kLanes <= count; word += kLanes) store(target + word, load(source + word));
  for (; word + 4 <= count; word += 4) store_half(target + word, load_half(source + word));
  for (; word < count; ++word) target[word] = StdAtomics::load_relaxed(source[word]);
}

template <std::size_t kWords>
METERBANK_LANES std::size_t lines_of_width(const QueryPlan::Run& run, const RowBlocks& blocks,
                                           const SweepTarget& target) noexcept {
  const std::size_t words = kWords != 0 ? kWords : blocks.words();
  const std::size_t head_words = run.head_words;
  const SharedWord* head = run.head;
  std::uint64_t* values = target.values;
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; ++row) {
    const std::uint64_t before = StdAtomics::load_acquire(*head);  // [R1] words after it
    copy_words(values, head + 2, words);
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

template <std::size_t... kWidths>
constexpr KernelsOfWidth lines_of(std::index_sequence<kWidths...>) noexcept {
  return {lines_of_width<kWidths>...};
}

#undef METERBANK_LANES

}  // namespace avx2

namespace avx512 {

#define METERBANK_LANES [[gnu::target("avx512f,avx512dq")]]

using Lanes = __m512i;

METERBANK_LANES [[gnu::always_inline]] inline Lanes load(const SharedWord* source) noexcept {
  Lanes lanes;
  asm volatile("vmovdqu64 (%1), %0" : "=v"(lanes) : "r"(source) : "memory");
  return lanes;
}
METERBANK_LANES [[gnu::always_inline]] inline void store(std::uint64_t* target,
                                                         Lanes lanes) noexcept {
  _mm512_storeu_si512(target, lanes);
}
METERBANK_LANES [[gnu::always_inline]] inline void store_past_caches(std::uint64_t* target,
                                                                     Lanes lanes) noexcept {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(target), lanes);
}
METERBANK_LANES [[gnu::always_inline]] inline bool are_even_and_equal(Lanes left,
                                                                      Lanes right) noexcept {
  const __mmask8 differ = _mm512_cmpneq_epi64_mask(left, right);
  const __mmask8 odd = _mm512_test_epi64_mask(left, _mm512_set1_epi64(1));
  return _kortestz_mask8_u8(differ, odd) != 0;
}
// Versions that did not change are not stored again: a load costs less than a store.
METERBANK_LANES [[gnu::always_inline]] inline void store_halves_if_new(std::uint64_t* target,
                                                                       Lanes lanes) noexcept {
  const Lanes halves = _mm512_maskz_srli_epi64(0xff, lanes, 1);  // not _mm512_srli: GCC bug 105593
  if (_mm512_cmpneq_epi64_mask(halves, _mm512_loadu_si512(target)) != 0) store(target, halves);
}

#include "sweep_tiles.inc"
#undef METERBANK_LANES

}  // namespace avx512

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

SweepWidth widest_sweep() noexcept {
#ifdef METERBANK_VECTOR_LOADS
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (has_avx2) return has_avx512 ? SweepWidth::kEightWords : SweepWidth::kFourWords;
#endif
  return SweepWidth::kOneWord;
}

SweepRun sweep_of(QueryPlan::Run::Kind kind, Consistency consistency,
                  [[maybe_unused]] std::size_t words, [[maybe_unused]] SweepWidth width) noexcept {
  using Kind = QueryPlan::Run::Kind;
  const bool is_block = consistency == Consistency::kBlock;
#ifdef METERBANK_VECTOR_LOADS
  if (is_block && kind != Kind::kScattered && width != SweepWidth::kOneWord) {
    // Wider registers do not speed up lines: their words start 16 bytes into a cache line, so each
    // load of 64 bytes would touch two lines.
    static constexpr KernelsOfWidth kLines = avx2::lines_of(Widths());
    static constexpr KernelsOfWidth kTilesByFour = avx2::tiles_of(Widths());
    static constexpr KernelsOfWidth kTilesByEight = avx512::tiles_of(Widths());
    const std::size_t known = words <= kUnrolledWords ? words : 0;
    if (kind == Kind::kLines) return kLines[known];
    return (width == SweepWidth::kEightWords ? kTilesByEight : kTilesByFour)[known];
  }
#endif
  if (kind == Kind::kTiles) return is_block ? sweep_tiles : copy_independent<kLanes>;
  if (is_block) return sweep_rows<Consistency::kBlock>;
  return kind == Kind::kLines ? copy_independent<1> : sweep_rows<Consistency::kIndependent>;
}

}  // namespace meterbank
