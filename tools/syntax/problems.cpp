// SPDX-License-Identifier: Apache-2.0
#include "syntax/problems.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace meterbank::syntax {
namespace {

// A line that a message may quote can be as long as the file.
constexpr std::size_t kPartBytesMax = 600;

void append_safely(std::string_view text, Charset charset, std::string& out) {
  const RepairedText shown = repair_utf8(text, kPartBytesMax);
  out += escape_composed(shown.text, Composed::kLine, charset);
  if (shown.shortened) out += "...";
}

void append_line(const std::string& where, std::string_view kind, std::string_view text,
                 Charset charset, std::string& out) {
  out.append(where).append(": ").append(kind).append(": ");
  append_safely(text, charset, out);
  out += '\n';
}

struct Less {
  bool operator()(const Problem* left, const Problem* right) const {
    return std::tie(left->place, left->what, left->hint) <
           std::tie(right->place, right->what, right->hint);
  }
};

}  // namespace

std::string Problems::text(const std::string& file, Charset charset) const {
  // Two at one place stay in the order in which they were found.
  std::vector<const Problem*> sorted;
  sorted.reserve(all_.size());
  for (const Problem& problem : all_) sorted.push_back(&problem);
  std::ranges::stable_sort(sorted, {}, [](const Problem* problem) { return problem->place; });

  std::string name;
  append_safely(escape_for_terminal(repair_utf8(file).text), charset, name);
  std::string out;
  std::size_t shown = 0;
  std::set<const Problem*, Less> met;
  for (const Problem* each : sorted) {
    const Problem& problem = *each;
    if (!met.insert(each).second || shown == kShownMax) continue;
    ++shown;
    std::string where = name;
    if (problem.place.is_known()) {
      where +=
          ':' + std::to_string(problem.place.line) + ':' + std::to_string(problem.place.column);
    }
    append_line(where, "error", problem.what, charset, out);
    if (!problem.hint.empty()) append_line(where, "hint", problem.hint, charset, out);
  }
  if (met.size() > shown) {
    append_line(name, "error", "and " + std::to_string(met.size() - shown) + " more", charset, out);
  }
  return out;
}

}  // namespace meterbank::syntax
