// SPDX-License-Identifier: Apache-2.0
#include "view/board.hpp"

#include <fmt/format.h>

#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/shm/utf8.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {

std::string clean(std::string_view text) { return escape_for_terminal(text); }

bool passes(const std::string& filter, std::string_view words) {
  return filter.empty() || glob_matches("*" + filter + "*", words);
}

std::string key_of(std::string_view provider, std::string_view set, std::string_view instance) {
  return fmt::format("{}/{}/{}", provider, set, instance);
}

cli::UnitStyle units_of(const Place& place) noexcept {
  return place.base_units ? cli::UnitStyle::kBase : cli::UnitStyle::kAuto;
}

std::string number_text(const ColumnFacts& facts, double value, const Place& place) {
  if (std::isnan(value)) return "-";
  return cli::print_quantity(value, facts.unit, units_of(place));
}

namespace {

Cell cell_of_reading(const ColumnFacts& facts, const Reading& reading, const Place& place) {
  const bool is_counter = reading.value != nullptr && !facts.share;
  if (is_counter && reading.value->text && reading.status.empty()) {
    return {clean(*reading.value->text)};
  }
  if (place.stored && is_counter && !std::isnan(reading.stored)) {
    return {cli::stored_text(*reading.value)};
  }
  if (place.stored && !facts.share) return {"-", Mood::kFaint};
  if (reading.status.empty()) {
    const auto exact = is_counter ? cli::exact_text(*reading.value, units_of(place)) : std::nullopt;
    return {exact ? *exact : number_text(facts, reading.cooked, place)};
  }
  const bool is_silent = reading.status == "no-rate-yet" || reading.status == "no-new-sample" ||
                         reading.status == "no-value" || reading.status == "zero-base";
  if (is_silent) return {"-", Mood::kFaint};
  return {std::string(reading.status), reading.status == "dead" ? Mood::kBad : Mood::kWarning};
}

}  // namespace

Cell cell_of(const RowAt& row, const Reading& reading, const Place& place) {
  const auto& facts = row.set().columns[reading.column];
  const double now = row.number(reading, place.stored);
  const bool is_old = !place.stored && std::isnan(reading.cooked) && !std::isnan(now);
  return is_old ? Cell{number_text(facts, now, place)} : cell_of_reading(facts, reading, place);
}

std::vector<double> trend_of(const Past& past, const Series& series, std::uint64_t moment,
                             std::size_t count) {
  const auto end = std::min(moment + 1, past.end_moment());
  const auto begin = std::max(past.first_moment(), end - std::min<std::uint64_t>(end, count));
  return series.all_of(begin, end);
}

bool has_distribution(const Row& row) noexcept {
  return std::ranges::any_of(row.set().counters, [](const CounterView& counter) {
    return counter.form == ValueForm::kDistribution;
  });
}

// ---- State ----

bool BoardState::has_heat(const Row& row) const {
  return distributions <= Board::kHeatsMax || looked_into.contains(id_of(row));
}

bool BoardState::look_into_row(const Row& row) {
  const auto id = id_of(row);
  const bool is_known = looked_into.contains(id);
  if (!is_known && looked_into.size() >= heats_max) {
    if (selection.log == nullptr) return false;
    looked_into.clear();
  }
  looked_into[id] = past.end_moment();
  return !is_known;
}

void BoardState::look_at_row(const Row& row) {
  const auto id = id_of(row);
  auto found = looked_at.find(id);
  if (found == looked_at.end()) {
    const auto columns = past.facts_of(row).columns.size();
    if (cells_looked_at + columns > cells_max) return;
    cells_looked_at += columns;
    found = looked_at.emplace(id, Look{.moment = 0, .cells = columns}).first;
    wants_replay = wants_replay || (selection.log != nullptr && past.find(id) == nullptr);
  }
  found->second.moment = past.end_moment();
}

void BoardState::forget_looks() {
  constexpr std::uint64_t kMoments = 60;
  const auto end = past.end_moment();
  std::erase_if(looked_at, [&](const auto& look) {
    if (look.second.moment + kMoments >= end) return false;
    cells_looked_at -= look.second.cells;
    return true;
  });
  std::erase_if(looked_into, [&](const auto& look) { return look.second + kMoments < end; });
}

SetWork& BoardState::work_of(const Row& row) {
  const SetFacts& facts = past.facts_of(row);
  if (last_work == nullptr || last_provider != row.provider || last_work->facts != &facts) {
    last_provider = row.provider;
    last_work = &work[{label_of(*row.provider), &facts}];
    last_work->facts = &facts;
    last_work->set = facts.symbol;
    last_work->provider = label_of(*row.provider);
  }
  return *last_work;
}

void BoardState::add_to_work(const Row& row) {
  SetWork& sum = work_of(row);
  const auto moment = past.end_moment() - 1;
  if (sum.last_seen != moment) {
    sum.last_seen = moment;
    sum.instances = 0;
    sum.is_followed = true;
    sum.sums_before.assign(sum.sums.size(), 0.0);
    sum.sums.swap(sum.sums_before);
  }
  ++sum.instances;
  sum.is_followed = sum.is_followed && is_followed(row);
  past.each_value(row, [&](std::size_t column, const Value& value) {
    if (sum.sums.size() <= column) sum.sums.resize(column + 1, 0.0);
    if (!sum.facts->columns[column].is_rate) return;
    if (has_value(value.cooked.status)) sum.sums[column] += value.cooked.value;
    if (value.cooked.status == CookStatus::kNoNewSample) add_old_value(row, column, sum);
  });
}

// What its provider renews more slowly stays what it was.
void BoardState::add_old_value(const Row& row, std::size_t column, SetWork& sum) const {
  const RowPast* const known = past.find(id_of(row));
  if (known != nullptr && column < known->series.size()) {
    const double value = known->series[column].at(sum.last_seen);
    if (!std::isnan(value)) sum.sums[column] += value;
  } else if (column < sum.sums_before.size()) {
    sum.sums[column] = sum.sums_before[column];
  }
}

// The smallest sets first: those of services are, and a set of all processes is not.
void BoardState::choose_followed() {
  std::vector<std::pair<std::size_t, SetId>> sets;
  for (const SelectedSet& one : selection.query.selected()) {
    sets.emplace_back(
        one.is_total() ? one.counters().size() : one.instances() * one.counters().size(),
        set_id_of(one.provider(), one.registered()));
  }
  std::sort(sets.begin(), sets.end());
  followed_sets.clear();
  last_registered = nullptr;
  std::size_t chosen = 0;
  for (const auto& [count, id] : sets) {
    chosen += count;
    if (chosen > Board::kCellsMax) break;
    followed_sets.insert(id);
  }
}

bool BoardState::is_followed(const Row& row) {
  if (last_registered != row.registered) {
    last_registered = row.registered;
    is_last_followed = followed_sets.contains(set_id_of(*row.provider, *row.registered));
  }
  return is_last_followed || (!looked_at.empty() && looked_at.contains(id_of(row)));
}

void BoardState::take() {
  sampler.take();
  const Sample& newer = sampler.newer();
  past.begin_moment(newer.time.realtime_ns, sampler.interval());
  last_work = nullptr;
  const auto version = selection.catalog().version() + 1;
  if (std::exchange(followed_of, version) != version) choose_followed();
  last_registered = nullptr;
  std::size_t seen = 0;
  std::size_t spread = 0;
  for (const Row& row : newer.since(sampler.older(), cli::kUncapped)) {
    const auto& counters = row.set().counters;
    seen += counters.size();
    spread += static_cast<std::size_t>(std::count_if(
        counters.begin(), counters.end(),
        [](const CounterView& counter) { return counter.form == ValueForm::kDistribution; }));
    if (is_followed(row)) past.follow(row, has_heat(row));
  }
  distributions = spread;
  forget_looks();
  while (!held.empty() && held.front().time_ns < past.times().front()) held.pop_front();
  values_of_newest = seen;
  keep_newest();
  sum_up();
}

void BoardState::keep_newest() {
  if (kept && values_of_newest <= Board::kKeptCountersMax) {
    kept->add(selection.catalog(), selection.query, sampler.newer());
  }
}

void BoardState::sum_up() {
  if (past.times().empty()) return;
  last_work = nullptr;
  last_registered = nullptr;
  for (const Row& row : sampler.newer().since(sampler.older(), cli::kUncapped)) {
    if (!row.is_total) add_to_work(row);
  }
  const auto moment = past.end_moment() - 1;
  std::erase_if(work, [&](const auto& known) { return known.second.last_seen < moment; });
  for (auto& [key, sum] : work) {
    for (std::size_t i = 0; !sum.headline && i < sum.sums.size(); ++i) {
      if (sum.sums[i] > 0) sum.headline = i;
    }
    sum.trend.drop_before(past.first_moment());
    sum.trend.add(moment, sum.headline ? sum.sums[*sum.headline] : kNoNumber);
  }
}

void BoardState::hold_newest() {
  constexpr std::size_t kCutsMax = 4;  // screens that are frozen at different moments
  const auto newest_ns = past.times().back();
  if (!held.empty() && held.back().time_ns == newest_ns) return;
  if (held.size() == kCutsMax) held.pop_front();
  held.push_back({sampler.older(), sampler.newer(), newest_ns, sampler.interval()});
}

When BoardState::when_of(const Place& place) {
  if (selection.log != nullptr) {
    return look_at(place.at_ns.value_or(selection.log->last().realtime_ns), place.span);
  }
  When when{&sampler.older(), &sampler.newer(), past.first_moment(), 0, sampler.interval()};
  if (past.times().empty()) return when;
  when.moment = past.end_moment() - 1;
  when.time_ns = past.times().back();
  if (!place.at_ns) return when;
  if (*place.at_ns >= when.time_ns) {
    hold_newest();
    return when;
  }
  when.moment = past.moment_at(*place.at_ns).value_or(past.first_moment());
  when.time_ns = past.time_of(when.moment);
  when.older = when.newer = nullptr;
  for (const HeldCut& cut : held) {
    if (cut.time_ns != when.time_ns) continue;
    when.older = &cut.older;
    when.newer = &cut.newer;
    when.seconds = cut.seconds;
  }
  return when;
}

// ---- Board ----

Board::Board(cli::Selection& selection) : state_(std::make_unique<BoardState>(selection)) {
  if (selection.log == nullptr) return;
  static_cast<void>(state_->look_at(selection.log->last().realtime_ns, Place().span));
}

Board::~Board() = default;

void Board::take() {
  if (state_->selection.log == nullptr) state_->take();
}

void Board::keep_samples() {
  if (state_->selection.log != nullptr) return;
  state_->kept.emplace();
  if (!state_->past.times().empty()) state_->keep_newest();
}

Result<void> Board::save(const std::string& path, std::chrono::nanoseconds interval) const {
  if (state_->selection.log != nullptr) {
    return fail(ErrorCode::kNotFound, "this is a recording already",
                "meterbank log cut makes a part of it");
  }
  if (!state_->kept || state_->kept->ticks() == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("of more than {} counters no samples are kept", kKeptCountersMax),
                "meterbank record");
  }
  return state_->kept->save(path, "meterbank " METERBANK_VERSION, interval);
}

std::optional<std::uint64_t> Board::moment_before(std::optional<std::uint64_t> at_ns) const {
  if (state_->selection.log != nullptr) return state_->recorded_before(at_ns);
  const auto& times = state_->past.times();
  // A time between two moments shows the one before it.
  const auto behind = at_ns ? std::upper_bound(times.begin(), times.end(), *at_ns) : times.end();
  if (behind - times.begin() < 2) return std::nullopt;
  return *(behind - 2);
}

std::optional<std::uint64_t> Board::moment_after(std::uint64_t at_ns) const {
  if (state_->selection.log != nullptr) return state_->recorded_after(at_ns);
  const auto& times = state_->past.times();
  const auto next = std::upper_bound(times.begin(), times.end(), at_ns);
  return next == times.end() ? std::nullopt : std::optional(*next);
}

namespace {

std::vector<Crumb> crumbs_of(const Place& place) {
  Place at = place;
  at.filter.clear();
  at.sort.clear();
  std::vector<Crumb> crumbs;
  const auto add = [&](const std::string& text, Screen screen) {
    at.screen = screen;
    crumbs.push_back({clean(text), at});
  };
  at.provider = at.set = at.instance = at.counter = "";
  add("overview", Screen::kOverview);
  if (!place.provider.empty()) {
    at.provider = place.provider;
    add(place.provider, Screen::kOverview);
  }
  if (place.screen == Screen::kOverview) return crumbs;
  at.set = place.set;
  add(place.set, Screen::kSet);
  if (place.screen == Screen::kSet) return crumbs;
  at.instance = place.instance;
  at.counter = place.counter;
  add(place.instance.empty() ? "(single)" : place.instance, Screen::kInstance);
  return crumbs;
}

}  // namespace

// A provider that began again has another pid. Bookmarks and links lead to the one of its name on
// its machine, if there is one.
const ProviderView* BoardState::provider_called(const std::string& label) const {
  const auto [name, host] = name_and_host_of(label);
  const ProviderView* found = nullptr;
  std::size_t others = 0;
  for (const auto& provider : selection.catalog().providers()) {
    const auto known = label_of(*provider);
    if (known == label) return provider.get();
    if (provider->state != ProviderState::kLive) continue;
    if (name_and_host_of(known) != std::pair(name, host)) continue;
    found = provider.get();
    ++others;
  }
  return others == 1 ? found : nullptr;
}

bool Board::finds_provider(const std::string& label) const {
  return state_->provider_called(label) != nullptr;
}

Place BoardState::present_place(const Place& place) const {
  const auto* const found = place.provider.empty() ? nullptr : provider_called(place.provider);
  const auto is_of_it = [&](const auto& known) { return known.second.provider == place.provider; };
  const bool is_past = place.at_ns && std::any_of(past.rows().begin(), past.rows().end(), is_of_it);
  if (found == nullptr || is_past) return place;
  Place present = place;
  present.provider = label_of(*found);
  return present;
}

Picture BoardState::picture_of(const Place& asked, const Window& window) {
  Picture picture;
  const auto when = when_of(asked);
  const Place place = present_place(asked);
  picture.place = place;
  const auto& times = past.times();
  picture.time_ns = when.time_ns;
  if (selection.log != nullptr) {
    picture.first_ns = selection.log->first().realtime_ns;
    picture.last_ns = selection.log->last().realtime_ns;
  } else if (!times.empty()) {
    picture.first_ns = times.front();
    picture.last_ns = times.back();
  }
  picture.is_live = selection.log == nullptr;
  constexpr std::uint64_t kTypedNs = 1'000'000;  // a time that is typed is its millisecond
  const bool is_at = place.at_ns && picture.last_ns != 0;
  const bool is_later = is_at && *place.at_ns > picture.last_ns + kTypedNs;
  const bool is_earlier = is_at && *place.at_ns < picture.first_ns;
  if (is_later && picture.is_live) picture.place.at_ns.reset();
  picture.is_frozen = picture.is_live && place.at_ns.has_value() && !is_later;
  picture.problems = problems(place);
  if (is_later) picture.problems.emplace_back("a later moment than is known; the last is shown");
  if (is_earlier) {
    picture.problems.emplace_back("an earlier moment than is known; the first is shown");
  }
  if (picture.is_frozen && when.newer == nullptr) {
    picture.problems.push_back(
        "an earlier moment: texts, stored values and counters that were not looked at then are "
        "not known; a recording has them");
  }
  if (place.screen == Screen::kSet) show_set(when, window, picture);
  if (place.screen == Screen::kInstance) show_instance(when, window, picture);
  if (place.screen == Screen::kOverview) show_overview(when, window, picture);
  if (place.provider != asked.provider) {
    picture.problems.push_back(
        fmt::format("{} is not there; {} is shown", clean(asked.provider), clean(place.provider)));
  }
  picture.crumbs = crumbs_of(picture.place);
  return picture;
}

Picture Board::picture(const Place& place, const Window& window) {
  // In a recording no time passes in which looks would be forgotten.
  const bool is_noted = state_->noted.has_value();
  if (state_->selection.log != nullptr && !is_noted &&
      state_->cells_looked_at > state_->cells_max / 2) {
    state_->looked_at.clear();
    state_->cells_looked_at = 0;
  }
  auto picture = state_->picture_of(place, window);
  if (!is_noted && std::exchange(state_->wants_replay, false)) {
    state_->log_at_ns = 0;
    picture = state_->picture_of(place, window);
    state_->wants_replay = false;
  }
  return picture;
}

}  // namespace meterbank::view
