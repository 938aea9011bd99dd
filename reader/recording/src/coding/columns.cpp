// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {
namespace {

// Words that a block does not have are left out: the set may come from a file.
void fill(std::span<Column> columns, std::size_t first, std::size_t count, Column column) {
  if (first >= columns.size()) return;
  std::ranges::fill(columns.subspan(first, std::min(count, columns.size() - first)), column);
}

// The words of this counter behind those of all counters.
void fill_more(std::span<Column> columns, const CounterView& counter) {
  const std::size_t times = counter.timed ? 1 : 0;
  const std::size_t others = std::max<std::size_t>(counter.more_words, times) - times;
  if (counter.form == ValueForm::kText) {
    fill(columns, counter.more, others, Column::kText);
  } else if (counter.form == ValueForm::kDistribution) {
    fill(columns, counter.more, others, Column::kBucket);
    constexpr std::size_t kReals = 3;
    static_assert(DistributionShape::kSum == 0 && DistributionShape::kMost == kReals - 1);
    fill(columns, counter.more, std::min(others, kReals), Column::kReal);
  }
  fill(columns, counter.more + others, times, Column::kTime);
}

}  // namespace

std::vector<Column> columns_of(const Counterset& set) {
  std::vector<Column> columns(set.form.words, Column::kInteger);
  for (const CounterView& counter : set.counters) {
    if (counter.form == ValueForm::kReal) fill(columns, counter.word, 1, Column::kReal);
    fill_more(columns, counter);
  }
  if (set.stamp_word != kNoCounter) fill(columns, set.stamp_word, 1, Column::kTime);
  return columns;
}

}  // namespace meterbank::recording
