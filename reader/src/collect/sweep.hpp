// SPDX-License-Identifier: Apache-2.0
//
// Copying the blocks of a run of rows: the inner loops of collect().
//
// A sweep looks at sequence words only. Whether the slots are still in the life that the plan knows
// is asked once a selection, after the copy: a generation never returns, so "still the same
// afterwards" covers "before".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../plan/query_plan.hpp"
#include "../plan/row_blocks.hpp"

namespace meterbank {

// Where the rows of a run go: the first element of each array belongs to the first row.
struct SweepTarget {
  std::uint64_t* values = nullptr;
  // Returned last, kept by the query: a checkpoint must not be older. Fresh reads only store here;
  // the loads of one sequence word by one reader never run backwards.
  std::uint64_t* versions = nullptr;
  RowStatus* status = nullptr;
  // Values may be stored past the caches, which spares reading the lines first. Worth it where they
  // would not fit a cache. `values` begins at a cache line then.
  bool past_caches = false;
};

// One row, whose block is given. Returns the failed attempts. Bounded, see read_bounded(). A row
// that could not be had is all zeros.
std::size_t read_row(const BlockParts<const SharedWord>& block, Consistency consistency,
                     const SweepTarget& target) noexcept;

// A row of a sharded set: its blocks, joined. `first` is that of shard 0, `generation` the row's
// life. `versions` of the target has one a shard, `one_shard` room for the words of a block. The
// worst block decides about the row. Bounded: shards times read_bounded().
std::size_t read_sharded_row(const BlockParts<const SharedWord>& first, std::uint64_t generation,
                             const Counterset& set, std::uint64_t* one_shard,
                             const SweepTarget& target, RowConsistency& consistency) noexcept;

// The loop for runs of one kind, `blocks` being those of its rows. Returns the failed attempts.
using SweepRun = std::size_t (*)(const QueryPlan::Run& run, const RowBlocks& blocks,
                                 const SweepTarget& target) noexcept;
using SweepRuns = std::array<SweepRun, 3>;  // by QueryPlan::Run::Kind
// How many words a kernel loads at once. More than one only on x86-64: four need AVX2, eight need
// AVX-512.
enum class SweepWidth : std::uint8_t { kOneWord, kFourWords, kEightWords };
// The widest that this processor supports.
[[nodiscard]] SweepWidth widest_sweep() noexcept;
// For blocks of `words` words. Precondition: the processor supports `width`.
[[nodiscard]] SweepRun sweep_of(QueryPlan::Run::Kind kind, Consistency consistency,
                                std::size_t words, SweepWidth width) noexcept;

}  // namespace meterbank
