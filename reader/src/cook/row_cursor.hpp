// SPDX-License-Identifier: Apache-2.0
//
// Where an iteration over a sample is: one row, and the values of it that are cooked as they are
// asked for. Keeps its memory from iteration to iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../plan/query_plan.hpp"
#include "cook_formula.hpp"
#include "older_rows.hpp"
#include "total.hpp"
#include "value_form.hpp"

namespace meterbank {

class RowCursor {
 public:
  // Memory for the counters of any row of the plan.
  void reserve(const QueryPlan& plan);
  // Before the first row. Precondition: the newer sample has a plan; the older one has, or is null.
  void start(const Sample* older, const Sample& newer, CookOptions options);
  // To the next row that has values; false: there is none.
  [[nodiscard]] bool next();
  [[nodiscard]] bool was_used() const noexcept { return was_used_; }
  // Forgets the samples.
  void stop() noexcept { newer_ = nullptr; }

  [[nodiscard]] const Row& row() const noexcept { return row_; }
  [[nodiscard]] std::size_t values() const noexcept {
    return is_total_ ? total_.size() : counters_.size();
  }
  // Cooks a value of the row.
  void cook(std::size_t index) {
    const bool is_plain = may_cook_plain_ && counters_[index].plain != Formula::kNone;
    return is_plain ? cook_plain(counters_[index]) : cook_in_full(index);
  }
  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  // A counter of the rows that follow, with what each value of it would look up again.
  struct Counter {
    const CounterView* view;
    std::uint32_t index;  // in Counterset::counters
    // kValue, kDelta or kRate if the counter is plain: an unsigned number that is_unlinked(). Else
    // kNone.
    Formula plain;
    std::uint64_t mask;  // value_mask()
  };

  [[nodiscard]] bool next_of_selections();
  [[nodiscard]] bool next_of_answers();
  [[nodiscard]] bool next_of_answer(const ItemAnswer& answer);
  void show(std::size_t row);
  [[nodiscard]] bool show_total();
  void add_to_total(std::size_t row, bool with_undefined);
  void add_ended(const Counterset& set);
  void add_counter(const Counterset& set, std::uint32_t index);
  void use_counters_of(const QueryPlan::Selection& selection);
  void use_counters_of(const ItemAnswer& answer, std::size_t row);
  void share_plain() noexcept;
  void cook_plain(const Counter& counter) noexcept;
  [[nodiscard]] CookedValue cooked_plain(const Counter& counter, std::uint64_t now) const noexcept;
  void cook_in_full(std::size_t index);
  [[nodiscard]] Words older_words(const CounterView& counter, std::uint32_t index) const noexcept;
  [[nodiscard]] CookedValue cook_pair(const CounterView& counter, std::uint32_t index) const;

  // What has ended of a set; null: there is nothing more than the entries before.
  struct EndedOfSet {
    const Counterset* set;
    const EndedValues* values;
  };

  bool was_used_ = false;
  const SampleContent* older_ = nullptr;  // null: none
  const SampleContent* newer_ = nullptr;
  std::uint64_t older_time_ns_ = 0, newer_time_ns_ = 0;
  CookOptions options_;
  OlderRows older_rows_;

  // The place in the plan: a selection and a row of it, or an answer and what it has.
  std::size_t selection_ = 0, answer_ = 0;
  std::size_t next_ = 0;  // row of the selection, or of the answer
  std::size_t item_ = 0;  // that the answer is about
  // Those of the selection, or of the answer in the set.
  std::vector<Counter> counters_;
  const Counterset* counters_set_ = nullptr;

  Row row_;
  RowPlace place_;                               // where row_ is, unless it is a total
  const QueryPlan::Selection* shown_ = nullptr;  // whose provider and set row_ has
  bool is_total_ = false;
  const std::uint64_t* words_ = nullptr;         // those of row_
  const std::uint64_t* words_before_ = nullptr;  // of the same row in the older sample; null: none
  RowPlace place_before_;                        // where that row is, if there is one
  // Both samples have the same plan, or there is one sample. Then each row is of the same life in
  // both, and each counter of the same type.
  bool is_of_one_plan_ = false;
  double ticks_ = 0;  // between the samples, of the performance clock; 0: no time passed
  Value value_;
  bool may_cook_plain_ = false;  // the plain counters of the row
  bool is_plain_ = false;        // value_ has what share_plain() writes
  FormRoom room_;
  Total total_;
  std::weak_ptr<const QueryPlan> ended_plan_;  // that the next are of
  std::vector<EndedOfSet> ended_;
};

inline void RowCursor::cook_plain(const Counter& counter) noexcept {
  if (!is_plain_) share_plain();
  value_.counter = counter.view;
  value_.raw.value = words_[counter.view->word] & counter.mask;
  value_.cooked = cooked_plain(counter, value_.raw.value);
}

// The result of cook(), by the three formulas that need no more than this.
inline CookedValue RowCursor::cooked_plain(const Counter& counter,
                                           std::uint64_t now) const noexcept {
  if (words_before_ == nullptr) {
    if (counter.plain != Formula::kValue) return {0, CookStatus::kFirstSample};
    return {static_cast<double>(now), CookStatus::kNew};
  }
  const std::uint64_t before = words_before_[counter.view->word] & counter.mask;
  const CookStatus status = now == before ? CookStatus::kUnchanged : CookStatus::kNew;
  if (counter.plain == Formula::kValue) return {static_cast<double>(now), status};
  const bool wraps = counter.mask != ~std::uint64_t{0};
  if (now < before && !wraps) return {0, CookStatus::kReset};
  const auto difference = static_cast<double>((now - before) & counter.mask);
  if (counter.plain == Formula::kDelta) return {difference, status};
  if (ticks_ == 0) return {0, CookStatus::kNegativeTime};
  return {difference / ticks_ * kTicksPerSecond, status};
}

}  // namespace meterbank
