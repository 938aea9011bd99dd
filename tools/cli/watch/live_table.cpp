// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/live_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/mean.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "meterbank/reader/glob.hpp"

namespace meterbank::cli {
namespace {

// What differs from row to row comes first, because keys are compared.
RowKey key_of(const Value& row) {
  const auto& provider = row.provider();
  const bool is_made_up = row.counter->word == kNoCounter;
  return {{row.instance().slot, row.counter->word, row.instance().generation,
           row.row->registered->registration, provider.segment_id[0], provider.segment_id[1]},
          is_made_up ? counter_text(row) : std::string()};
}

// Leaves `counter` to name_providers_of_twins().
void describe(const Value& row, bool raw, Charset charset, LiveRow& live) {
  const auto clean = [charset](std::string_view text) {
    return escape_for_terminal(text, charset);
  };
  live.own_name = clean(counter_text(row));
  live.counter.clear();
  live.instance = clean(row.row->instance_label());
  live.instance_width = display_width(live.instance);
  live.provider = clean(on_host(provider_of(row), host_of(row)));
  live.unit = clean(raw ? stored_unit(*row.counter) : cooked_unit(*row.counter));
  live.detail = clean(row.counter->help.empty() ? row.counter->name
                                                : row.counter->name + ": " + row.counter->help);
  const auto kind = kind_of(*row.counter);
  live.facts =
      fmt::format("{}{}{}: {}; id {}, {}", kind.kind, live.unit.empty() ? "" : " in ", live.unit,
                  kind.phrase, row.counter->id, live.provider.empty() ? "total" : live.provider);
}

void take_value(const Value& row, bool raw, Charset charset, LiveRow& live) {
  live.status.clear();
  live.text.reset();
  live.exact.reset();
  // Last words are not what is NOW; get and list have them.
  if (!row_has_value(row, raw) || row.status() == RowStatus::kDead) {
    const auto word = status_word(row);
    live.status = word == "no-rate-yet" ? "-" : std::string(word);
  } else if (side_of(row.cooked.status) != Quantile::Side::kWithin) {
    live.status = status_word(row);  // the end of the buckets would pass for the percentile
  }
  if (live.status.empty() && row.text.has_value()) {
    live.text = escape_for_terminal(std::string(*row.text), charset);
  }
  if (live.status.empty() && !live.text) {
    live.exact = raw ? std::optional(stored_text(row)) : exact_text(row, UnitStyle::kAuto);
  }
  live.value = raw ? stored_number(row) : row.cooked.value;
  live.is_news =
      raw || row.status() != RowStatus::kFresh || row.cooked.status != CookStatus::kNoNewSample;
  live.is_of_hung = row.provider().state == ProviderState::kHung;
}

// What a filter is held against.
std::string filtered_text(const Value& row) {
  return escape_for_terminal(counter_text(row)) + " " +
         escape_for_terminal(row.row->instance_label());
}

std::string right(const std::string& text, std::size_t width) {
  const auto used = display_width(text);
  return used >= width ? fit(text, width) : std::string(width - used, ' ') + text;
}

struct KeyHelp {
  std::string_view keys, what;
};
constexpr std::array kHelp{KeyHelp{"j k, arrows", "move"},
                           KeyHelp{"PgUp PgDn", "move by ten"},
                           KeyHelp{"g G", "first, last"},
                           KeyHelp{"+ -", "interval"},
                           KeyHelp{"space", "pause"},
                           KeyHelp{"v", "details"},
                           KeyHelp{"/", "filter by name, Enter keeps, Esc drops it"},
                           KeyHelp{"s", "sort: as listed, by name, by value"},
                           KeyHelp{"d", "hide zeros"},
                           KeyHelp{"r", "stored values or rates"},
                           KeyHelp{"e", "scaled or base units"},
                           KeyHelp{"q", "quit"}};

// One key a line, or two where they fit.
void add_help(std::size_t width, std::vector<ScreenLine>& lines) {
  constexpr std::size_t kColumn = 28;
  constexpr std::size_t kBothColumns = 84;
  lines.push_back({fit("any key: back, q: quit", width), LineLook::kHeading});
  const auto entry = [](const KeyHelp& help) {
    return fmt::format("{:<12}  {}", help.keys, help.what);
  };
  if (width < kBothColumns) {
    for (const KeyHelp& help : kHelp) lines.push_back({fit(entry(help), width)});
    return;
  }
  for (std::size_t i = 0; i < kHelp.size() / 2; ++i) {
    lines.push_back(
        {fit(fit(entry(kHelp[i]), kColumn) + entry(kHelp[i + kHelp.size() / 2]), width)});
  }
}

// The most wanted keys; the others are in the help.
std::string keys_that_fit(std::size_t width) {
  constexpr std::array<std::string_view, 10> kKeys{"q quit",   "? help",      "/ filter", "s sort",
                                                   "d zeros",  "space pause", "r raw",    "e units",
                                                   "v detail", "+ - interval"};
  std::string line;
  for (const auto key : kKeys) {
    if (line.size() + 2 + key.size() > width) break;
    line.append(line.empty() ? " " : "  ").append(key);
  }
  return line;
}

std::string keys_line(const View& view, std::size_t width) {
  if (!view.editing_filter && view.filter.empty()) return keys_that_fit(width);
  return fmt::format(" filter: {}{}", escape_for_terminal(view.filter),
                     view.editing_filter ? "_" : "   (Esc drops it)");
}

// A rule and two lines about the selected row, if there is one.
void add_details(const LiveRow* row, const View& view, std::size_t width,
                 std::vector<ScreenLine>& lines) {
  std::string rule;
  for (std::size_t i = 0; i < width; ++i) rule += view.ascii ? "-" : "─";
  lines.push_back({rule, LineLook::kFaint});
  lines.push_back({fit(row == nullptr ? "" : " " + row->detail, width)});
  lines.push_back({fit(row == nullptr ? "" : " " + row->facts, width), LineLook::kFaint});
}

}  // namespace

Grid grid_of(const std::vector<ScreenLine>& lines, std::size_t width, std::size_t height,
             Charset charset) {
  Grid grid(width, height, charset);
  for (std::size_t y = 0; y < std::min(height, lines.size()); ++y) {
    const auto line_look = lines[y].look;
    const Look look{.bold = line_look == LineLook::kHeading,
                    .faint = line_look == LineLook::kFaint,
                    .reverse = line_look == LineLook::kSelected};
    grid.put(0, y, lines[y].text, look);
  }
  return grid;
}

// ---- History ----

void History::add(double value, bool present, Clock::time_point now) {
  if (points_.size() == kLength) points_.pop_front();
  points_.push_back({value, present, now});
  if (!present) return;
  maximum_ = ever_present_ ? std::max(maximum_, value) : value;
  ever_present_ = true;
}

bool History::has_average() const noexcept {
  return std::any_of(points_.begin(), points_.end(), [this](const Point& point) {
    return point.present && points_.back().time - point.time <= kAverageSpan;
  });
}

double History::average() const noexcept {
  if (!has_average()) return 0;
  Mean mean;
  for (const auto& point : points_) {
    if (point.present && points_.back().time - point.time <= kAverageSpan) mean.add(point.value);
  }
  return mean.value();
}

std::string History::bars(std::size_t cells, bool ascii) const {
  static constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 8> kAscii{"_", ".", ",", "-", "=", "+", "*", "#"};
  const auto& steps = ascii ? kAscii : kBlocks;
  const std::size_t count = std::min(cells, points_.size());
  double largest = 0;
  for (std::size_t i = points_.size() - count; i < points_.size(); ++i) {
    if (points_[i].present) largest = std::max(largest, points_[i].value);
  }
  std::string out(cells - count, ' ');
  for (std::size_t i = points_.size() - count; i < points_.size(); ++i) {
    if (!points_[i].present) {
      out += ' ';
      continue;
    }
    const double share = largest > 0 ? std::max(points_[i].value, 0.0) / largest : 0;
    out += steps[static_cast<std::size_t>(std::lround(share * 7))];
  }
  return out;
}

// ---- LiveTable ----

bool LiveTable::take_rows(const RowWalk& rows, const View& view, const std::string& filter,
                          const std::function<bool()>& is_interrupted) {
  // Often enough for a person at a keyboard, and seldom enough to cost nothing.
  constexpr std::size_t kRowsBetweenLooks = 4096;
  const Glob glob("*" + filter + "*");
  rows_.clear();
  bool is_whole = true;
  std::size_t seen = 0;
  rows([&](const Value& row) {
    if (++seen % kRowsBetweenLooks == 0 && is_interrupted && is_interrupted()) is_whole = false;
    if (!is_whole) return false;
    if (!filter.empty() && !glob.matches(filtered_text(row))) return true;
    is_whole = rows_.size() < kRowsMax;
    if (is_whole) rows_.push_back(&row_of(row, view.raw));
    return is_whole;
  });
  return is_whole;
}

LiveRow& LiveTable::row_of(const Value& value, bool raw) {
  LiveRow& live = known_[key_of(value)];
  if (live.version != version_) describe(value, raw, charset_, live);
  live.version = version_;
  take_value(value, raw, charset_, live);
  return live;
}

void LiveTable::update(const RowWalk& rows, std::uint64_t version, const View& view,
                       Clock::time_point now, const std::function<bool()>& is_interrupted) {
  version_ = version;
  ++sample_;
  is_cut_ = !take_rows(rows, view, {}, is_interrupted);
  if (is_cut_ && !view.filter.empty()) take_rows(rows, view, view.filter, is_interrupted);
  for (LiveRow* const row : rows_) {
    row->sample = sample_;
    // Nothing new from the provider is no news: the picture stands still.
    if (!row->is_news) {
      row->status = row->history.has_now() ? "" : "-";
      continue;
    }
    row->history.add(row->value, row->status.empty() && !row->text, now);
  }
  const auto left =
      std::erase_if(known_, [&](const auto& entry) { return entry.second.sample != sample_; });
  const bool has_new_names = std::any_of(rows_.begin(), rows_.end(),
                                         [](const LiveRow* row) { return row->counter.empty(); });
  if (has_new_names || left != 0) name_providers_of_twins();
}

void LiveTable::clear() {
  rows_.clear();
  known_.clear();
}

// Rows that would read the same, because several providers have such a set, get their provider's
// name in front.
void LiveTable::name_providers_of_twins() {
  const auto by_name = [](const LiveRow* a, const LiveRow* b) {
    return std::tie(a->own_name, a->instance) < std::tie(b->own_name, b->instance);
  };
  const std::multiset<const LiveRow*, decltype(by_name)> names(rows_.begin(), rows_.end(), by_name);
  for (LiveRow* const row : rows_) {
    const bool is_twin = names.count(row) > 1 && !row->provider.empty();
    row->counter = is_twin ? row->provider + ":" + row->own_name : row->own_name;
    row->counter_width = display_width(row->counter);
  }
}

std::vector<const LiveRow*> LiveTable::shown(const View& view) const {
  std::vector<const LiveRow*> shown;
  shown.reserve(rows_.size());
  const Glob filter("*" + view.filter + "*");
  for (const LiveRow* const row : rows_) {
    if (!view.filter.empty() && !filter.matches(row->counter + " " + row->instance)) continue;
    const auto& history = row->history;
    const bool is_zero = row->text ? row->text->empty() : !history.has_now() || history.now() == 0;
    if (view.hide_zeros && is_zero) continue;
    shown.push_back(row);
  }
  const auto by_name = [](const LiveRow* a, const LiveRow* b) {
    return std::tie(a->counter, a->instance) < std::tie(b->counter, b->instance);
  };
  const auto by_value = [](const LiveRow* a, const LiveRow* b) {
    const auto& left = a->history;
    const auto& right_one = b->history;
    if (left.has_now() != right_one.has_now()) return left.has_now();
    // Texts behind the numbers, and what has neither behind both.
    if (!left.has_now()) return a->text && (!b->text || *a->text < *b->text);
    return left.now() > right_one.now();
  };
  if (view.sorting == Sorting::kByName) std::stable_sort(shown.begin(), shown.end(), by_name);
  if (view.sorting == Sorting::kByValue) std::stable_sort(shown.begin(), shown.end(), by_value);
  return shown;
}

// Widths of the columns; a column that does not fit any more has none.
struct LiveTable::Layout {
  static constexpr std::size_t kBarsMin = 10;
  static constexpr std::size_t kBarsMax = 60;
  std::size_t number = 0;  // of each of the three numbers
  std::size_t counter = 0, instance = 0, average = 0, maximum = 0, bars = 0;
  bool is_narrow = false;

  // Names keep their places where a person moves among all rows; numbers have the room that those
  // on the screen need.
  Layout(const View& view, std::span<const LiveRow* const> shown,
         std::span<const LiveRow* const> on_screen, std::size_t width) {
    counter = 7;
    for (const LiveRow* const row : shown) {
      counter = std::max(counter, row->counter_width);
      instance = std::max(instance, row->instance_width);
    }
    std::size_t needed = 3;  // "NOW"
    for (const LiveRow* const row : on_screen) {
      if (!row->text) needed = std::max(needed, display_width(now_text(*row, view)));
    }
    needed = std::min<std::size_t>(needed, 24);
    number = std::max<std::size_t>(needed, 10);
    if (instance > 0) instance = std::clamp<std::size_t>(instance, 8, 24);
    // The marks, the name, the instance and the current value come first. Where they do not fit,
    // the name is the instance and what is left of the counter.
    is_narrow = width < 2 + 8 + 1 + number + (instance > 0 ? instance + 1 : 0);
    if (is_narrow) {
      instance = 0;
      number = needed;
    }
    const std::size_t fixed = 2 + number + 1 + (instance > 0 ? instance + 1 : 0);
    counter = is_narrow ? (width > fixed ? width - fixed : 0) : std::min(counter, width - fixed);
    std::size_t left = width > fixed + counter ? width - fixed - counter : 0;
    // A picture says more than a mean, and a mean more than a maximum.
    const std::size_t picture = left >= kBarsMin + 2 ? kBarsMin + 2 : 0;
    for (auto* column : {&average, &maximum}) {
      if (left < number + 1 + picture) break;
      *column = number;
      left -= number + 1;
    }
    if (picture > 0) bars = std::min(left - 2, kBarsMax);
  }

  [[nodiscard]] std::string name_of(const LiveRow& row) const {
    if (!is_narrow || row.instance.empty()) return row.counter;
    const std::size_t set_end = row.counter.rfind('/');
    return row.instance + " " +
           (set_end == std::string::npos ? row.counter : row.counter.substr(set_end + 1));
  }

  // From NOW to the edge.
  [[nodiscard]] std::size_t behind_names() const {
    const std::size_t numbers = number + (average > 0 ? average + 1 : 0);
    return numbers + (maximum > 0 ? maximum + 1 : 0) + (bars > 0 ? bars + 2 : 0);
  }

  [[nodiscard]] std::string headings() const {
    std::string text = "  " + fit("COUNTER", counter);
    if (instance > 0) text += " " + fit("INSTANCE", instance);
    text += " " + right("NOW", number);
    if (average > 0) text += " " + right("AVG 1m", average);
    if (maximum > 0) text += " " + right("MAX", maximum);
    if (bars > 0) text += "  " + right(fmt::format("LAST {}", bars), bars);
    return text;
  }
};

std::string LiveTable::number_text(const LiveRow& row, double value, const View& view) {
  if (view.raw) return print_exact(value);
  return print_quantity(value, row.unit, view.units);
}

std::string LiveTable::now_text(const LiveRow& row, const View& view) {
  if (row.text) return *row.text;
  if (row.exact) return *row.exact;
  return row.status.empty() ? number_text(row, row.history.now(), view) : row.status;
}

std::string LiveTable::row_line(const LiveRow& row, const View& view, const Layout& layout) {
  const auto& history = row.history;
  const auto number = [&](double value) { return number_text(row, value, view); };
  std::string line = (row.is_of_hung ? "!" : " ") + fit(layout.name_of(row), layout.counter);
  if (layout.instance > 0) line += " " + fit(row.instance, layout.instance);
  // A long text takes the room of the numbers that it has not.
  const bool is_long = row.text && display_width(*row.text) > layout.number;
  if (is_long) return line + " " + fit(*row.text, layout.behind_names());
  line += " " + right(now_text(row, view), layout.number);
  if (row.text) return line;
  if (layout.average > 0) {
    line += " " + right(history.has_average() ? number(history.average()) : "-", layout.average);
  }
  if (layout.maximum > 0) {
    line += " " + right(history.ever_present() ? number(history.maximum()) : "-", layout.maximum);
  }
  if (layout.bars > 0) line += "  " + history.bars(layout.bars, view.ascii);
  return line;
}

ScreenLine LiveTable::header(const View& view, const Status& status, std::size_t shown,
                             std::size_t width) const {
  std::string left =
      fmt::format("meterbank watch - every {} - {} of {} rows{}", print_interval(status.interval),
                  shown, rows_.size(), is_cut_ ? ", the first of more: filter with /" : "");
  if (status.missed > 0) left += fmt::format(" - missed {}", status.missed);
  if (view.paused) left += " - PAUSED";
  if (view.raw) left += " - stored values";
  if (view.hide_zeros) left += " - no zeros";
  if (view.sorting == Sorting::kByName) left += " - by name";
  if (view.sorting == Sorting::kByValue) left += " - by value";
  if (width < 2 * status.clock.size()) return {fit(left, width), LineLook::kHeading};
  return {fit(left, width - status.clock.size() - 1) + " " + status.clock, LineLook::kHeading};
}

std::vector<ScreenLine> LiveTable::render(View& view, const Status& status, std::size_t width,
                                          std::size_t height) const {
  const auto rows = shown(view);
  std::vector<ScreenLine> lines{header(view, status, rows.size(), width)};
  if (view.show_help) {
    add_help(width, lines);
    lines.resize(std::min(lines.size(), height));
    return lines;
  }

  const bool details = view.details && height >= 10;
  const std::size_t below = details ? 4 : 1;  // rule, two of details, keys
  if (!status.trouble.empty() && height >= 5) lines.push_back({fit("! " + status.trouble, width)});
  const std::size_t above = lines.size() + 1;
  const std::size_t room = height > above + below ? height - above - below : 1;
  view.selected = rows.empty() ? 0 : std::min(view.selected, rows.size() - 1);
  view.top = std::min(view.top, view.selected);
  if (view.selected >= view.top + room) view.top = view.selected + 1 - room;
  if (view.top + room > rows.size()) view.top = rows.size() > room ? rows.size() - room : 0;

  const std::span<const LiveRow* const> all(rows);
  const auto on_screen = all.subspan(view.top, std::min(room, rows.size() - view.top));
  const Layout layout(view, all, on_screen, width);
  lines.push_back({fit(layout.headings(), width), LineLook::kHeading});

  for (const LiveRow* const row : on_screen) {
    const bool selected = row == rows[view.selected];
    lines.push_back({fit((selected ? ">" : " ") + row_line(*row, view, layout), width),
                     selected ? LineLook::kSelected : LineLook::kPlain});
  }
  if (rows.empty()) lines.push_back({fit("  no rows", width), LineLook::kFaint});
  while (lines.size() < above + room) lines.push_back({});

  if (details) add_details(rows.empty() ? nullptr : rows[view.selected], view, width, lines);
  lines.push_back({fit(keys_line(view, width), width), LineLook::kFaint});
  lines.resize(std::min(lines.size(), height));
  return lines;
}

}  // namespace meterbank::cli
