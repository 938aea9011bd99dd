// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/suggest.hpp"

#include <algorithm>
#include <utility>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

void fold_into(std::string_view text, std::u32string& out) {
  out.clear();
  FoldCursor cursor(text);
  while (!cursor.done()) out.push_back(cursor.next());
}

// Three rows of the usual matrix, of which only the cells within `limit` of the diagonal can hold
// an answer; the others count as `limit + 1`. Those right of it keep that value from the beginning,
// since the band only moves to the right.
std::size_t bounded_distance(const std::u32string& left, const std::u32string& right,
                             std::size_t limit, std::vector<std::uint32_t>& rows) {
  const std::size_t beyond = limit + 1;
  const std::size_t longer = std::max(left.size(), right.size());
  const std::size_t shorter = std::min(left.size(), right.size());
  if (longer - shorter > limit) return beyond;

  const std::size_t width = right.size() + 1;
  const auto far = static_cast<std::uint32_t>(beyond);
  rows.assign(3 * width, far);
  std::uint32_t* two_above = rows.data();
  std::uint32_t* above = two_above + width;
  std::uint32_t* row = above + width;
  for (std::size_t column = 0; column < std::min(width, beyond); ++column) {
    above[column] = static_cast<std::uint32_t>(column);
  }
  for (std::size_t line = 1; line <= left.size(); ++line) {
    const std::size_t first = line > limit ? line - limit : 1;
    const std::size_t last = std::min(right.size(), line + limit);
    row[first - 1] = first == 1 ? std::min(far, static_cast<std::uint32_t>(line)) : far;
    std::uint32_t nearest = row[first - 1];
    for (std::size_t column = first; column <= last; ++column) {
      const bool same = left[line - 1] == right[column - 1];
      std::uint32_t edits = above[column - 1] + (same ? 0U : 1U);
      edits = std::min(edits, row[column - 1] + 1U);
      edits = std::min(edits, above[column] + 1U);
      if (line > 1 && column > 1 && left[line - 1] == right[column - 2] &&
          left[line - 2] == right[column - 1]) {
        edits = std::min(edits, two_above[column - 2] + 1U);
      }
      row[column] = std::min(edits, far);
      nearest = std::min(nearest, row[column]);
    }
    // Every way to the end leads through this line, also a swap: what it jumps over is at most one
    // edit dearer than where it jumps from.
    if (nearest == far) return beyond;
    std::swap(two_above, above);
    std::swap(above, row);
  }
  return std::min<std::size_t>(above[right.size()], beyond);
}

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right, std::size_t limit) {
  std::u32string folded_left;
  std::u32string folded_right;
  fold_into(left, folded_left);
  fold_into(right, folded_right);
  std::vector<std::uint32_t> rows;
  const std::size_t longer = std::max(folded_left.size(), folded_right.size());
  const std::size_t useful = std::min(limit, longer);  // no two names are further apart
  return bounded_distance(folded_left, folded_right, useful, rows);
}

NearestName::NearestName(std::string_view word) : limit_(0) {
  fold_into(word, word_);
  if (word_.empty()) {
    exact_ = true;  // nothing is like no word at all
    return;
  }
  limit_ = std::clamp<std::size_t>(word_.size() / 3, 1, kEditsMax);
  limit_ = std::min(limit_, word_.size() - 1);  // one character must remain in common
}

void NearestName::consider(std::string_view candidate) {
  if (exact_) return;
  fold_into(candidate, candidate_);
  const std::size_t edits = bounded_distance(word_, candidate_, limit_, rows_);
  if (edits > limit_) return;
  best_ = std::string(candidate);
  if (edits == 0) {
    exact_ = true;
  } else {
    limit_ = edits - 1;  // from here on only a nearer one will do
  }
}

}  // namespace meterbank
