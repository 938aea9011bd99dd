// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/recent_window.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::pcp {
namespace {

void append_words(const Counterset& set, const StoredRow& row, std::vector<std::uint64_t>& words) {
  for (const CounterView& counter : set.counters) {
    if (counter.form != ValueForm::kDistribution) continue;
    words.push_back(row[counter.word]);
    for (std::uint32_t word = 0; word < counter.more_words; ++word) {
      words.push_back(row[counter.more + word]);
    }
  }
}

}  // namespace

void RecentWindow::advance(const Layout& layout, const Sample& sample, std::uint64_t now_ns) {
  if (last_ns_ != 0 && now_ns - last_ns_ < kMarkNs) return;
  begin_ = std::exchange(last_, mark(layout, sample));
  last_ns_ = now_ns;
}

RecentWindow::Mark RecentWindow::mark(const Layout& layout, const Sample& sample) {
  Mark made;
  const std::span<const RowStatus> statuses = sample.statuses();
  for (const RowBlock& block : layout.blocks) {
    if (block.lives.empty()) continue;
    MarkedBlock& marked = made[block.registration];
    for (std::size_t row = 0; row < block.lives.size(); ++row) {
      if (!holds_values(statuses[block.first_row + row])) continue;
      marked.lives.push_back(block.lives[row]);
      append_words(*block.set, sample.stored(block.first_row + row), marked.words);
    }
  }
  return made;
}

std::span<const std::uint64_t> RecentWindow::before(const RowBlock& block, std::size_t row,
                                                    const MetricSource& source) const {
  const auto marked = begin_.find(block.registration);
  if (marked == begin_.end() || row >= block.lives.size()) return {};
  const std::vector<RowLife>& lives = marked->second.lives;
  const RowLife& wanted = block.lives[row];
  const auto at = std::lower_bound(
      lives.begin(), lives.end(), wanted,
      [](const RowLife& left, const RowLife& right) { return left.slot < right.slot; });
  if (at == lives.end() || *at != wanted) return {};
  const std::size_t words_of_row = marked->second.words.size() / lives.size();
  const std::size_t words = 1 + std::size_t{source.counter->more_words};
  // A hostile provider may have changed its set since.
  if (source.marked_at + words > words_of_row) return {};
  const auto first = static_cast<std::size_t>(at - lives.begin()) * words_of_row + source.marked_at;
  return std::span(marked->second.words).subspan(first, words);
}

}  // namespace meterbank::pcp
