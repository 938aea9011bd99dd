// SPDX-License-Identifier: Apache-2.0
//
// The overview: who provides what, how busy it is, and what changed most.
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "cli/format/time_text.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "view/board_state.hpp"
#include "view/sorted.hpp"

namespace meterbank::view {
namespace {

constexpr std::size_t kChangesMax = 20;

struct ProviderRank {
  const ProviderView* provider;
  int urgency;  // those that are not well first
};

int urgency_of(const ProviderView& provider) {
  switch (provider.state) {
    case ProviderState::kHung:
      return 0;
    case ProviderState::kDead:
      return 1;
    case ProviderState::kUnreadable:
      return 2;
    case ProviderState::kForeign:
      return provider.error.what.empty() ? 3 : 2;
    case ProviderState::kLive:
    case ProviderState::kClosed:
      break;
  }
  return 3;
}

Mood mood_of(const ProviderView& provider) {
  switch (provider.state) {
    case ProviderState::kLive:
      return Mood::kGood;
    case ProviderState::kClosed:
      return Mood::kFaint;
    case ProviderState::kForeign:
      return Mood::kWarning;
    case ProviderState::kHung:
    case ProviderState::kDead:
    case ProviderState::kUnreadable:
      break;
  }
  return Mood::kBad;
}

// In seconds; NaN: not known.
double age_of(const ProviderView& provider, std::uint64_t time_ns) {
  const auto created_ns = provider.created_realtime_ns;
  if (created_ns == 0 || created_ns > time_ns) return kNoNumber;
  return std::floor(static_cast<double>(time_ns - created_ns) / 1e9);
}

std::size_t instances_of(const ProviderView& provider) {
  std::size_t instances = 0;
  for (const RegisteredSet& set : provider.sets) instances += set.instances.live();
  return instances;
}

std::string why_not_live(const ProviderView& provider) {
  switch (provider.state) {
    case ProviderState::kHung:
      return state_text(provider);
    case ProviderState::kDead:
      return "its process ended";
    case ProviderState::kUnreadable:
    case ProviderState::kForeign:
      return clean(provider.error.what);
    case ProviderState::kLive:
    case ProviderState::kClosed:
      break;
  }
  return {};
}

// Whether paths that were asked for may be of a provider.
class AskedFor {
 public:
  explicit AskedFor(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
      const auto path = parse_path(pattern);
      if (!path || !path->provider) {
        names_.clear();
        return;
      }
      names_.emplace_back(Glob(*path->provider, {.backslash_escapes = true}), path->provider_pid);
    }
  }
  [[nodiscard]] bool is(const ProviderView& provider) const {
    return names_.empty() || std::any_of(names_.begin(), names_.end(), [&](const auto& one) {
             return one.first.matches(provider.name) &&
                    (!one.second || *one.second == provider.named_pid());
           });
  }

 private:
  std::vector<std::pair<Glob, std::optional<std::uint32_t>>> names_;  // empty: all
};

Line line_of(const ProviderView& provider, const Place& place, std::uint64_t time_ns) {
  const double age = age_of(provider, time_ns);
  Line line;
  const auto label = label_of(provider);
  line.key = label;
  line.cells = {{clean(label)},
                {std::string(name_of(provider.state)), mood_of(provider)},
                {std::isnan(age) ? "-" : cli::print_duration(age)},
                {fmt::format("{}", provider.sets.size())},
                {fmt::format("{}", instances_of(provider))},
                {why_not_live(provider)}};
  Place inside = place;
  inside.provider = label;
  inside.sort.clear();
  inside.filter.clear();
  if (place.provider.empty()) line.opens = inside;
  line.details.push_back(fmt::format("{}; runs as user {}", state_text(provider), provider.uid));
  for (const Error& error : provider.errors) {
    line.details.push_back(clean(error.what));
    constexpr std::size_t kLinesMax = 4;
    if (line.details.size() == kLinesMax) break;
  }
  if (!provider.error.remedy.empty())
    line.details.push_back("try: " + clean(provider.error.remedy));
  return line;
}

// Lines [first, first + count) of a list, and how many there are.
struct Part {
  std::size_t first, end;
};
Part part_of(const Window& window, std::size_t section, std::size_t total) {
  const bool is_chosen = window.section == section;
  const auto first = is_chosen ? std::min(window.first, total) : 0;
  return {first, std::min(total, first + (is_chosen ? window.lines : window.other_lines))};
}

Section providers_of(const cli::Selection& selection, const When& when, const Window& window,
                     const Place& place) {
  std::vector<ProviderRank> ranks;
  Section section;
  section.title = "Providers";
  section.columns = {{"PROVIDER", "", false},         {"STATE", "", false},
                     {"AGE", "since it began", true}, {"SETS", "", true},
                     {"INSTANCES", "", true},         {"WHY", "what is wrong with it", false}};
  const AskedFor asked_for(selection.patterns);
  for (const auto& provider : selection.catalog().providers()) {
    if (!asked_for.is(*provider)) continue;
    ++section.all;
    if (!place.provider.empty() && label_of(*provider) != place.provider) continue;
    if (!passes(place.filter, label_of(*provider))) continue;
    ranks.push_back({provider.get(), urgency_of(*provider)});
  }
  std::stable_sort(ranks.begin(), ranks.end(), [](const ProviderRank& a, const ProviderRank& b) {
    if (a.urgency != b.urgency) return a.urgency < b.urgency;
    return compare_names(a.provider->name, b.provider->name) < 0;
  });
  sort_by_heading(ranks, section.columns, place,
                  [&](const ProviderRank& rank, std::size_t column) -> SortValue {
                    const ProviderView& provider = *rank.provider;
                    if (column == 1) return std::string(name_of(provider.state));
                    if (column == 2) return age_of(provider, when.time_ns);
                    if (column == 3) return static_cast<double>(provider.sets.size());
                    if (column == 4) return static_cast<double>(instances_of(provider));
                    return column == 5 ? why_not_live(provider) : label_of(provider);
                  });
  section.total = ranks.size();
  const auto part = part_of(window, 0, section.total);
  section.first = part.first;
  for (auto i = part.first; i < part.end; ++i) {
    section.lines.push_back(line_of(*ranks[i].provider, place, when.time_ns));
  }
  return section;
}

// The sum of a column over the rows of a set, moment by moment.
std::vector<double> sum_of(const Past& past, const SetWork& work, std::size_t column,
                           std::uint64_t moment) {
  const auto end = std::min(moment + 1, past.end_moment());
  const auto begin = std::max(past.first_moment(), end - std::min<std::uint64_t>(end, kTrendMax));
  std::vector<double> sums(end - begin, kNoNumber);
  for (const auto& [id, row] : past.rows()) {
    if (row.set != work.facts || row.provider != work.provider) continue;
    if (column >= row.series.size()) continue;
    for (auto at = begin; at < end; ++at) {
      const double value = row.series[column].at(at);
      if (std::isnan(value)) continue;
      auto& sum = sums[at - begin];
      sum = std::isnan(sum) ? value : sum + value;
    }
  }
  return sums;
}

// How much a counter differs from what it was, in the spread of what it was.
struct Change {
  double score = 0;
  const RowPast* row = nullptr;
  std::size_t column = 0;
  double now = kNoNumber, before = kNoNumber;
};

std::optional<Change> change_of(const RowPast& row, std::size_t column, const Past& past,
                                std::uint64_t moment) {
  constexpr std::uint64_t kMoments = 60;
  constexpr std::size_t kEnough = 8;
  constexpr double kScoreMin = 4;
  const Series& series = row.series[column];
  const double now = series.at(moment);
  if (std::isnan(now)) return std::nullopt;
  const auto begin = std::max(past.first_moment(), moment - std::min(moment, kMoments));
  const auto values = series.within(begin, moment);
  double factor = 1;
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;
  const auto add_up = [&] {
    sum = squares = 0;
    count = 0;
    for (const double value : values) {
      if (std::isnan(value)) continue;
      sum += value * factor;
      squares += value * factor * (value * factor);
      ++count;
    }
  };
  add_up();
  if (count < kEnough) return std::nullopt;
  // The squares of the largest values are finite if the values are made smaller.
  constexpr double kSmaller = 0x1p-600;
  if (!std::isfinite(squares)) {
    factor = kSmaller;
    add_up();
  }
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean));
  const double difference = std::abs(now * factor - mean);
  // A counter that stood still must move by more than a hundredth to be news.
  const double scale = std::max({spread, std::abs(mean) / 100, 1e-12});
  if (difference / scale < kScoreMin) return std::nullopt;
  constexpr double kMost = std::numeric_limits<double>::max();
  const double before = std::clamp(mean / factor, -kMost, kMost);
  return Change{difference / scale, &row, column, now, before};
}

std::string path_of(const Change& change) {
  const SetFacts& set = *change.row->set;
  return set.symbol + "/" + set.columns[change.column].symbol;
}

Section changes_of(const Past& past, const When& when, const Window& window, const Place& place,
                   std::size_t number) {
  Section section;
  section.title = "Changed most in a minute";
  section.columns = {{"COUNTER", "", false},
                     {"INSTANCE", "", false},
                     {"NOW", "", true},
                     {"BEFORE", "the mean of the minute", true}};
  section.trend = "LAST";
  std::vector<Change> changes;
  for (const auto& [id, row] : past.rows()) {
    if (!place.provider.empty() && row.provider != place.provider) continue;
    for (std::size_t column = 0; column < row.series.size(); ++column) {
      if (const auto change = change_of(row, column, past, when.moment)) {
        if (passes(place.filter, row.set->columns[column].symbol + " " + row.instance)) {
          changes.push_back(*change);
        }
      }
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.score > b.score; });
  changes.resize(std::min(changes.size(), kChangesMax));
  sort_by_heading(changes, section.columns, place,
                  [](const Change& change, std::size_t column) -> SortValue {
                    if (column == 1) return change.row->instance;
                    if (column == 2) return change.now;
                    return column == 3 ? SortValue(change.before) : SortValue(path_of(change));
                  });
  section.total = section.all = changes.size();
  const auto part = part_of(window, number, section.total);
  section.first = part.first;
  for (auto i = part.first; i < part.end; ++i) {
    const auto& change = changes[i];
    const auto& facts = change.row->set->columns[change.column];
    Line line;
    line.key = key_of(change.row->provider, change.row->set->symbol, change.row->instance) + "/" +
               facts.symbol;
    line.cells = {{clean(path_of(change))},
                  {clean(change.row->instance)},
                  {number_text(facts, change.now, place)},
                  {number_text(facts, change.before, place)}};
    line.trend = trend_of(past, change.row->series[change.column], when.moment, kTrendMax);
    Place inside = place;
    inside.screen = Screen::kInstance;
    inside.provider = change.row->provider;
    inside.set = change.row->set->symbol;
    inside.instance = change.row->instance;
    inside.counter = facts.symbol;
    inside.filter.clear();
    line.opens = inside;
    line.details = {clean(facts.help)};
    section.lines.push_back(std::move(line));
  }
  return section;
}

Line line_of(const SetWork& sum, const Past& past, const When& when, const Place& place) {
  Line line;
  line.key = key_of(sum.provider, sum.set, "");
  line.cells = {{clean(sum.set)}, {clean(sum.provider)}, {fmt::format("{}", sum.instances)}};
  if (sum.headline) {
    const auto& facts = sum.facts->columns[*sum.headline];
    line.cells.push_back({clean(facts.symbol)});
    line.cells.push_back({number_text(facts, sum.sums[*sum.headline], place)});
    line.trend = sum.is_followed ? sum_of(past, sum, *sum.headline, when.moment)
                                 : trend_of(past, sum.trend, when.moment, kTrendMax);
  } else {
    line.cells.push_back({sum.instances == 0 ? "no instances" : "-", Mood::kFaint});
    line.cells.push_back({"-", Mood::kFaint});
  }
  Place inside = place;
  inside.screen = Screen::kSet;
  inside.provider = sum.provider;
  inside.set = sum.set;
  inside.filter.clear();
  inside.sort.clear();
  line.opens = inside;
  line.details = {clean(sum.facts->name), clean(sum.facts->help)};
  return line;
}

// A set without instances does nothing, and is listed behind those that do.
struct IdleSet {
  SetFacts facts;
  SetWork work;
};

std::deque<IdleSet> work_of_empty_sets(const BoardState& state) {
  std::deque<IdleSet> idle;
  auto empty = state.empty_sets(Place());
  if (empty.empty()) return idle;
  // Another registration of the set may have instances.
  std::set<std::pair<std::string_view, std::string_view>> busy;
  for (const auto& [key, sum] : state.work) busy.emplace(sum.provider, sum.set);
  for (EmptySet& set : empty) {
    if (busy.contains({set.provider, set.set})) continue;
    IdleSet& added = idle.emplace_back();
    added.facts.symbol = set.set;
    added.facts.name = set.counters->name;
    added.facts.help = set.counters->help;
    added.work.provider = std::move(set.provider);
    added.work.set = std::move(set.set);
    added.work.facts = &added.facts;
  }
  return idle;
}

}  // namespace

void BoardState::show_overview(const When& when, const Window& window, Picture& picture) {
  const Place& place = picture.place;
  picture.sections.push_back(providers_of(selection, when, window, place));

  Section sets;
  sets.title = "Busiest sets";
  sets.columns = {{"SET", "", false},
                  {"PROVIDER", "", false},
                  {"INSTANCES", "", true},
                  {"BUSY WITH", "", false},
                  {"NOW", "", true}};
  sets.trend = "LAST";
  std::vector<const SetWork*> shown;
  const auto add = [&](const SetWork& sum) {
    ++sets.all;
    if (!place.provider.empty() && sum.provider != place.provider) return;
    if (passes(place.filter, sum.set + " " + sum.provider)) shown.push_back(&sum);
  };
  for (const auto& [key, sum] : work) add(sum);
  const auto idle = work_of_empty_sets(*this);
  for (const IdleSet& set : idle) add(set.work);
  const auto rate_of = [](const SetWork& sum) {
    return sum.headline ? sum.sums[*sum.headline] : 0.0;
  };
  const auto counter_of = [](const SetWork& sum) {
    return sum.headline ? sum.facts->columns[*sum.headline].symbol : std::string();
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const SetWork* a, const SetWork* b) { return rate_of(*a) > rate_of(*b); });
  sort_by_heading(shown, sets.columns, place,
                  [&](const SetWork* sum, std::size_t column) -> SortValue {
                    if (column == 1) return sum->provider;
                    if (column == 2) return static_cast<double>(sum->instances);
                    if (column == 3) return counter_of(*sum);
                    return column == 4 ? SortValue(rate_of(*sum)) : SortValue(sum->set);
                  });
  sets.total = shown.size();
  const auto part = part_of(window, 1, sets.total);
  sets.first = part.first;
  for (auto i = part.first; i < part.end; ++i) {
    sets.lines.push_back(line_of(*shown[i], past, when, place));
  }
  picture.sections.push_back(std::move(sets));
  picture.sections.push_back(changes_of(past, when, window, place, 2));

  Place leases = overview_of(place);
  leases.set = "pmu_lease";
  leases.filter = place.filter;
  if (!place.provider.empty()) leases.provider = place.provider;
  Section table = table_of(when, leases, window, 3,
                           {"state", "holder", "label", "pmu", "cpus", "counters", "grade"});
  if (table.columns.empty()) return;
  table.title = "Leases of hardware counters";
  table.trend.clear();
  picture.sections.push_back(std::move(table));
}

}  // namespace meterbank::view
