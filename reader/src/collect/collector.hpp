// SPDX-License-Identifier: Apache-2.0
//
// Copies the rows of one plan into samples. Knows which versions it returned, so that no row ever
// goes back in time.
//
// Thread safety: one thread at a time. Progress: collect() makes no system call, allocates nothing
// once the sample has its size, and ends after a bounded number of steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../plan/query_plan.hpp"
#include "sweep.hpp"

namespace meterbank {

class Collector {
 public:
  // `versions`: what was returned last of each block, 0 for nothing; see Selection::first_version.
  Collector(std::shared_ptr<const QueryPlan> plan, SampleWords versions);

  [[nodiscard]] const std::shared_ptr<const QueryPlan>& plan() const noexcept { return plan_; }
  [[nodiscard]] const SampleWords& versions() const noexcept { return versions_; }

  // Whether prepare() would change nothing. Asked at every collect(), so it is here.
  [[nodiscard]] bool is_prepared(const SampleContent& sample) const noexcept {
    return sample.plan == plan_ && sample.values.size() == plan_->words &&
           sample.status.size() == plan_->rows.size() &&
           sample.consistency.size() == plan_->rows.size() &&
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

  std::shared_ptr<const QueryPlan> plan_;
  SampleWords versions_;                  // returned last, one a block
  std::vector<std::uint64_t> one_shard_;  // room for the words of a block
  std::vector<SweepRun> sweeps_;          // one a run of the plan
};

}  // namespace meterbank
