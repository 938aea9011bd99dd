// SPDX-License-Identifier: Apache-2.0
//
// Collecting the rows of a query as of one moment.
//
// Exact: all rows are copied, and then all their numbers are looked at again. A number that has not
// moved says that its row was the same from the copy until that look, so if none has moved, all
// rows were so at the moment when the last look began. Rows that moved are copied again, and
// everything is looked at once more. A sharded row has a number a block; where threads share a
// block there is none, and the row is not exact.
//
// Cut: each row is taken as it was at one epoch of its provider, see docs/protocol.md.
#include <algorithm>

#include "../catalog/liveness_words.hpp"
#include "../plan/query_plan.hpp"
#include "collector.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/block.hpp"
#include "meterbank/shm/segment.hpp"
#include "sweep.hpp"

namespace meterbank {
namespace {

constexpr unsigned kCutRounds = 3;

bool is_final(const QueryPlan::Selection& selection) noexcept {
  return selection.provider->state == ProviderState::kDead;
}

// Rows of a recording are of many moments, and nothing tells how far these are apart.
bool is_recorded(const QueryPlan::Selection& selection) noexcept {
  return selection.set->recorded != nullptr;
}

// Rows whose commits are numbered, in memory that their provider writes to.
bool is_numbered(const QueryPlan::Selection& selection) noexcept {
  const Counterset& set = *selection.set->set;
  return set.consistency == Consistency::kBlock && selection.answered == nullptr &&
         !is_recorded(selection);
}

// The settled epoch of a selection that can be read at one; 0: it cannot. Where the provider has
// ended there is none: the last values are newer and do not move.
std::uint64_t settled_epoch(const QueryPlan::Selection& selection) noexcept {
  if (!is_numbered(selection) || selection.set->set->form.cut_pair == 0) return 0;
  const SegmentHeader& header = selection.provider->segment->header();
  if (is_final(selection) || is_closed(header) || owner_died(header)) return 0;
  // [R10] pairs with [E4]. Without it the blocks could be read as they were before the barrier.
  return header.settled_epoch.load(std::memory_order_acquire);
}

// Whether a sharded row has moved since it was copied. One with a block that threads share counts
// as moved.
bool has_moved(const BlockParts<const SharedWord>& first, std::uint64_t generation,
               const BlockForm& form, const std::uint64_t* versions) noexcept {
  for (std::uint32_t shard = 0; shard < form.shards; ++shard) {
    const auto block = shard_parts(first, form, shard);
    // relaxed, both loads: the caller's fence comes between the copies and them. What was counted
    // in a block that is not open yet cannot be in a row that was copied.
    const auto slot = SlotWord::of(StdAtomics::load_relaxed(*block.slot));
    const bool is_open = slot.generation == generation && slot.state == SlotState::kLive;
    if (shard != 0 && !is_open) continue;
    const std::uint64_t seq = StdAtomics::load_relaxed(*block.seq);
    const bool is_shared = shard + 1 == form.shards;
    if (is_shared || (seq + 1) / 2 != versions[shard]) return true;
  }
  return false;
}

CutQuality worse(CutQuality left, CutQuality right) noexcept { return std::min(left, right); }

}  // namespace

// Copies the rows whose number has moved since they were copied, and those that are not current.
// Returns how many there were. Bounded, one read_row() each.
std::size_t Collector::read_moved(const QueryPlan::Selection& selection, SampleContent& sample,
                                  CollectSummary& summary) noexcept {
  const std::size_t words = selection.set->set->form.words;
  std::size_t moved = 0;
  for (const Part& part : parts_of(selection)) {
    for (const QueryPlan::Run& run : part.runs()) {
      const RunBlocks blocks(selection, *part.rows, run);
      const std::size_t first = part.first_row + run.first_row;
      std::uint64_t* const values = sample.values.data() + selection.first_value + first * words;
      RowStatus* const status = sample.status.data() + selection.first_row + first;
      std::uint64_t* const known = part.versions + run.first_row;
      for (std::size_t row = 0; row < run.rows; ++row) {
        // relaxed: the caller's fence comes between the copies and this load.
        const std::uint64_t seq = StdAtomics::load_relaxed(*blocks[row].seq);
        if (status[row] == RowStatus::kFresh && (seq + 1) / 2 == known[row]) continue;
        ++moved;
        const SweepTarget target{values + row * words, known + row, status + row};
        summary.failed_attempts += read_row(blocks[row], Consistency::kBlock, target);
      }
    }
  }
  return moved;
}

// The same of a sharded set.
std::size_t Collector::join_moved(const QueryPlan::Selection& selection, SampleContent& sample,
                                  CollectSummary& summary) noexcept {
  const Counterset& set = *selection.set->set;
  std::size_t moved = 0;
  for (const Part& part : parts_of(selection)) {
    const RowBlocks blocks(selection, *part.rows, 0);
    std::uint64_t* versions = part.versions;
    for (std::size_t row = 0; row < part.rows->size(); ++row, versions += set.form.shards) {
      const std::size_t in_selection = part.first_row + row;
      const std::size_t at = selection.first_row + in_selection;
      const std::uint64_t generation = blocks.instance(row).generation;
      const bool is_same = sample.status[at] == RowStatus::kFresh &&
                           !has_moved(blocks[row], generation, set.form, versions);
      if (is_same) continue;
      ++moved;
      std::uint64_t* const values =
          sample.values.data() + selection.first_value + in_selection * set.form.words;
      const SweepTarget target{values, versions, sample.status.data() + at};
      summary.failed_attempts += read_sharded_row(blocks[row], generation, set, one_shard_.data(),
                                                  target, sample.consistency[at]);
    }
  }
  return moved;
}

// All rows of the selection as they were at the epoch; false: one was not to be had, or is older
// than what was returned of it before.
bool Collector::read_epoch(const QueryPlan::Selection& selection, std::uint64_t epoch,
                           SampleContent& sample) noexcept {
  std::uint64_t* values = sample.values.data() + selection.first_value;
  RowStatus* status = sample.status.data() + selection.first_row;
  for (const Part& part : parts_of(selection)) {
    std::uint64_t* known = part.versions;
    for (const QueryPlan::Run& run : part.runs()) {
      const RunBlocks blocks(selection, *part.rows, run);
      for (std::size_t row = 0; row < run.rows; ++row) {
        const BlockParts<const SharedWord> block = blocks[row];
        std::uint64_t version = 0;
        const CutStatus read = read_at_epoch<StdAtomics>(block, epoch, values, version);
        const bool is_had = read == CutStatus::kCurrent || read == CutStatus::kSaved;
        if (!is_had || version < *known) return false;
        *known++ = version;
        *status++ = read == CutStatus::kCurrent ? RowStatus::kFresh : RowStatus::kCheckpoint;
        values += block.words;
      }
    }
  }
  return true;
}

// All selections of one provider at one epoch, beginning with the first that has one. An epoch that
// was lost while reading is followed by a newer one, a few times.
void Collector::read_provider_epoch(std::size_t first, SampleContent& sample) noexcept {
  const auto& selections = plan_->selections;
  const auto* const provider = selections[first].provider.get();
  for (unsigned round = 0; round < kCutRounds; ++round) {
    const std::uint64_t epoch = settled_epoch(selections[first]);
    if (epoch == 0) return;
    bool is_whole = true;
    for (std::size_t index = first; index < selections.size() && is_whole; ++index) {
      const QueryPlan::Selection& selection = selections[index];
      if (selection.provider.get() != provider || settled_epoch(selection) == 0) continue;
      is_whole = read_epoch(selection, epoch, sample);
      sample.cuts[index].quality = is_whole ? CutQuality::kCut : CutQuality::kPerBlock;
    }
    if (is_whole) return;
    for (std::size_t index = first; index < selections.size(); ++index) {
      if (selections[index].provider.get() == provider) sample.cuts[index] = SelectionCut{};
    }
  }
}

void Collector::read_epochs(SampleContent& sample) noexcept {
  const auto& selections = plan_->selections;
  for (std::size_t index = 0; index < selections.size(); ++index) {
    const auto* const provider = selections[index].provider.get();
    const auto has_epoch = [&](const QueryPlan::Selection& selection) {
      return selection.provider.get() == provider && settled_epoch(selection) != 0;
    };
    if (!has_epoch(selections[index])) continue;
    // A provider is read at its first selection.
    if (std::any_of(selections.data(), selections.data() + index, has_epoch)) continue;
    read_provider_epoch(index, sample);
  }
}

// The rest: copies, then looks until nothing has moved. SelectionCut::skew_ns holds the time of the
// first load until the end.
void Collector::read_exactly(SampleContent& sample, CollectSummary& summary) noexcept {
  const auto& selections = plan_->selections;
  for (std::size_t index = 0; index < selections.size(); ++index) {
    SelectionCut& cut = sample.cuts[index];
    if (cut.quality == CutQuality::kCut) continue;
    const std::uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    summary.failed_attempts += copy_selection(selections[index], sample);
    cut.skew_ns = is_numbered(selections[index]) ? began_ns : clock_ns(CLOCK_MONOTONIC) - began_ns;
    if (is_final(selections[index])) cut = {CutQuality::kExact, 0};
    if (is_recorded(selections[index])) cut = {};
  }
  std::size_t moved = 1;
  for (unsigned round = 0; round < kCutRounds && moved != 0; ++round) {
    moved = 0;
    for (std::size_t index = 0; index < selections.size(); ++index) {
      SelectionCut& cut = sample.cuts[index];
      const bool is_settled = cut.quality == CutQuality::kCut || is_final(selections[index]);
      if (is_settled || !is_numbered(selections[index])) continue;
      // [R2] of each row copied before: a word of a later commit drags its number along. Without
      // it the numbers below could be older than the copies of other rows.
      StdAtomics::fence_acquire();
      const bool is_sharded = selections[index].set->set->form.sharded();
      const std::size_t here = is_sharded ? join_moved(selections[index], sample, summary)
                                          : read_moved(selections[index], sample, summary);
      cut.quality = here == 0 ? CutQuality::kExact : CutQuality::kPerBlock;
      moved += here;
    }
  }
  const std::uint64_t ended_ns = clock_ns(CLOCK_MONOTONIC);
  for (std::size_t index = 0; index < selections.size(); ++index) {
    SelectionCut& cut = sample.cuts[index];
    if (cut.quality != CutQuality::kPerBlock)
      cut.skew_ns = 0;
    else if (is_numbered(selections[index]))
      cut.skew_ns = ended_ns - cut.skew_ns;
  }
  summary.cut = moved == 0 ? CutQuality::kExact : CutQuality::kPerBlock;
}

void Collector::collect_cut(SampleContent& sample, Cut cut, CollectSummary& summary) noexcept {
  const auto& selections = plan_->selections;
  sample.cuts.assign(selections.size(), SelectionCut{});
  if (cut == Cut::kEpoch) read_epochs(sample);
  read_exactly(sample, summary);
  bool is_one_cut = !selections.empty();
  for (std::size_t index = 0; index < selections.size(); ++index) {
    finish_selection(selections[index], summary.failed_attempts + 1, sample, summary);
    summary.cut = worse(summary.cut, sample.cuts[index].quality);
    is_one_cut &= sample.cuts[index].quality == CutQuality::kCut &&
                  selections[index].provider == selections.front().provider;
  }
  // Each provider has epochs of its own, and what is exact is newer than any of them.
  if (summary.cut == CutQuality::kCut && !is_one_cut) summary.cut = CutQuality::kPerBlock;
}

}  // namespace meterbank
