// SPDX-License-Identifier: Apache-2.0
//
// "did you mean ...?" for names that matched nothing.
//
// Thread safety  One thread at a time per NearestName; functions may be called concurrently.
// Errors         May throw std::bad_alloc.
// Progress       Bounded by the limit of edits times the shorter name.
// Cost           NearestName keeps its memory from candidate to candidate.
// Lifetime       Keeps copies of what it is given.
// Units          Distances count edits of characters, which are code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank {

// Edits that turn one name into the other: a character inserted, dropped, changed, or two
// neighbours swapped, where no place is edited twice (optimal string alignment). Case is folded.
// Returns `limit + 1` once more than `limit` edits are known to be needed; the time is bounded by
// `limit` times the shorter name.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right,
                                        std::size_t limit);

// Considers candidates one by one and keeps the nearest; of equally near ones, the first.
class NearestName {
 public:
  // One edit in three characters is a slip, more is another word; so the distance is limited to a
  // third of the word, but at least one and at most `kEditsMax`.
  static constexpr std::size_t kEditsMax = 4;

  explicit NearestName(std::string_view word);

  void consider(std::string_view candidate);
  // As it was spelled; nothing if no candidate was near enough.
  [[nodiscard]] const std::optional<std::string>& best() const noexcept { return best_; }

 private:
  std::u32string word_;       // folded
  std::u32string candidate_;  // folded; kept for its memory
  std::vector<std::uint32_t> rows_;
  std::size_t limit_;  // a candidate must come this near to be taken
  bool exact_ = false;
  std::optional<std::string> best_;
};

// `candidates` is any range of what converts to std::string_view.
template <typename Candidates>
[[nodiscard]] std::optional<std::string> best_match(std::string_view word,
                                                    const Candidates& candidates) {
  NearestName nearest(word);
  for (const auto& candidate : candidates) nearest.consider(candidate);
  return nearest.best();
}

}  // namespace meterbank
