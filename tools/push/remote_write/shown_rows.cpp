// SPDX-License-Identifier: Apache-2.0
#include "push/remote_write/shown_rows.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace meterbank::push::remote_write {
namespace {

using exposition::PageLayout;
using exposition::RowBlock;

// The labels of all rows shown, by the set that they belong to.
using Labels = std::unordered_map<std::string_view, std::unordered_set<std::string_view>>;

Labels labels_of(const PageLayout& layout, const ShownRows::Bits& shown) {
  Labels labels;
  for (std::size_t block = 0; block < shown.size(); ++block) {
    const RowBlock& rows = layout.blocks[block];
    auto& of_set = labels[rows.set_symbol];
    for (std::size_t row = 0; row < shown[block].size(); ++row) {
      if (shown[block][row]) of_set.insert(rows.texts[row]);
    }
  }
  return labels;
}

}  // namespace

void ShownRows::replace(const Layout& layout, Bits shown, const Ended& ended) {
  const Layout old_layout = std::exchange(layout_, layout);
  const Bits old_shown = std::exchange(shown_, std::move(shown));
  const bool is_same_layout = old_layout == layout_;
  const Labels labels = is_same_layout ? Labels() : labels_of(*layout_, shown_);
  for (std::size_t block = 0; block < old_shown.size(); ++block) {
    const RowBlock& rows = old_layout->blocks[block];
    const auto of_set = labels.find(rows.set_symbol);
    for (std::size_t row = 0; row < old_shown[block].size(); ++row) {
      if (!old_shown[block][row]) continue;
      const bool goes_on = is_same_layout
                               ? shown_[block][row]
                               : of_set != labels.end() && of_set->second.contains(rows.texts[row]);
      if (!goes_on) ended(block, row);
    }
  }
}

}  // namespace meterbank::push::remote_write
