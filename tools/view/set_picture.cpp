// SPDX-License-Identifier: Apache-2.0
//
// The screen of a set: instances as rows, counters as columns.
#include <fmt/format.h>

#include <numeric>

#include "cli/format/row_writer.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/outside_labels.hpp"
#include "meterbank/reader/path.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {
namespace {

constexpr std::string_view kInstance = "INSTANCE";
constexpr std::string_view kProvider = "PROVIDER";

// What decides whether a row is shown, and where. A set may have a million rows, so this is small.
struct Rank {
  std::size_t number = 0;  // in the order of the walk
  double value = kNoNumber;
  std::uint32_t words = 0;  // number of its words; all 0 where none is needed
  bool is_pinned = false;
};

struct Words {
  std::string text;  // the name that rows are sorted by
  std::string group;
};

// What orders the rows.
struct Order {
  const std::vector<Words>& words;
  std::optional<std::size_t> column = {};  // the column to sort by, if any
  bool by_instance = false;
  bool by_provider = false;
  bool by_group = false;
  bool has_pins = false;
  bool ascending = false;

  [[nodiscard]] bool needs_words() const noexcept { return by_instance || by_provider || by_group; }
  // As they come.
  [[nodiscard]] bool is_of_walk() const noexcept { return !needs_words() && !column && !has_pins; }

  bool operator()(const Rank& a, const Rank& b) const {
    if (a.is_pinned != b.is_pinned) return a.is_pinned;
    if (by_group) {
      const int groups = compare_names(words[a.words].group, words[b.words].group);
      if (groups != 0) return groups < 0;
    }
    if (by_instance || by_provider) {
      const int texts = compare_names(words[a.words].text, words[b.words].text);
      if (texts != 0) return ascending ? texts > 0 : texts < 0;
    } else if (column) {
      if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
      if (a.value != b.value && !std::isnan(a.value)) {
        return ascending ? a.value < b.value : a.value > b.value;
      }
    }
    return a.number < b.number;
  }
};

std::string group_of(const RowAt& row, Grouping grouping) {
  if (grouping == Grouping::kNone) return {};
  if (grouping == Grouping::kProvider) {
    const auto provider = row.provider();
    return provider.empty() ? "totals" : provider;
  }
  if (row.row() == nullptr || row.row()->is_total) return "no label";
  const auto& outside = row.row()->provider->outside;
  for (const auto* label : {&outside.pod, &outside.container, &outside.unit}) {
    if (!label->empty()) return *label;
  }
  return "no label";
}

// The rows of one table.
class SetTable {
 public:
  SetTable(BoardState& state, const When& when, const Place& place,
           const std::vector<std::string>& columns)
      : state_(state), when_(when), place_(place), wanted_(columns) {
    if (!place.filter.empty()) filter_.emplace("*" + place.filter + "*");
  }

  Section make(const Window& window, std::size_t section) {
    const bool is_chosen = section == window.section;
    first_ = is_chosen ? window.first : 0;
    lines_ = is_chosen ? window.lines : window.other_lines;
    rank_rows();
    Section table;
    if (facts_ == nullptr) return table;
    choose_columns(table);
    table.all = all_;
    table.total = passed_;
    table.first = std::min(first_, passed_);
    if (!order_.is_of_walk()) keep_shown(table.first);
    fill(table);
    return table;
  }

 private:
  void rank_rows() {
    state_.each_row(when_, place_, [&](const RowAt& row) {
      if (facts_ == nullptr) start(row.set());
      look_for_providers(row);
      const auto number = all_++;
      if (filter_ && !filter_->matches(row.instance() + " " + row.provider())) return true;
      if (place_.hide_zeros && is_zero(row)) return true;
      const auto at = passed_++;
      if (order_.is_of_walk() && (at < first_ || at - first_ >= lines_)) return true;
      keep(rank_of(row, number));
      return true;
    });
  }

  // Where the first lines of a long table are shown, only as many rows as these are kept: a heap
  // with the last of them on top.
  void keep(Rank rank) {
    constexpr std::size_t kHeapMax = 10'000;
    const auto wanted = first_ + lines_;
    const bool is_heap = !order_.is_of_walk() && wanted > 0 && wanted <= kHeapMax;
    if (!is_heap || ranks_.size() < wanted) {
      ranks_.push_back(rank);
      if (is_heap && ranks_.size() == wanted) {
        std::make_heap(ranks_.begin(), ranks_.end(), order_);
      }
      return;
    }
    if (order_(rank, ranks_.front())) {
      std::pop_heap(ranks_.begin(), ranks_.end(), order_);
      if (order_.needs_words()) std::swap(words_[ranks_.back().words], words_[rank.words]);
      rank.words = ranks_.back().words;
      ranks_.back() = rank;
      std::push_heap(ranks_.begin(), ranks_.end(), order_);
    }
    if (order_.needs_words()) words_.pop_back();
  }

  void start(const SetFacts& facts) {
    facts_ = &facts;
    order_.by_instance = place_.sort == kInstance;
    order_.by_provider = place_.sort == kProvider;
    order_.column = facts.find(place_.sort);
    order_.by_group = place_.grouping != Grouping::kNone;
    order_.has_pins = !place_.pins.empty();
    order_.ascending = place_.ascending;
  }

  // Most rows are of the provider of the one before, whose name need not be compared again.
  void look_for_providers(const RowAt& row) {
    const bool is_one = row.row() != nullptr && !row.row()->is_total;
    const auto* const provider = is_one ? row.row()->provider : nullptr;
    if (has_providers_ || (is_one && provider == last_provider_)) return;
    last_provider_ = provider;
    auto name = row.provider();
    has_providers_ = all_ > 0 && name != provider_;
    provider_ = std::move(name);
  }

  Rank rank_of(const RowAt& row, std::size_t number) {
    Rank rank{.number = number};
    if (order_.column) rank.value = row.number(*order_.column, place_.stored);
    rank.is_pinned = order_.has_pins && is_pinned(row);
    if (!order_.needs_words()) return rank;
    Words words;
    if (order_.by_instance) words.text = row.instance();
    if (order_.by_provider) words.text = row.provider();
    if (!rank.is_pinned) words.group = group_of(row, place_.grouping);
    rank.words = static_cast<std::uint32_t>(words_.size());
    words_.push_back(std::move(words));
    return rank;
  }

  // Drops all rows but those that are shown, and sorts these.
  void keep_shown(std::size_t first) {
    const auto count = std::min(ranks_.size() - first, lines_);
    const auto begin = ranks_.begin() + static_cast<std::ptrdiff_t>(first);
    if (first > 0 && begin != ranks_.end()) {
      std::nth_element(ranks_.begin(), begin, ranks_.end(), order_);
    }
    std::partial_sort(begin, begin + static_cast<std::ptrdiff_t>(count), ranks_.end(), order_);
    ranks_.erase(ranks_.begin(), begin);
    ranks_.resize(count);
  }

  [[nodiscard]] bool is_pinned(const RowAt& row) const {
    const auto key = key_of(row.provider(), row.set().symbol, row.instance());
    return std::find(place_.pins.begin(), place_.pins.end(), key) != place_.pins.end();
  }

  [[nodiscard]] bool is_zero(const RowAt& row) const {
    bool is_zero = true;
    row.each([&](const Reading& reading) {
      const bool is_text = reading.value != nullptr && reading.value->text.value_or("") != "";
      is_zero = !is_text && (std::isnan(reading.cooked) || reading.cooked == 0);
      return is_zero;
    });
    return is_zero;
  }

  void choose_columns(Section& table) {
    table.columns.push_back({std::string(kInstance), facts_->label, false});
    if (has_providers_) table.columns.push_back({std::string(kProvider), "", false});
    before_counters_ = table.columns.size();
    for (std::size_t i = 0; i < facts_->columns.size(); ++i) {
      const auto& facts = facts_->columns[i];
      if (!wanted_.empty() &&
          std::find(wanted_.begin(), wanted_.end(), facts.symbol) == wanted_.end()) {
        continue;
      }
      if (facts.symbol == place_.counter) table.chosen_column = table.columns.size();
      shown_.push_back(i);
      table.columns.push_back({clean(facts.symbol),
                               clean(facts.help.empty() ? facts.name : facts.help),
                               !facts.is_text});
    }
    if (table.chosen_column == 0) table.chosen_column = first_number(table);
    if (table.chosen_column < before_counters_) return;
    trend_column_ = shown_[table.chosen_column - before_counters_];
    table.trend = clean(facts_->columns[*trend_column_].symbol);
  }

  [[nodiscard]] std::size_t first_number(const Section& table) const {
    for (auto i = before_counters_; i < table.columns.size(); ++i) {
      if (table.columns[i].is_number) return i;
    }
    return 0;
  }

  void fill(Section& table) {
    std::map<std::size_t, std::size_t> places;  // of the walk, to places among the lines
    for (std::size_t i = 0; i < ranks_.size(); ++i) places[ranks_[i].number] = i;
    table.lines.resize(places.size());
    std::size_t number = 0;
    std::size_t left = places.size();
    if (left > 0) {
      state_.each_row(when_, place_, [&](const RowAt& row) {
        const auto found = places.find(number++);
        if (found == places.end()) return true;
        const auto at = found->second;
        fill_line(row, ranks_[at], table.lines[at]);
        return --left > 0;
      });
    }
    add_groups(table);
  }

  void fill_line(const RowAt& row, const Rank& rank, Line& line) {
    const auto provider = row.provider();
    const auto instance = row.instance();
    line.key = key_of(provider, facts_->symbol, instance);
    line.is_pinned = rank.is_pinned;
    line.cells.resize(before_counters_ + shown_.size());
    line.cells[0].text = clean(instance);
    if (has_providers_) line.cells[1].text = provider.empty() ? "(all)" : clean(provider);
    for (auto& cell : line.cells) {
      if (cell.text.empty()) cell = {"-", Mood::kFaint};
    }
    if (instance.empty()) line.cells[0] = {"(single)", Mood::kFaint};
    row.each([&](const Reading& reading) {
      const auto shown = std::lower_bound(shown_.begin(), shown_.end(), reading.column);
      if (shown == shown_.end() || *shown != reading.column) return true;
      const auto at = before_counters_ + static_cast<std::size_t>(shown - shown_.begin());
      line.cells[at] = cell_of(row, reading, place_);
      return true;
    });
    if (const auto* past = row.past(); past != nullptr && trend_column_) {
      if (*trend_column_ < past->series.size()) {
        line.trend = trend_of(state_.past, past->series[*trend_column_], when_.moment, kTrendMax);
      }
    }
    if (row.row() != nullptr) state_.look_at_row(*row.row());
    Place inside = place_;
    inside.screen = Screen::kInstance;
    inside.provider = provider;
    inside.set = facts_->symbol;
    inside.instance = instance;
    inside.sort.clear();
    inside.filter.clear();
    line.opens = inside;
    if (!provider.empty()) line.details.push_back(clean(provider));
    if (row.row() != nullptr) line.details.push_back(state_text(*row.row()->provider));
    if (!facts_->help.empty()) line.details.push_back(clean(facts_->help));
  }

  void add_groups(Section& table) const {
    if (place_.grouping == Grouping::kNone) return;
    std::vector<Line> lines;
    std::string last;
    for (std::size_t i = 0; i < table.lines.size(); ++i) {
      const auto& group = words_[ranks_[i].words].group;
      if (group != last && !group.empty()) {
        Line heading;
        heading.key = "group " + group;
        heading.cells.push_back({clean(group)});
        heading.is_group = true;
        lines.push_back(std::move(heading));
        last = group;
      }
      lines.push_back(std::move(table.lines[i]));
    }
    table.lines = std::move(lines);
  }

  BoardState& state_;
  const When& when_;
  const Place& place_;
  const std::vector<std::string>& wanted_;
  std::optional<Glob> filter_;
  std::size_t first_ = 0, lines_ = 0;  // what the window shows
  const SetFacts* facts_ = nullptr;
  std::vector<Words> words_;
  Order order_{words_};
  std::vector<Rank> ranks_;  // the rows that are shown, or candidates for them
  std::size_t all_ = 0, passed_ = 0;
  const ProviderView* last_provider_ = nullptr;
  std::string provider_;  // label of the row before
  bool has_providers_ = false;
  std::size_t before_counters_ = 0;
  std::vector<std::size_t> shown_;  // columns of the set, ascending
  std::optional<std::size_t> trend_column_;
};

// Whether no path was asked for, or one that has all sets of the provider.
bool is_wholly_asked_for(const ProviderView& provider, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::ranges::any_of(patterns, [&provider](const auto& pattern) {
           const auto path = parse_path(pattern);
           if (!path || path->set != "*" || path->instance || path->counter) return false;
           if (path->provider_pid && *path->provider_pid != provider.named_pid()) return false;
           return !path->provider ||
                  Glob(*path->provider, {.backslash_escapes = true}).matches(provider.name);
         });
}

}  // namespace

Section BoardState::table_of(const When& when, const Place& place, const Window& window,
                             std::size_t section, const std::vector<std::string>& columns) {
  return SetTable(*this, when, place, columns).make(window, section);
}

std::vector<EmptySet> BoardState::empty_sets(const Place& place) const {
  std::vector<EmptySet> empty;
  for (const auto& provider : selection.catalog().providers()) {
    if (!is_wholly_asked_for(*provider, selection.patterns)) continue;
    const auto label = label_of(*provider);
    if (!place.provider.empty() && label != place.provider) continue;
    for (const RegisteredSet& registered : provider->sets) {
      // The rows of a callback are not known before it is called.
      const bool has_callback = (registered.flags & kRegistrationCallback) != 0;
      if (registered.set == nullptr || registered.instances.live() != 0 || has_callback) continue;
      const Counterset& set = *registered.set;
      const auto& symbol = set.symbol.empty() ? set.name : set.symbol;
      if (place.set.empty() || symbol == place.set) empty.push_back({label, symbol, &set});
    }
  }
  return empty;
}

void BoardState::show_set(const When& when, const Window& window, Picture& picture) {
  Section table = table_of(when, picture.place, window, 0, {});
  table.title = clean(picture.place.set);
  const auto& place = picture.place;
  const auto name = clean(place.provider.empty() ? place.set : place.provider + ":" + place.set);
  if (table.columns.empty() && !empty_sets(place).empty()) {
    picture.problems.push_back(fmt::format("{} has no instances", name));
    table.columns.push_back({std::string(kInstance), "", false});
  }
  if (table.columns.empty()) {
    picture.problems.push_back(fmt::format("no rows of {} are there", name));
    picture.place = overview_of(picture.place);
    return show_overview(when, window, picture);
  }
  picture.sections.push_back(std::move(table));
}

}  // namespace meterbank::view
