// SPDX-License-Identifier: Apache-2.0
//
// Where an iteration over a sample is: one row, and the values of it that are cooked as they are
// asked for. Keeps its memory from iteration to iteration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../plan/query_plan.hpp"
#include "cook_formula.hpp"
#include "older_rows.hpp"
#include "total.hpp"
#include "value_form.hpp"

namespace meterbank {

class RowCursor {
 public:
  // Plain numbers are independent of each other: the processor works on several at a time.
  static constexpr std::size_t kPlainTogether = 8;

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
  // Precondition: the row has a value at `index`. Cooks values of the row from `index` on: one, or
  // several if they are plain. They stay until the next call.
  [[nodiscard]] std::span<const Value> cook_from(std::size_t index) {
    const std::size_t plain = may_cook_plain_ ? counters_[index].plain_run : 0;
    return plain == 0 ? cook_in_full(index) : cook_plain(index, plain);
  }

 private:
  // A counter of the rows that follow, with what each value of it would look up again.
  struct Counter {
    const CounterView* view;
    std::uint32_t index;  // in Counterset::counters
    std::uint32_t word;   // in the row
    // Plain counters from here on, as many as are cooked together: unsigned numbers that are
    // is_unlinked(), of kValue, kDelta or kRate. 0: this one is not plain.
    std::uint32_t plain_run;
    std::uint64_t mask;         // value_mask()
    std::uint64_t mask_before;  // the same of the older value; 0 if no result needs one
    double divisor, factor;  // the difference is divided by the one, then multiplied by the other
  };

  [[nodiscard]] bool next_of_selections();
  [[nodiscard]] bool next_of_answers();
  [[nodiscard]] bool next_of_answer(const ItemAnswer& answer);
  [[nodiscard]] bool add_up(std::size_t first_share);
  void show(std::size_t row);
  [[nodiscard]] bool show_total();
  void add_to_total(std::size_t row, bool with_undefined);
  void add_ended(const Counterset& set);
  void add_counter(const Counterset& set, std::uint32_t index);
  void use_counters_of(const QueryPlan::Selection& selection);
  void use_counters_of(const ItemAnswer& answer, std::size_t row);
  void share_plain() noexcept;
  void count_plain_runs() noexcept;
  [[nodiscard]] std::span<const Value> cook_plain(std::size_t index, std::size_t count) noexcept;
  // Without an older row.
  [[nodiscard]] std::span<const Value> cook_first(std::size_t index, std::size_t count) noexcept;
  [[nodiscard]] std::span<const Value> cook_in_full(std::size_t index);
  [[nodiscard]] const RowPlace& place_before() const noexcept {
    return is_of_one_plan_ ? place_ : place_before_;
  }
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

  // Where the next row is: the rest of a selection and the selection after it, or what an answer
  // has left.
  std::size_t next_row_ = 0, rows_left_ = 0;
  std::size_t selection_ = 0;
  std::size_t answer_ = 0, next_ = 0;  // an answer, and a row of it
  std::size_t item_ = 0;               // that the answer is about
  // Those of the selection, or of the answer in the set.
  std::vector<Counter> counters_;
  const Counterset* counters_set_ = nullptr;

  Row row_;
  RowPlace place_;                               // where row_ is, unless it is a total
  const QueryPlan::Selection* shown_ = nullptr;  // whose provider and set row_ has
  bool is_total_ = false;
  const std::uint64_t* words_ = nullptr;         // those of row_
  const std::uint64_t* words_before_ = nullptr;  // of the same row in the older sample; null: none
  RowPlace place_before_;  // where that row is, if there is one and the plans differ
  // Both samples have the same plan, or there is one sample. Then each row is of the same life and
  // at the same place in both, and each counter of the same type.
  bool is_of_one_plan_ = false;
  double ticks_ = 0;             // between the samples, of the performance clock; 0: no time passed
  Value value_;                  // that was cooked in full
  bool may_cook_plain_ = false;  // whether cook_plain() is right for row_
  // Values that are cooked together. share_plain() writes what all of them have in common.
  std::array<Value, kPlainTogether> plain_;
  FormRoom room_;
  Total total_;
  std::weak_ptr<const QueryPlan> ended_plan_;  // that the next are of
  std::vector<EndedOfSet> ended_;
};

// The result of cook(), by the three formulas that need no more than this: one for all, since a
// number divided by one and times one is itself. Precondition: time passed.
inline std::span<const Value> RowCursor::cook_plain(std::size_t index, std::size_t count) noexcept {
  if (words_before_ == nullptr) return cook_first(index, count);
  const Counter* counter = &counters_[index];
  for (Value& value : std::span(plain_).first(count)) {
    const std::uint64_t now = words_[counter->word] & counter->mask;
    const std::uint64_t before = words_before_[counter->word] & counter->mask;
    const std::uint64_t difference = (now - (before & counter->mask_before)) & counter->mask;
    value.counter = counter->view;
    value.raw.value = now;
    if (now < before && counter->mask_before == ~std::uint64_t{0}) [[unlikely]] {
      value.cooked = {0, CookStatus::kReset};
    } else {
      value.cooked.value = static_cast<double>(difference) / counter->divisor * counter->factor;
      value.cooked.status = now == before ? CookStatus::kUnchanged : CookStatus::kNew;
    }
    ++counter;
  }
  return {plain_.data(), count};
}

}  // namespace meterbank
