// SPDX-License-Identifier: Apache-2.0
#include "generator/input/near_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace meterbank::generator {
namespace {

std::string folded(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == '_' || c == '-' || c == ' ') continue;
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// How many characters are to be put in, left out, changed, or exchanged with their neighbour.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t change = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i < 2 || j < 2 || from[i - 1] != to[j - 2] || from[i - 2] != to[j - 1]) continue;
      row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

constexpr std::size_t kWordBytesMax = 64;  // what is longer is no slip of any word of ours

}  // namespace

NearWord::NearWord(std::string_view word)
    : word_(folded(word.substr(0, kWordBytesMax))),
      limit_(word.size() > kWordBytesMax ? 0 : std::max<std::size_t>(1, word_.size() / 3)) {}

void NearWord::consider(std::string_view candidate) {
  if (candidate.empty() || limit_ == 0) return;
  const std::size_t needed = edits(word_, folded(candidate));
  if (needed > limit_ || (needed == limit_ && !best_.empty())) return;
  limit_ = needed;
  best_ = candidate;
}

std::string NearWord::hint(std::string otherwise) const {
  return best_.empty() ? std::move(otherwise) : fmt::format("did you mean '{}'?", best_);
}

}  // namespace meterbank::generator
