// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "../catalog/liveness_words.hpp"
#include "../catalog/memory/private_groups.hpp"
#include "../plan/query_plan.hpp"
#include "../plan/row_blocks.hpp"
#include "collector.hpp"
#include "meterbank/shm/segment.hpp"
#include "sweep.hpp"

namespace meterbank {
namespace {

// f(row of the sample, its part, row of the part) for all rows of the selection.
template <typename F>
void for_each_row(const QueryPlan::Selection& selection, F&& f) noexcept {
  std::size_t index = selection.first_row;
  for (const QueryPlan::RowList::Part& part : selection.list->parts) {
    for (std::size_t row = 0; row < part.rows->size(); ++row) f(index++, *part.rows, row);
  }
}

std::uint64_t* words_of(const QueryPlan::Selection& selection, std::size_t row,
                        SampleContent& sample) noexcept {
  const std::size_t words = selection.set->set->form.words;
  return sample.values.data() + selection.first_value + (row - selection.first_row) * words;
}

// After a change of the membership: rows whose slot has ended its life, or has a new one.
void check_slots(const QueryPlan::Selection& selection, SampleContent& sample) noexcept {
  for_each_row(selection, [&](std::size_t index, const auto& part, std::size_t row) {
    const BlockParts<const SharedWord> block = RowBlocks(selection, part, row)[0];
    // relaxed: fenced in by [R5] in finish_selection().
    const SlotWord slot = SlotWord::of(StdAtomics::load_relaxed(*block.slot));
    if (slot.generation != part.instance(row).generation) {
      std::fill_n(words_of(selection, index, sample), block.words, std::uint64_t{0});
      sample.status[index] = RowStatus::kGone;
    } else if (slot.state == SlotState::kClosed && sample.status[index] != RowStatus::kBusy) {
      sample.status[index] = RowStatus::kClosed;
    }
  });
}

// What the end of a provider or registration makes of rows that were read; kFresh: nothing.
RowStatus ending_of(const QueryPlan::Selection& selection) noexcept {
  const SegmentHeader& header = selection.provider->segment->header();
  if (is_closed(header)) return RowStatus::kClosed;
  const ProviderState state = selection.provider->state;
  if (state == ProviderState::kDead) return RowStatus::kDead;
  const bool may_live = state == ProviderState::kLive || state == ProviderState::kForeign;
  if (may_live && owner_died(header)) return RowStatus::kDead;
  // relaxed: the state orders nothing here, the values stand for themselves.
  const auto word = RegistrationWord::of(StdAtomics::load_relaxed(*selection.word));
  const bool ended =
      word.generation != selection.set->generation || word.state == RegistrationState::kClosed;
  return ended ? RowStatus::kClosed : RowStatus::kFresh;
}

// What asking came to. A row that failed to come holds nothing, so that an older answer does not
// pass for a new one.
void check_answer(const QueryPlan::Selection& selection, SampleContent& sample) noexcept {
  // relaxed, both: this thread stored them when it asked.
  const auto answered = static_cast<RowStatus>(StdAtomics::load_relaxed(*selection.answered));
  for_each_row(selection, [&](std::size_t index, const auto& part, std::size_t row) {
    const BlockParts<const SharedWord> block = RowBlocks(selection, part, row)[0];
    const bool has_values = StdAtomics::load_relaxed(*block.seq) != 0;
    if (answered == RowStatus::kFresh && has_values) return;
    std::fill_n(words_of(selection, index, sample), block.words, std::uint64_t{0});
    sample.status[index] = answered == RowStatus::kFresh ? RowStatus::kUnanswered : answered;
  });
}

// What the recording says of the rows. A plan of an earlier tick may know rows that ended since,
// and rows whose place has another one now.
void show_recorded(const QueryPlan::Selection& selection, SampleContent& sample) noexcept {
  // relaxed, all loads: the thread that plays the recording collects.
  const auto word = RegistrationWord::of(StdAtomics::load_relaxed(*selection.word));
  const bool is_removed = word.state == RegistrationState::kClosed;
  for_each_row(selection, [&](std::size_t index, const auto& part, std::size_t number) {
    const RowBlocks blocks(selection, part, number);
    const InstanceView& instance = part.instance(number);
    const auto row = RecordedRow::of(StdAtomics::load_relaxed(blocks.recorded(0)));
    const auto slot = SlotWord::of(StdAtomics::load_relaxed(*blocks[0].slot));
    sample.status[index] = row.status;
    sample.consistency[index] = row.consistency;
    const bool is_same = row.slot == instance.slot && slot.generation == instance.generation;
    if (!is_same) {
      sample.status[index] = RowStatus::kGone;
    } else if (holds_values(row.status) && row.status != RowStatus::kDead &&
               (is_removed || slot.state == SlotState::kClosed)) {
      sample.status[index] = RowStatus::kClosed;
    }
    if (holds_values(sample.status[index])) return;
    std::fill_n(words_of(selection, index, sample), blocks.words(), std::uint64_t{0});
  });
}

std::size_t not_fresh(const QueryPlan::Selection& selection, const SampleContent& sample) noexcept {
  const RowStatus* const first = sample.status.data() + selection.first_row;
  const auto fresh = std::count(first, first + selection.rows, RowStatus::kFresh);
  return selection.rows - static_cast<std::size_t>(fresh);
}

// Whether what is copied of the selection would push itself out of the caches before it is read.
bool exceeds_caches(const QueryPlan::Selection& selection) noexcept {
  constexpr std::size_t kBytes = std::size_t{4} << 20;  // more than the second cache of most
  return selection.rows * selection.set->set->form.words * sizeof(std::uint64_t) >= kBytes;
}

bool has_changed(const ProviderView& provider) noexcept {
  if (provider.segment == nullptr) return false;
  const SegmentHeader& header = provider.segment->header();
  // [Q5] pairs with [P5]. Without it a refresh() after "stale" could still see the old directory.
  const std::uint64_t version = header.directory_version.load(std::memory_order_acquire);
  if (version != provider.directory_version) return true;
  return provider.state == ProviderState::kLive && owner_died(header);
}

}  // namespace

PartVersions no_versions(std::size_t blocks) {
  auto memory = zeroed_lines(blocks * sizeof(std::uint64_t));
  return {memory, reinterpret_cast<std::uint64_t*>(memory.get())};
}

Versions no_versions(const QueryPlan& plan) {
  Versions versions;
  versions.reserve(plan.parts);
  for (const QueryPlan::Selection& selection : plan.selections) {
    const std::size_t shards = form_of(*selection.set).shards;
    for (const QueryPlan::RowList::Part& part : selection.list->parts) {
      versions.push_back(no_versions(part.rows->size() * shards));
    }
  }
  return versions;
}

Collector::Collector(std::shared_ptr<const QueryPlan> plan, Versions versions)
    : plan_(std::move(plan)), versions_(std::move(versions)), one_shard_(plan_->widest_shard) {
  using Kind = QueryPlan::Run::Kind;
  sweeps_.reserve(plan_->selections.size());
  parts_.reserve(plan_->parts);
  for (const QueryPlan::Selection& selection : plan_->selections) {
    const BlockForm& form = form_of(*selection.set);
    SweepRuns& sweeps = sweeps_.emplace_back();
    for (const Kind kind : {Kind::kTiles, Kind::kLines, Kind::kScattered}) {
      sweeps[static_cast<std::size_t>(kind)] =
          sweep_of(kind, form.consistency, form.words, widest_sweep());
    }
    for (const auto& [rows, first_row] : selection.list->parts) {
      const std::vector<QueryPlan::Run>& runs = rows->runs;
      parts_.push_back({rows.get(), first_row, versions_[parts_.size()].get(), runs.size(),
                        runs.empty() ? QueryPlan::Run{} : runs.front()});
    }
  }
}

bool Collector::prepare(SampleContent& sample, Words words) const {
  if (is_prepared(sample)) return false;
  // Without a plan, until it is complete: if memory runs out, the sample is empty.
  sample.plan = nullptr;
  if (words == Words::kZero || sample.values.size() != plan_->words) {
    sample.values.assign(plan_->words, 0);
  }
  sample.status.assign(plan_->rows, RowStatus::kBusy);
  sample.consistency.resize(plan_->rows);
  for (const QueryPlan::Selection& selection : plan_->selections) {
    const bool is_block = selection.set->set->consistency == Consistency::kBlock;
    const auto whole = is_block ? RowConsistency::kBlock : RowConsistency::kIndependent;
    // join_shards() has its own opinion.
    std::fill_n(sample.consistency.data() + selection.first_row, selection.rows, whole);
  }
  sample.cuts.clear();
  sample.cuts.reserve(plan_->selections.size());
  sample.plan = plan_;
  return true;
}

std::size_t Collector::join_shards(const QueryPlan::Selection& selection,
                                   SampleContent& sample) noexcept {
  const Counterset& set = *selection.set->set;
  std::uint64_t* values = sample.values.data() + selection.first_value;
  std::size_t index = selection.first_row;
  std::size_t failed = 0;
  for (const Part& part : parts_of(selection)) {
    const RowBlocks blocks(selection, *part.rows, 0);
    std::uint64_t* versions = part.versions;
    for (std::size_t row = 0; row < part.rows->size(); ++row, ++index) {
      const SweepTarget target{values, versions, sample.status.data() + index};
      failed += read_sharded_row(blocks[row], blocks.instance(row).generation, set,
                                 one_shard_.data(), target, sample.consistency[index]);
      values += set.form.words;
      versions += set.form.shards;
    }
  }
  return failed;
}

std::size_t Collector::copy_rows(const QueryPlan::Selection& selection,
                                 SampleContent& sample) noexcept {
  const auto number = static_cast<std::size_t>(&selection - plan_->selections.data());
  const std::size_t words = selection.set->set->form.words;
  std::uint64_t* const values = sample.values.data() + selection.first_value;
  RowStatus* const status = sample.status.data() + selection.first_row;
  const bool past_caches = exceeds_caches(selection);
  std::size_t failed = 0;
  for (const Part& part : parts_of(selection)) {
    for (const QueryPlan::Run& run : part.runs()) {
      const std::size_t row = part.first_row + run.first_row;
      SweepTarget target{values + row * words, part.versions + run.first_row, status + row};
      target.past_caches =
          past_caches && reinterpret_cast<std::uintptr_t>(target.values) % kCacheLine == 0;
      const RowBlocks blocks(selection, *part.rows, run.first_row);
      failed += sweeps_[number][static_cast<std::size_t>(run.kind)](run, blocks, target);
    }
  }
  return failed;
}

// Returns the failed attempts.
std::size_t Collector::copy_selection(const QueryPlan::Selection& selection,
                                      SampleContent& sample) noexcept {
  return form_of(*selection.set).sharded() ? join_shards(selection, sample)
                                           : copy_rows(selection, sample);
}

// After the copies: what has become of the rows. `failed` is 0 if all are known to be fresh.
void Collector::finish_selection(const QueryPlan::Selection& selection, std::size_t failed,
                                 SampleContent& sample, CollectSummary& summary) noexcept {
  if (selection.set->recorded != nullptr) {
    show_recorded(selection, sample);
    summary.not_fresh += not_fresh(selection, sample);
    return;
  }
  // [R5] pairs with [S2]. Without it the membership could be looked at before the copies it vouches
  // for, and words of a slot's next life would pass as those of the life that the plan knows.
  StdAtomics::fence_acquire();
  // relaxed: fenced in by [R5]. Unchanged since the catalog listed the live slots: none was reused.
  const bool members_changed =
      StdAtomics::load_relaxed(*selection.membership) != selection.set->membership;
  if (members_changed) check_slots(selection, sample);
  RowStatus* const first = sample.status.data() + selection.first_row;
  const RowStatus ending = ending_of(selection);
  if (ending != RowStatus::kFresh) {
    std::replace(first, first + selection.rows, RowStatus::kFresh, ending);
    std::replace(first, first + selection.rows, RowStatus::kCheckpoint, ending);
  }
  const bool is_asked = selection.answered != nullptr;
  if (is_asked) check_answer(selection, sample);
  // Where no attempt failed and nothing ended, all rows are fresh.
  if (failed == 0 && !members_changed && ending == RowStatus::kFresh && !is_asked) return;
  summary.not_fresh += not_fresh(selection, sample);
}

void Collector::collect(SampleContent& sample, Cut cut, CollectSummary& summary) noexcept {
  summary.rows = plan_->rows;
  if (cut == Cut::kNone) {
    sample.cuts.clear();
    for (const QueryPlan::Selection& selection : plan_->selections) {
      const std::size_t failed = copy_selection(selection, sample);
      summary.failed_attempts += failed;
      finish_selection(selection, failed, sample, summary);
    }
  } else {
    collect_cut(sample, cut, summary);
  }
  for (const auto& provider : plan_->providers) summary.stale |= has_changed(*provider);
}

}  // namespace meterbank
