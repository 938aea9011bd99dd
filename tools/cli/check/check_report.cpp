// SPDX-License-Identifier: Apache-2.0
#include "cli/check/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/format/json.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Monitoring systems cut what is long: Nagios after 8 KiB.
constexpr std::size_t kMoreLinesMax = 20;
constexpr std::size_t kPerformanceMax = 40;

// Everything behind a bar is performance data.
std::string without_bars(std::string text) {
  for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at)) {
    text.replace(at, 1, "\\x7c");
  }
  return text;
}

std::string line_of(std::string_view text) { return without_bars(escape_for_terminal(text)); }

// A label may have neither a line end nor an equals sign, and doubles its quotes.
std::string quoted_label(std::string_view label) {
  std::string text = "'";
  for (const char c : line_of(label)) {
    if (c == '=') {
      text += "\\x3d";
      continue;
    }
    text += c;
    if (c == '\'') text += c;
  }
  return text + "'";
}

// Units of measurement that monitoring plugins know. A rate is a number.
std::string_view plugin_unit(std::string_view unit) {
  if (unit == "s" || unit == "%") return unit;
  return unit == "By" ? "B" : "";
}

}  // namespace

void CheckReport::conclude(const std::vector<RuleHistory>& rules) {
  std::map<std::string_view, std::size_t> places;
  for (const RuleHistory& rule : rules) {
    for (const RowHistory& history : rule.rows()) {
      const auto [place, is_new] = places.emplace(history.label, rows.size());
      if (is_new) rows.push_back({CheckState::kOk, &history, &rule, {}, {}});
      CheckedRow& row = rows[place->second];
      if (rule.condition().number()) {
        auto& range = rule.severity() == CheckState::kWarning ? row.warning : row.critical;
        if (!range) range = rule.condition().plugin_range();
      }
      const CheckState found = rule.state_of(history, needed);
      if (rank_of(found) <= rank_of(row.state)) continue;
      row.state = found;
      row.row = &history;
      row.rule = &rule;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CheckedRow& left, const CheckedRow& right) {
    return rank_of(left.state) > rank_of(right.state);
  });
  std::stable_sort(problems.begin(), problems.end(),
                   [](const CheckProblem& left, const CheckProblem& right) {
                     return rank_of(left.state) > rank_of(right.state);
                   });
  if (!rows.empty()) state = worse_of(state, rows.front().state);
  if (!problems.empty()) state = worse_of(state, problems.front().state);
}

std::string CheckReport::text_of(const CheckedRow& row) const {
  const RowHistory& history = *row.row;
  if (row.state == CheckState::kOk) {
    return history.shown.empty() ? fmt::format("{} {}", history.subject, history.why_unknown)
                                 : fmt::format("{} is {}", history.subject, history.shown);
  }
  if (row.state == CheckState::kUnknown) {
    return fmt::format("{} {}", history.subject, history.why_unknown);
  }
  auto text = fmt::format("{} is {}, {}", history.subject, history.shown,
                          row.rule->condition().threshold_text(history.unit));
  if (is_range) {
    const LocalForm form = form_of_range(history.first_held_ns, history.last_held_ns, now_ns);
    text += fmt::format(", in {} of {}, first at {}, last at {}", history.held,
                        counted(row.rule->samples(), "sample"),
                        print_local(history.first_held_ns, form),
                        print_local(history.last_held_ns, form));
  } else if (needed > 1) {
    text += fmt::format(", in each of {} samples", needed);
  }
  return text;
}

std::string CheckReport::headline() const {
  const auto is_so = [this](const CheckedRow& row) { return row.state == state; };
  const auto count = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_so));
  const bool by_problem = !problems.empty() && problems.front().state == state;
  std::string text;
  if (state == CheckState::kOk) {
    text = well;
  } else if (count > 0) {
    text = text_of(rows.front());
    if (rows.size() > 1) text += fmt::format(" ({} of {} rows)", count, rows.size());
    if (by_problem) text += "; " + problems.front().text;
  } else {
    text = problems.front().text;
  }
  return fmt::format("{}: {}", name_of(state), line_of(text));
}

std::string CheckReport::performance_data() const {
  std::string text;
  std::size_t count = 0;
  for (const CheckedRow& row : rows) {
    if (!row.row->number) continue;
    if (++count > kPerformanceMax) break;
    text += fmt::format(" {}={}{};{};{}", quoted_label(row.row->label),
                        print_decimal(*row.row->number), plugin_unit(row.row->unit),
                        row.warning.value_or(""), row.critical.value_or(""));
    while (text.ends_with(';')) text.pop_back();
  }
  return text;
}

std::string CheckReport::as_text() const {
  std::string text = headline();
  if (const auto data = performance_data(); !data.empty()) text += " |" + data;
  text += '\n';
  std::size_t lines = 0, more = 0;
  const auto add = [&](CheckState of, std::string_view what) {
    if (++lines > kMoreLinesMax) {
      ++more;
    } else {
      text += fmt::format("{}: {}\n", name_of(of), line_of(what));
    }
  };
  bool first = true;
  for (const CheckedRow& row : rows) {
    // The first line has it.
    const bool is_said = std::exchange(first, false) && row.state == state;
    if (row.state != CheckState::kOk && !is_said) add(row.state, text_of(row));
  }
  first = true;
  for (const CheckProblem& problem : problems) {
    const bool is_said = std::exchange(first, false) && problem.state == state;
    if (!is_said) add(problem.state, problem.text);
  }
  if (more > 0) text += fmt::format("and {} more\n", more);
  const auto has_number = [](const CheckedRow& row) { return row.row->number.has_value(); };
  const auto numbers =
      static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), has_number));
  if (numbers > kPerformanceMax) {
    text += fmt::format("performance data leaves out {} rows\n", numbers - kPerformanceMax);
  }
  for (const std::string& note : notes) text += fmt::format("note: {}\n", line_of(note));
  return text;
}

std::string CheckReport::as_json() const {
  JsonWriter json;
  json.begin_object().key("schema").text("meterbank.check/1");
  json.key("state").text(name_of(state));
  json.key("code").number(static_cast<std::uint64_t>(exit_code_of(state)));
  json.key("text").text(headline());
  json.key("rows").begin_array();
  for (const CheckedRow& row : rows) {
    const RowHistory& history = *row.row;
    json.line_break().begin_object().key("state").text(name_of(row.state));
    json.key("row").text(history.label);
    if (!history.host.empty()) json.key("host").text(history.host);
    json.key("condition").text(row.rule->condition().text());
    json.key("value");
    history.number ? json.number_or_null(*history.number) : json.null();
    json.key("unit").text(history.unit).key("text").text(text_of(row));
    json.key("samples").number(row.rule->samples()).key("held").number(history.held);
    json.key("without_value").number(history.unknown);
    if (history.held > 0) {
      json.key("first_held").text(print_utc(history.first_held_ns));
      json.key("last_held").text(print_utc(history.last_held_ns));
    }
    json.end_object();
  }
  json.end_array().key("problems").begin_array();
  for (const CheckProblem& problem : problems) {
    json.line_break().begin_object().key("state").text(name_of(problem.state));
    json.key("text").text(problem.text).end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const std::string& note : notes) json.text(note);
  return json.end_array().end_object().take() + "\n";
}

}  // namespace meterbank::cli
