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
#include <utility>
#include <vector>

#include "meterbank/reader/query.hpp"

namespace meterbank {

class Collector {
 public:
  // `versions` has one a block of the plan: what was returned of it last, 0: nothing.
  Collector(std::shared_ptr<const QueryPlan> plan, std::vector<std::uint64_t> versions)
      : plan_(std::move(plan)), versions_(std::move(versions)), one_shard_(plan_->widest_shard) {}

  [[nodiscard]] const std::shared_ptr<const QueryPlan>& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::vector<std::uint64_t>& versions() const noexcept { return versions_; }

  // Sizes the sample for the plan. If it throws std::bad_alloc, the sample is empty.
  void prepare(Sample& sample) const;
  // All but what came of asking: Sample::callbacks and CollectSummary::unanswered are the caller's.
  CollectSummary collect(Sample& sample, Timestamp time, Cut cut) noexcept;

 private:
  [[nodiscard]] bool is_prepared(const Sample& sample) const noexcept;
  std::size_t copy_rows(const QueryPlan::Selection& selection, Sample& sample) noexcept;
  std::size_t join_moved(const QueryPlan::Selection& selection, Sample& sample,
                         CollectSummary& summary) noexcept;
  std::size_t join_shards(const QueryPlan::Selection& selection, Sample& sample) noexcept;
  std::size_t copy_selection(const QueryPlan::Selection& selection, Sample& sample) noexcept;
  void finish_selection(const QueryPlan::Selection& selection, std::size_t failed, Sample& sample,
                        CollectSummary& summary) noexcept;
  void collect_cut(Sample& sample, Cut cut, CollectSummary& summary) noexcept;
  void read_epochs(Sample& sample) noexcept;
  void read_provider_epoch(std::size_t first, Sample& sample) noexcept;
  bool read_epoch(const QueryPlan::Selection& selection, std::uint64_t epoch,
                  Sample& sample) noexcept;
  void read_exactly(Sample& sample, CollectSummary& summary) noexcept;
  std::size_t read_moved(const QueryPlan::Selection& selection, Sample& sample,
                         CollectSummary& summary) noexcept;

  std::shared_ptr<const QueryPlan> plan_;
  std::vector<std::uint64_t> versions_;   // returned last, one a block
  std::vector<std::uint64_t> one_shard_;  // room for the words of a block
};

}  // namespace meterbank
