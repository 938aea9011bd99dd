// SPDX-License-Identifier: Apache-2.0
#include "report/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>

#include "report/results_file.hpp"
#include "report/table.hpp"

namespace meterbank::bench {
namespace {

// Medians that are nearer than this count as equal.
constexpr double kLeastBesideLimit = 1.10;
constexpr double kLeastAlone = 1.25;
constexpr double kLeastBytes = 1.10;

enum class Direction { kSame, kUp, kDown };

Direction direction(const Spread& before, const Spread& after, double least) noexcept {
  if (after.p10 > before.p90 && after.median >= before.median * least) return Direction::kUp;
  if (after.p90 < before.p10 && after.median * least <= before.median) return Direction::kDown;
  return Direction::kSame;
}

// Rows of one group and name are told apart by their order.
using Key = std::tuple<std::string, std::string, std::string, std::size_t>;

std::map<Key, const ResultRow*> by_key(const std::vector<ResultRow>& rows) {
  std::map<Key, const ResultRow*> found;
  for (const ResultRow& row : rows) {
    Key key(row.group, row.name, row.unit, 0);
    while (found.contains(key)) ++std::get<3>(key);
    found.emplace(std::move(key), &row);
  }
  return found;
}

void compare_bytes(const ResultRow& before, const ResultRow& after, Changes& changes) {
  const double old_bytes = before.measured->median, new_bytes = after.measured->median;
  if (new_bytes > old_bytes * kLeastBytes) {
    changes.rows.push_back({Change::kLarger, &before, &after});
  } else if (new_bytes * kLeastBytes < old_bytes) {
    changes.rows.push_back({Change::kSmaller, &before, &after});
  } else {
    ++changes.unchanged;
  }
}

void compare_row(const ResultRow& before, const ResultRow& after, Changes& changes) {
  if (!before.measured || !after.measured) {
    ++changes.not_compared;
    return;
  }
  if (before.once || after.once) {
    if (after.unit == "B") return compare_bytes(before, after, changes);
    ++changes.not_compared;
    return;
  }
  const bool has_ratio = before.ratio && after.ratio;
  const double least = has_ratio ? kLeastBesideLimit : kLeastAlone;
  const Direction cost = direction(*before.measured, *after.measured, least);
  const Direction ratio = has_ratio ? direction(*before.ratio, *after.ratio, least) : cost;
  if (cost == ratio && cost != Direction::kSame) {
    const Change change = cost == Direction::kUp ? Change::kSlower : Change::kFaster;
    changes.rows.push_back({change, &before, &after});
    return;
  }
  ++changes.unchanged;
  if (cost != ratio) ++changes.changed_in_part;
}

std::string_view word_of(Change change) noexcept {
  constexpr std::string_view kWords[] = {"slower", "faster", "larger", "smaller", "new", "gone"};
  return kWords[static_cast<std::size_t>(change)];
}

std::string cost_text(const ResultRow& row) {
  if (!row.measured) return "-";
  std::string median = value_text(row.measured->median, row.unit);
  if (row.once) return median;
  return fmt::format("{} ({}-{})", median, value_text(row.measured->p10, row.unit),
                     value_text(row.measured->p90, row.unit));
}

std::string text_of(const ResultRow& row) {
  std::string text = cost_text(row);
  if (row.ratio) text += fmt::format(", ratio {:.2f}", row.ratio->median);
  if (row.instructions) text += fmt::format(", {:.1f} instructions", *row.instructions);
  return text;
}

void print(const ChangedRow& row) {
  const ResultRow& named = row.after != nullptr ? *row.after : *row.before;
  std::string text;
  if (row.before != nullptr) text = text_of(*row.before);
  if (row.before != nullptr && row.after != nullptr) text += " -> ";
  if (row.after != nullptr) text += text_of(*row.after);
  fmt::print("{:<8} {}: {}\n         {}\n", word_of(row.change), named.group, named.name, text);
}

void print_counts(const Changes& changes) {
  std::string text;
  for (const Change change : {Change::kSlower, Change::kFaster, Change::kLarger, Change::kSmaller,
                              Change::kNew, Change::kGone}) {
    const auto count = std::ranges::count(changes.rows, change, &ChangedRow::change);
    if (count != 0) text += fmt::format("{} {}, ", count, word_of(change));
  }
  fmt::print("{}{} unchanged\n", text, changes.unchanged);
  if (changes.changed_in_part != 0) {
    fmt::print("  of these, {} changed in the measured cost or in the ratio, but not in both\n",
               changes.changed_in_part);
  }
  if (changes.not_compared != 0) {
    fmt::print("{} not compared: they have no rounds, or were not measured\n",
               changes.not_compared);
  }
}

std::string processor_of(const Conditions& conditions) {
  return fmt::format("{}, family {}, model {}, vectors of {} bits", conditions.processor,
                     conditions.family, conditions.model, conditions.vector_bits);
}

}  // namespace

bool Changes::any_slower() const noexcept {
  return std::ranges::any_of(rows, [](const ChangedRow& row) {
    return row.change == Change::kSlower || row.change == Change::kLarger;
  });
}

Changes compare(const Results& before, const Results& after) {
  const auto old_rows = by_key(before.rows), new_rows = by_key(after.rows);
  Changes changes;
  for (const auto& [key, row] : old_rows) {
    const auto found = new_rows.find(key);
    if (found == new_rows.end()) {
      changes.rows.push_back({Change::kGone, row, nullptr});
    } else {
      compare_row(*row, *found->second, changes);
    }
  }
  for (const auto& [key, row] : new_rows) {
    if (!old_rows.contains(key)) changes.rows.push_back({Change::kNew, nullptr, row});
  }
  std::ranges::stable_sort(changes.rows, {}, &ChangedRow::change);
  return changes;
}

std::vector<std::string> different_conditions(const Results& before, const Results& after) {
  std::vector<std::string> lines;
  const auto differ = [&](std::string_view what, const std::string& one, const std::string& other) {
    if (one != other) lines.push_back(fmt::format("different {}: {} -> {}", what, one, other));
  };
  const Conditions &earlier = before.conditions, &later = after.conditions;
  differ("processors", processor_of(earlier), processor_of(later));
  differ("compilers", earlier.compiler, later.compiler);
  differ("builds", earlier.build, later.build);
  const auto inputs = [](const Results& results) {
    return std::string(results.quick ? "--quick, whose figures mean nothing" : "full");
  };
  differ("inputs", inputs(before), inputs(after));
  return lines;
}

int compare_files(const std::string& before, const std::string& after) {
  const auto old_results = read_results(before), new_results = read_results(after);
  for (const auto* results : {&old_results, &new_results}) {
    if (!*results) std::fprintf(stderr, "meterbank_bench: %s\n", results->error().c_str());
  }
  if (!old_results || !new_results) return 2;
  for (const std::string& line : different_conditions(*old_results, *new_results)) {
    fmt::print("{}\n", line);
  }
  const Changes changes = compare(*old_results, *new_results);
  for (const ChangedRow& row : changes.rows) print(row);
  print_counts(changes);
  return changes.any_slower() ? 1 : 0;
}

}  // namespace meterbank::bench
