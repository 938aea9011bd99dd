// SPDX-License-Identifier: Apache-2.0
//
// Copies the rows of one plan into samples. Knows which versions it returned, so that no row ever
// goes back in time. It knows them part by part (QueryPlan::PieceRows), so that the collector of
// the next plan takes over what it has of parts that have not changed.
//
// Thread safety: one thread at a time. Progress: collect() makes no system call, allocates nothing
// once the sample has its size, and ends after a bounded number of steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../plan/query_plan.hpp"
#include "sweep.hpp"

namespace meterbank {

// What was returned last of each block of a part, 0 for nothing; `shards` a row. They begin at a
// cache line.
using PartVersions = std::shared_ptr<std::uint64_t[]>;
[[nodiscard]] PartVersions no_versions(std::size_t blocks);
// One a part of a plan.
using Versions = std::vector<PartVersions>;
[[nodiscard]] Versions no_versions(const QueryPlan& plan);

class Collector {
 public:
  Collector(std::shared_ptr<const QueryPlan> plan, Versions versions);

  [[nodiscard]] const std::shared_ptr<const QueryPlan>& plan() const noexcept { return plan_; }
  [[nodiscard]] const Versions& versions() const noexcept { return versions_; }

  // Whether prepare() would change nothing. Asked at every collect(), so it is here.
  [[nodiscard]] bool is_prepared(const SampleContent& sample) const noexcept {
    return sample.plan == plan_ && sample.values.size() == plan_->words &&
           sample.status.size() == plan_->rows && sample.consistency.size() == plan_->rows &&
           sample.cuts.capacity() >= plan_->selections.size();
  }
  // What a prepared sample holds: zeros, or anything, where collect() comes next. That writes every
  // word of every row.
  enum class Words : bool { kZero, kAny };
  // Sizes the sample for the plan; false: it had its size. If it throws std::bad_alloc, the sample
  // is empty.
  bool prepare(SampleContent& sample, Words words) const;
  // Preconditions: the sample is prepared, and the summary is new. What came of asking is the
  // caller's.
  void collect(SampleContent& sample, Cut cut, CollectSummary& summary) noexcept;

 private:
  // What a sweep needs of a part, in one place: with thousands of selections of few rows each, a
  // collect waits for memory most of the time.
  struct Part {
    const QueryPlan::PieceRows* rows;
    std::size_t first_row;  // in the selection
    std::uint64_t* versions;
    std::size_t run_count;
    QueryPlan::Run only_run;  // if there is one

    [[nodiscard]] std::span<const QueryPlan::Run> runs() const noexcept {
      return {run_count == 1 ? &only_run : rows->runs.data(), run_count};
    }
  };

  std::size_t copy_rows(const QueryPlan::Selection& selection, SampleContent& sample) noexcept;
  std::size_t join_moved(const QueryPlan::Selection& selection, SampleContent& sample,
                         CollectSummary& summary) noexcept;
  std::size_t join_shards(const QueryPlan::Selection& selection, SampleContent& sample) noexcept;
  std::size_t copy_selection(const QueryPlan::Selection& selection, SampleContent& sample) noexcept;
  void finish_selection(const QueryPlan::Selection& selection, std::size_t failed,
                        SampleContent& sample, CollectSummary& summary) noexcept;
  void collect_cut(SampleContent& sample, Cut cut, CollectSummary& summary) noexcept;
  void read_epochs(SampleContent& sample) noexcept;
  void read_provider_epoch(std::size_t first, SampleContent& sample) noexcept;
  bool read_epoch(const QueryPlan::Selection& selection, std::uint64_t epoch,
                  SampleContent& sample) noexcept;
  void read_exactly(SampleContent& sample, CollectSummary& summary) noexcept;
  std::size_t read_moved(const QueryPlan::Selection& selection, SampleContent& sample,
                         CollectSummary& summary) noexcept;

  [[nodiscard]] std::span<const Part> parts_of(
      const QueryPlan::Selection& selection) const noexcept {
    return {parts_.data() + selection.first_part, selection.parts};
  }

  std::shared_ptr<const QueryPlan> plan_;
  Versions versions_;
  std::vector<std::uint64_t> one_shard_;  // room for the words of a block
  std::vector<SweepRuns> sweeps_;         // one a selection
  std::vector<Part> parts_;               // those of all selections
};

}  // namespace meterbank
