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
#include "older_rows.hpp"
#include "total.hpp"
#include "value_form.hpp"

namespace meterbank {

class RowCursor {
 public:
  // Before the first row. Precondition: the newer sample has a plan; the older one has, or is null.
  void start(const Sample* older, const Sample& newer, CookOptions options);
  // To the next row that has values; false: there is none.
  [[nodiscard]] bool next();
  [[nodiscard]] bool was_used() const noexcept { return was_used_; }
  // Forgets the samples.
  void stop() noexcept { newer_ = nullptr; }

  [[nodiscard]] const Row& row() const noexcept { return row_; }
  [[nodiscard]] std::size_t values() const noexcept {
    return is_total_ ? total_.size() : counters_->size();
  }
  // Cooks a value of the row.
  void cook(std::size_t index);
  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  using Counters = std::vector<std::uint32_t>;  // indexes in Counterset::counters

  [[nodiscard]] bool next_of_selections();
  [[nodiscard]] bool next_of_answers();
  [[nodiscard]] bool next_of_answer(const ItemAnswer& answer);
  void show(std::size_t row, const Counters& counters);
  [[nodiscard]] bool show_total();
  void add_to_total(std::size_t row, const Counters& counters, bool with_undefined);
  void add_ended(const Counterset& set);
  [[nodiscard]] const Counters& counters_of(const ItemAnswer& answer, std::size_t row);
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
  const Counterset* counters_set_ = nullptr;
  Counters item_counters_;  // of counters_set_, for the present answer

  Row row_;
  bool is_total_ = false;
  std::size_t number_ = 0;  // of the row in the newer sample
  bool has_older_ = false;
  std::size_t before_ = 0;  // its number in the older one
  const Counters* counters_ = nullptr;
  Value value_;
  FormRoom room_;
  Total total_;
  std::weak_ptr<const QueryPlan> ended_plan_;  // that the next are of
  std::vector<EndedOfSet> ended_;
};

}  // namespace meterbank
