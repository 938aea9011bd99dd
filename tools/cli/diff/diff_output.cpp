// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/diff_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "cli/format/json.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "meterbank/shm/utf8.hpp"
#include "units/base_unit.hpp"

namespace meterbank::cli {
namespace {

using compare::FindingKind;
using compare::NotCompared;

// Of the numbers of a finding.
std::string unit_of(const compare::Finding& finding) {
  const auto& counter = finding.series->counter;
  if (finding.percentile != 0) return counter.unit;
  const std::string unit = cooked_unit(counter);
  return finding.series->weight == compare::Weight::kPerSecond ? unit + "/s" : unit;
}

bool has_numbers(const compare::Finding& finding) {
  return finding.kind == FindingKind::kNumber || finding.kind == FindingKind::kStill;
}

std::string percent_of(double share) {
  if (std::isinf(share)) return share > 0 ? "+inf" : "-inf";
  const double percent = share * 100;
  constexpr double kLeastShown = 0.05;
  if (std::abs(percent) < kLeastShown) return "0.0 %";
  const int digits = std::abs(percent) < 100 ? 1 : 0;
  return fmt::format("{:+.{}f} %", percent, digits);
}

std::string change_text(const compare::Finding& finding) {
  if (!has_numbers(finding)) return finding.is_changed ? finding.what : "-";
  if (std::isinf(finding.change.middle)) return "from 0";
  return percent_of(finding.change.middle);
}

std::string range_text(const compare::Finding& finding) {
  if (finding.kind == FindingKind::kStill) return "stood still";
  if (finding.kind != FindingKind::kNumber) return {};
  const auto& [low, middle, high] = finding.change;
  if (std::isinf(low) && std::isinf(high)) {
    return low > 0 ? "more than 0" : high < 0 ? "less than 0" : "unknown";
  }
  if (std::isinf(high)) return percent_of(low) + " or more";
  if (std::isinf(low)) return percent_of(high) + " or less";
  return fmt::format("{} to {}", percent_of(low), percent_of(high));
}

// Paths as they are shown: with the provider where several have the same.
class ShownPaths {
 public:
  explicit ShownPaths(const compare::Comparison& found) {
    for (const auto& finding : found.findings) note(finding.path, finding.provider);
    for (const auto& skipped : found.skipped) note(skipped.path, skipped.provider);
  }

  [[nodiscard]] std::string operator()(const std::string& path, const std::string& provider) const {
    const bool is_shared = !provider.empty() && shared_.contains(path);
    return is_shared ? provider + ":" + path : path;
  }

 private:
  void note(const std::string& path, const std::string& provider) {
    const auto [known, is_new] = providers_.emplace(path, provider);
    if (!is_new && known->second != provider) shared_.emplace(path);
  }

  std::unordered_map<std::string_view, std::string_view> providers_;
  std::unordered_set<std::string_view> shared_;
};

std::vector<std::string> cells_of(const compare::Finding& finding, const ShownPaths& paths,
                                  UnitStyle units) {
  std::string a = finding.text_a, b = finding.text_b;
  if (has_numbers(finding)) {
    const std::string unit = unit_of(finding);
    a = print_quantity(finding.a, unit, units);
    b = print_quantity(finding.b, unit, units);
  }
  return {change_text(finding), paths(finding.path, finding.provider), std::move(a), std::move(b),
          range_text(finding)};
}

std::string side_text(std::string_view name, const DiffSide& side, const LocalForm& form) {
  return fmt::format("{}  {}  {} to {}, {}\n", name, escape_for_terminal(side.path),
                     print_local(side.from_ns, form), print_local(side.to_ns, form),
                     counted(side.observation.samples(), "sample"));
}

template <typename Take>
void each_reason(const compare::Comparison& found, Take&& take) {
  for (std::size_t i = 0; i < compare::kNotComparedReasons; ++i) {
    const auto reason = static_cast<NotCompared>(i);
    if (const std::size_t count = found.count(reason); count != 0) take(reason, count);
  }
}

std::string_view kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kProvider:
      return "provider";
    case FindingKind::kInstance:
      return "instance";
    case FindingKind::kSchema:
      return "schema";
    case FindingKind::kText:
      return "text";
    case FindingKind::kStill:
      return "still";
    case FindingKind::kNumber:
      break;
  }
  return "number";
}

void add_side(JsonWriter& json, std::string_view name, const DiffSide& side) {
  json.key(name).begin_object();
  json.key("recording").text(side.path);
  json.key("from").text(print_utc(side.from_ns)).key("to").text(print_utc(side.to_ns));
  json.key("samples").number(side.observation.samples());
  json.key("seconds").number(side.observation.seconds());
  json.end_object();
}

void add_numbers(JsonWriter& json, const compare::Finding& finding) {
  const std::string unit = unit_of(finding);
  const Quantity a = in_base_unit(finding.a, unit), b = in_base_unit(finding.b, unit);
  json.key("unit").text(a.unit);
  json.key("a").number_or_null(a.value).key("b").number_or_null(b.value);
  json.key("change").number_or_null(finding.change.middle);
  json.key("low").number_or_null(finding.change.low);
  json.key("high").number_or_null(finding.change.high);
}

void add_finding(JsonWriter& json, const compare::Finding& finding) {
  json.begin_object();
  json.key("path").text(finding.path);
  if (!finding.provider.empty()) json.key("provider").text(finding.provider);
  json.key("kind").text(kind_name(finding.kind));
  json.key("changed").boolean(finding.is_changed);
  if (has_numbers(finding)) {
    add_numbers(json, finding);
  } else {
    json.key("what").text(finding.what);
    if (finding.series != nullptr) {
      json.key("a").text(finding.text_a).key("b").text(finding.text_b);
    }
  }
  json.end_object().line_break();
}

}  // namespace

std::string diff_counts(const compare::Comparison& found) {
  auto text = fmt::format("{} compared, {} changed", found.findings.size(), found.changed());
  if (found.skipped.empty()) return text;
  text += fmt::format(", {} could not be compared", found.skipped.size());
  std::string_view separator = ": ";
  each_reason(found, [&](NotCompared reason, std::size_t count) {
    text += fmt::format("{}{} {}", separator, count, compare::phrase_of(reason));
    separator = ", ";
  });
  return text;
}

std::string diff_as_text(const DiffSide& a, const DiffSide& b, const compare::Comparison& found,
                         bool all, const RowStyle& style) {
  Table table({{.heading = "CHANGE", .align = Align::kRight},
               {.heading = "COUNTER"},
               {.heading = "A", .align = Align::kRight},
               {.heading = "B", .align = Align::kRight},
               {.heading = "RANGE"}},
              style.charset);
  table.limit(style.columns, Table::Overflow::kCut);
  const ShownPaths paths(found);
  for (const compare::Finding& finding : found.findings) {
    if (finding.is_changed || all) table.add(cells_of(finding, paths, style.units));
  }
  if (all) {
    for (const auto& skipped : found.skipped) {
      table.add({"-", paths(skipped.path, skipped.provider), "", "",
                 std::string(compare::phrase_of(skipped.reason))});
    }
  }
  std::string text = side_text("A", a, style.time) + side_text("B", b, style.time);
  if (!table.empty()) {
    text += "\n";
    text += table.headings();
    text += table.take_rows() + "\n";
  }
  return text + diff_counts(found) + "\n";
}

std::string diff_as_json(const DiffSide& a, const DiffSide& b, const compare::Comparison& found,
                         bool all) {
  JsonWriter json;
  json.begin_object().key("schema").text("meterbank.diff/1");
  add_side(json, "a", a);
  add_side(json, "b", b);
  json.key("compared").number(static_cast<std::uint64_t>(found.findings.size()));
  json.key("changed").number(static_cast<std::uint64_t>(found.changed()));
  json.key("not_compared").begin_object();
  each_reason(found, [&](NotCompared reason, std::size_t count) {
    json.key(compare::name_of(reason)).number(static_cast<std::uint64_t>(count));
  });
  json.end_object();
  json.key("findings").begin_array();
  for (const compare::Finding& finding : found.findings) {
    if (finding.is_changed || all) add_finding(json, finding);
  }
  json.end_array();
  if (all) {
    json.key("skipped").begin_array();
    for (const auto& skipped : found.skipped) {
      json.begin_object().key("path").text(skipped.path);
      if (!skipped.provider.empty()) json.key("provider").text(skipped.provider);
      json.key("reason").text(compare::name_of(skipped.reason)).end_object().line_break();
    }
    json.end_array();
  }
  return json.end_object().take() + "\n";
}

}  // namespace meterbank::cli
