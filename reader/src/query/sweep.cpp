// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include <algorithm>

#include "meterbank/shm/block.hpp"

#if defined(__x86_64__) && !defined(METERBANK_THREAD_SANITIZER)
#define METERBANK_SWEEP_AVX2 1
#include <immintrin.h>
#endif

namespace meterbank {
namespace {

constexpr std::size_t kLanes = 8;

SweepTarget target_of(const SweepTarget& first, std::size_t row, std::size_t words) noexcept {
  return {first.values + row * words, first.versions + row, first.highest + row,
          first.status + row};
}

void accept(const SweepTarget& row, std::uint64_t version) noexcept {
  *row.versions = version;
  *row.highest = version;
  *row.status = RowStatus::kFresh;
}

// A kernel leaves odd numbers to read_row(), which is no failure; an even one that it could not
// accept is an attempt that failed.
std::size_t evens(std::uint64_t seq) noexcept { return (seq & 1) == 0 ? 1 : 0; }

// What a tile's sequence words say about its copied rows: one bit a row that cannot be accepted.
unsigned refused_lanes(const std::uint64_t* before, const SharedWord* seq,
                       const std::uint64_t* highest) noexcept {
  unsigned refused = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t again = StdAtomics::load_relaxed(seq[lane]);  // relaxed: fenced in by [R2]
    const bool good =
        (before[lane] & 1) == 0 && again == before[lane] && before[lane] / 2 >= highest[lane];
    refused |= (good ? 0U : 1U) << lane;
  }
  return refused;
}

// Accepts the good rows of a tile and reads the others one by one.
[[gnu::noinline]] std::size_t patch_tile(const std::uint64_t* before, unsigned refused,
                                         const QueryPlan::Row* rows,
                                         const SweepTarget& tile) noexcept {
  std::size_t failed = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const SweepTarget row = target_of(tile, lane, rows[lane].block.words);
    if ((refused >> lane & 1) == 0) {
      accept(row, before[lane] / 2);
    } else {
      failed += evens(before[lane]) + read_row(rows[lane], Consistency::kBlock, row);
    }
  }
  return failed;
}

std::size_t sweep_tiles(const QueryPlan::Run& run, const QueryPlan::Row* rows,
                        Consistency consistency, const SweepTarget& target) noexcept {
  const std::size_t words = rows->block.words;
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; row += kLanes) {
    const SharedWord* head = run.head + row / kLanes * run.head_words;
    const SweepTarget tile = target_of(target, row, words);
    std::uint64_t before[kLanes] = {};
    if (consistency == Consistency::kIndependent) {
      StdAtomics::copy_words(tile.values, head + 2 * kLanes, kLanes * words);
      for (std::size_t lane = 0; lane < kLanes; ++lane) accept(target_of(tile, lane, words), 0);
      continue;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      before[lane] = StdAtomics::load_acquire(head[lane]);  // [R1] see block.hpp
    }
    StdAtomics::copy_words(tile.values, head + 2 * kLanes, kLanes * words);
    StdAtomics::fence_acquire();  // [R2] see block.hpp: the second look must follow the copy
    failed += patch_tile(before, refused_lanes(before, head, tile.highest), rows + row, tile);
  }
  return failed;
}

std::size_t sweep_lines(const QueryPlan::Run& run, const QueryPlan::Row* rows,
                        Consistency consistency, const SweepTarget& target) noexcept {
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; ++row) {
    failed += read_row(rows[row], consistency, target_of(target, row, rows[row].block.words));
  }
  return failed;
}

#ifdef METERBANK_SWEEP_AVX2

// Vector loads of words that another process stores to: assembler, because the compiler may not
// split, repeat or merge them. Both vendors document that an aligned 8-byte lane is read as a
// whole. Volatile assembler keeps its order; the clobber orders it with everything else.
__attribute__((target("avx2"), always_inline)) inline __m256i load_four(
    const SharedWord* source) noexcept {
  __m256i four;
  asm volatile("vmovdqu (%1), %0" : "=x"(four) : "r"(source) : "memory");
  return four;
}

__attribute__((target("avx2"), always_inline)) inline void store_four(std::uint64_t* target,
                                                                      __m256i four) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), four);
}

__attribute__((target("avx2"), always_inline)) inline __m256i plain_four(
    const std::uint64_t* source) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
}

__attribute__((target("avx2"), always_inline)) inline void copy_wide(std::uint64_t* target,
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

// Four rows of a tile: true if all are even, did not move and are not older than before.
__attribute__((target("avx2"), always_inline)) inline bool all_good(__m256i before, __m256i again,
                                                                    __m256i version,
                                                                    __m256i highest) noexcept {
  const __m256i moved = _mm256_xor_si256(before, again);
  const __m256i odd = _mm256_and_si256(before, _mm256_set1_epi64x(1));
  const __m256i older = _mm256_cmpgt_epi64(highest, version);
  const __m256i wrong = _mm256_or_si256(_mm256_or_si256(moved, odd), older);
  return _mm256_testz_si256(wrong, wrong) != 0;
}

__attribute__((target("avx2"))) std::size_t sweep_tiles_avx2(const QueryPlan::Run& run,
                                                             const QueryPlan::Row* rows,
                                                             Consistency consistency,
                                                             const SweepTarget& target) noexcept {
  if (consistency == Consistency::kIndependent) return sweep_tiles(run, rows, consistency, target);
  const std::size_t words = rows->block.words;
  std::size_t failed = 0;
  for (std::size_t row = 0; row < run.rows; row += kLanes) {
    const SharedWord* head = run.head + row / kLanes * run.head_words;
    const SweepTarget tile = target_of(target, row, words);
    // [R1] see block.hpp: an ordinary load acquires on this processor.
    const __m256i low = load_four(head);
    const __m256i high = load_four(head + 4);
    copy_wide(tile.values, head + 2 * kLanes, kLanes * words);
    StdAtomics::fence_acquire();  // [R2] see block.hpp: the second look must follow the copy
    const __m256i low_version = _mm256_srli_epi64(low, 1);
    const __m256i high_version = _mm256_srli_epi64(high, 1);
    if (all_good(low, load_four(head), low_version, plain_four(tile.highest)) &&
        all_good(high, load_four(head + 4), high_version, plain_four(tile.highest + 4))) {
      store_four(tile.versions, low_version);
      store_four(tile.versions + 4, high_version);
      store_four(tile.highest, low_version);
      store_four(tile.highest + 4, high_version);
      std::fill_n(tile.status, kLanes, RowStatus::kFresh);
      continue;
    }
    std::uint64_t before[kLanes];
    store_four(before, low);
    store_four(before + 4, high);
    failed += patch_tile(before, refused_lanes(before, head, tile.highest), rows + row, tile);
  }
  return failed;
}

__attribute__((target("avx2"))) std::size_t sweep_lines_avx2(const QueryPlan::Run& run,
                                                             const QueryPlan::Row* rows,
                                                             Consistency consistency,
                                                             const SweepTarget& target) noexcept {
  if (consistency == Consistency::kIndependent) return sweep_lines(run, rows, consistency, target);
  const std::size_t words = rows->block.words;
  std::size_t failed = 0;
  const SharedWord* head = run.head;
  for (std::size_t row = 0; row < run.rows; ++row, head += run.head_words) {
    const SweepTarget one = target_of(target, row, words);
    const std::uint64_t before = StdAtomics::load_acquire(*head);  // [R1] see block.hpp
    if ((before & 1) == 0 && before / 2 >= *one.highest) {
      copy_wide(one.values, head + 2, words);
      StdAtomics::fence_acquire();  // [R2] see block.hpp: the second look must follow the copy
      if (StdAtomics::load_relaxed(*head) == before) {  // relaxed: fenced in by [R2]
        accept(one, before / 2);
        continue;
      }
    }
    failed += evens(before) + read_row(rows[row], Consistency::kBlock, one);
  }
  return failed;
}

#endif

}  // namespace

std::size_t read_row(const QueryPlan::Row& row, Consistency consistency,
                     const SweepTarget& target) noexcept {
  const BlockParts<const SharedWord>& block = row.block;
  if (consistency == Consistency::kIndependent) {
    StdAtomics::copy_words(target.values, block.copy0, block.words);
    accept(target, 0);
    return 0;
  }
  const ReadResult read = read_bounded<StdAtomics>(block, target.values, *target.highest);
  // Sequence numbers grow in every honest segment, so an older version is no version.
  if (read.status == ReadStatus::kBusy || read.version < *target.highest) {
    std::fill_n(target.values, block.words, std::uint64_t{0});
    *target.versions = 0;
    *target.status = RowStatus::kBusy;
    return read.attempts;
  }
  accept(target, read.version);
  if (read.status == ReadStatus::kCheckpoint) *target.status = RowStatus::kCheckpoint;
  return read.attempts;
}

const SweepKernels& portable_kernels() noexcept {
  static constexpr SweepKernels kPortable{sweep_tiles, sweep_lines};
  return kPortable;
}

const SweepKernels& best_kernels() noexcept {
#ifdef METERBANK_SWEEP_AVX2
  static constexpr SweepKernels kAvx2{sweep_tiles_avx2, sweep_lines_avx2};
  static const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
  if (kHasAvx2) return kAvx2;
#endif
  return portable_kernels();
}

}  // namespace meterbank
