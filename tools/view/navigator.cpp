// SPDX-License-Identifier: Apache-2.0
#include "view/navigator.hpp"

#include <algorithm>
#include <array>

#include "cli/log/moment_words.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::view {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<nanoseconds, 9> kSpans{
    std::chrono::seconds(30), std::chrono::minutes(1), std::chrono::minutes(5),
    std::chrono::minutes(15), std::chrono::hours(1),   std::chrono::hours(4),
    std::chrono::hours(12),   std::chrono::hours(24),  std::chrono::hours(24 * 7)};

nanoseconds next_span(nanoseconds span, bool longer) {
  if (longer) {
    const auto* const next = std::upper_bound(kSpans.begin(), kSpans.end(), span);
    return next == kSpans.end() ? span : *next;
  }
  const auto* const next = std::lower_bound(kSpans.begin(), kSpans.end(), span);
  return next == kSpans.begin() ? span : *(next - 1);
}

const Section* section_of(const Picture& picture, std::size_t number) {
  return number < picture.sections.size() ? &picture.sections[number] : nullptr;
}

}  // namespace

Navigator::Navigator(Place place) : place_(std::move(place)) {}

void Navigator::drawn(const Picture& picture, std::size_t lines) {
  // Messages are about these; plots and heat maps would be copied for nothing.
  last_.crumbs = picture.crumbs;
  last_.sections = picture.sections;
  last_.time_ns = picture.time_ns;
  last_.first_ns = picture.first_ns;
  last_.last_ns = picture.last_ns;
  window_.lines = std::max<std::size_t>(lines, 1);
  // What was not there any more is shown as the next larger thing that is.
  const bool is_elsewhere = picture.place.screen != place_.screen;
  if (is_elsewhere || picture.place.provider != place_.provider) {
    if (is_elsewhere) go_to_top();
    place_ = picture.place;
    // The next picture is of a place that is there, and does not say why.
    if (!picture.problems.empty()) complaint_ = picture.problems.back();
  }
  // A moment to come is now.
  if (!picture.place.at_ns) place_.at_ns.reset();
  if (window_.section >= picture.sections.size()) window_.section = 0;
  const Section* const section = section_of(picture, window_.section);
  const std::size_t total = section == nullptr ? 0 : section->total;
  line_ = total == 0 ? 0 : std::min(line_, total - 1);
  if (section != nullptr) find_row(*section, picture.place.counter);
  window_.first = std::min(window_.first, total - std::min(total, window_.lines));
  keep_in_window();
}

// A row that was chosen stays it where rows change places. On the screen of an instance, the row of
// the plotted counter is the chosen one.
void Navigator::find_row(const Section& section, const std::string& plotted) {
  const bool is_instance = place_.screen == Screen::kInstance;
  if (is_instance && !plotted.empty()) place_.counter = plotted;
  if (is_instance && plots_chosen_line_) choose_plotted();
  const std::string& wanted = is_instance ? place_.counter : chosen_key_;
  std::optional<std::size_t> nearest;
  std::size_t number = section.first;
  for (const Line& line : section.lines) {
    if (line.is_group) continue;
    // Where rows share a key, the first one does not attract the cursor of another.
    if (line.key == wanted && (!nearest || number == line_)) nearest = number;
    ++number;
  }
  if (!wanted.empty() && nearest) line_ = *nearest;
}

void Navigator::go_to_top() {
  window_.first = 0;
  line_ = 0;
  chosen_key_.clear();
  plots_chosen_line_ = false;
}

void Navigator::keep_in_window() {
  window_.first = std::min(window_.first, line_);
  if (line_ >= window_.first + window_.lines) window_.first = line_ + 1 - window_.lines;
}

const Line* Navigator::chosen_line() const {
  const Section* const section = section_of(last_, window_.section);
  if (section == nullptr || line_ < section->first) return nullptr;
  // Headings of groups stand between the lines and are not counted.
  std::size_t number = section->first;
  for (const Line& line : section->lines) {
    if (line.is_group) continue;
    if (number++ == line_) return &line;
  }
  return nullptr;
}

void Navigator::open(const Place& place) {
  before_.push_back({place_, window_, line_});
  constexpr std::size_t kStepsMax = 100;
  if (before_.size() > kStepsMax) before_.erase(before_.begin());
  place_ = place;
  window_.section = 0;
  go_to_top();
}

void Navigator::go_back() {
  if (!place_.filter.empty()) {
    place_.filter.clear();
    return;
  }
  if (!before_.empty()) {
    const auto at_ns = place_.at_ns;
    const Step step = before_.back();
    before_.pop_back();
    place_ = step.place;
    place_.at_ns = at_ns;
    window_.section = step.window.section;
    window_.first = step.window.first;
    line_ = step.line;
    chosen_key_.clear();
    return;
  }
  // Opened by a link: one step up.
  if (last_.crumbs.size() > 1) place_ = last_.crumbs[last_.crumbs.size() - 2].place;
}

Request Navigator::open_chosen() {
  const Line* const line = chosen_line();
  if (line == nullptr || !line->opens) return Request::kNone;
  if (line->opens->screen == place_.screen && place_.screen == Screen::kInstance) {
    place_.counter = line->opens->counter;
  } else {
    open(*line->opens);
  }
  return Request::kNone;
}

void Navigator::move(std::ptrdiff_t lines) {
  const Section* const section = section_of(last_, window_.section);
  const auto total = static_cast<std::ptrdiff_t>(section == nullptr ? 0 : section->total);
  const auto wanted = static_cast<std::ptrdiff_t>(line_) + lines;
  // From the end of one section into the next one.
  if (wanted >= total && lines == 1 && window_.section + 1 < last_.sections.size()) {
    if (last_.sections[window_.section + 1].total > 0) return enter_section(window_.section + 1, 0);
  }
  if (wanted < 0 && lines == -1 && window_.section > 0) {
    const auto above = last_.sections[window_.section - 1].total;
    return enter_section(window_.section - 1, above == 0 ? 0 : above - 1);
  }
  line_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(wanted, 0, std::max<std::ptrdiff_t>(total - 1, 0)));
  keep_in_window();
  hold_row();
}

// The chosen line may be outside the picture that was drawn last. Then the next picture names it.
void Navigator::choose_plotted() {
  const Line* const line = chosen_line();
  plots_chosen_line_ = line == nullptr;
  if (line != nullptr) place_.counter = line->key;
}

// At the top, what comes to it is chosen.
void Navigator::hold_row() {
  if (place_.screen == Screen::kInstance) choose_plotted();
  const Line* const line = line_ == 0 ? nullptr : chosen_line();
  chosen_key_ = line == nullptr ? std::string() : line->key;
}

void Navigator::enter_section(std::size_t section, std::size_t line) {
  window_.section = section;
  window_.first = 0;
  line_ = line;
  keep_in_window();
  hold_row();
}

// Another column of the section, or another counter of the instance.
void Navigator::choose_counter(bool next) {
  const Section* const section = section_of(last_, window_.section);
  if (section == nullptr) return;
  if (place_.screen == Screen::kInstance) return move(next ? 1 : -1);
  auto column = section->chosen_column;
  do {
    column = next ? column + 1 : column - 1;
  } while (column < section->columns.size() && !section->columns[column].is_number);
  if (column < section->columns.size()) place_.counter = section->columns[column].heading;
}

void Navigator::sort_by_next() {
  const Section* const section = section_of(last_, window_.section);
  if (section == nullptr) return;
  const auto& columns = section->columns;
  const auto now = std::find_if(columns.begin(), columns.end(), [this](const Column& column) {
    return column.heading == place_.sort;
  });
  const auto next = place_.sort.empty() || now == columns.end() ? columns.begin() : now + 1;
  place_.sort = next == columns.end() ? "" : next->heading;
  place_.ascending = false;
  go_to_top();
}

void Navigator::pin() {
  const Line* const line = chosen_line();
  if (line == nullptr) return;
  const auto found = std::find(place_.pins.begin(), place_.pins.end(), line->key);
  if (found != place_.pins.end()) {
    place_.pins.erase(found);
  } else {
    place_.pins.push_back(line->key);
  }
}

void Navigator::mark() {
  const auto time_ns = last_.time_ns;
  const auto place = std::lower_bound(marks_.begin(), marks_.end(), time_ns);
  if (place != marks_.end() && *place == time_ns) {
    marks_.erase(place);
  } else {
    marks_.insert(place, time_ns);
  }
}

void Navigator::go_to_next_mark() {
  if (marks_.empty()) return complain("no mark yet; m sets one");
  const auto next = std::upper_bound(marks_.begin(), marks_.end(), last_.time_ns);
  place_.at_ns = next == marks_.end() ? marks_.front() : *next;
}

void Navigator::change_span(bool longer) {
  const auto next = next_span(place_.span, longer);
  if (next == place_.span) {
    complaint_ = longer ? "this is the longest span of time" : "this is the shortest span of time";
  }
  place_.span = next;
}

void Navigator::freeze() {
  if (place_.at_ns) {
    place_.at_ns.reset();
  } else {
    place_.at_ns = last_.time_ns;
  }
}

bool Navigator::moves(Message message) {
  const auto page = static_cast<std::ptrdiff_t>(window_.lines);
  constexpr auto kAll = std::ptrdiff_t{1} << 40;
  switch (message) {
    case Message::kUp:
      move(-1);
      return true;
    case Message::kDown:
      move(1);
      return true;
    case Message::kPageUp:
      move(-page);
      return true;
    case Message::kPageDown:
      move(page);
      return true;
    case Message::kFirst:
      move(-kAll);
      return true;
    case Message::kLast:
      move(kAll);
      return true;
    case Message::kNextSection:
      if (!last_.sections.empty()) enter_section((window_.section + 1) % last_.sections.size(), 0);
      return true;
    case Message::kLeft:
    case Message::kRight:
      choose_counter(message == Message::kRight);
      return true;
    default:
      return false;
  }
}

bool Navigator::changes_time(Message message) {
  switch (message) {
    case Message::kWider:
    case Message::kNarrower:
      change_span(message == Message::kWider);
      return true;
    case Message::kFreeze:
      freeze();
      return true;
    case Message::kNow:
      place_.at_ns.reset();
      return true;
    case Message::kMark:
      mark();
      return true;
    case Message::kNextMark:
      go_to_next_mark();
      return true;
    case Message::kGoTo:
      typing_ = Typing::kTime;
      typed_.clear();
      return true;
    default:
      return false;
  }
}

// Why a key has no effect on the screen that is shown; empty: it has one.
std::string_view Navigator::not_here(Message message) const {
  const bool is_overview = place_.screen == Screen::kOverview;
  switch (message) {
    case Message::kPin:
    case Message::kHideZeros:
    case Message::kStored:
      return is_overview ? "this key is for the rows of a set and the counters of an instance" : "";
    case Message::kGroup:
      return place_.screen != Screen::kSet ? "this key groups the rows of a set" : "";
    case Message::kLogarithmic:
      return place_.screen != Screen::kInstance ? "this key is for the plots of an instance" : "";
    default:
      return "";
  }
}

void Navigator::switches(Message message) {
  if (complaint_ = not_here(message); !complaint_.empty()) return;
  switch (message) {
    case Message::kBack:
      return go_back();
    case Message::kOverview:
      return open(overview_of(place_));
    case Message::kSearch:
      typing_ = Typing::kFilter;
      typed_ = place_.filter;
      return;
    case Message::kSort:
      return sort_by_next();
    case Message::kReverse:
      place_.ascending = !place_.ascending;
      return;
    case Message::kGroup:
      place_.grouping = place_.grouping == Grouping::kNone       ? Grouping::kProvider
                        : place_.grouping == Grouping::kProvider ? Grouping::kLabel
                                                                 : Grouping::kNone;
      return;
    case Message::kPin:
      return pin();
    case Message::kHideZeros:
      place_.hide_zeros = !place_.hide_zeros;
      return;
    case Message::kStored:
      place_.stored = !place_.stored;
      return;
    case Message::kUnits:
      place_.base_units = !place_.base_units;
      return;
    case Message::kLogarithmic:
      place_.logarithmic = !place_.logarithmic;
      return;
    case Message::kDetails:
      shows_details_ = !shows_details_;
      return;
    case Message::kHelp:
      shows_help_ = true;
      help_first_ = 0;
      return;
    default:
      return;
  }
}

Request Navigator::handle(Message message) {
  complaint_.clear();
  // The rows are out of sight, so no message is about them.
  if (shows_help_) {
    shows_help_ = false;
    return message == Message::kQuit ? Request::kQuit : Request::kNone;
  }
  switch (message) {
    case Message::kOpen:
      return open_chosen();
    case Message::kEarlier:
      return Request::kEarlier;
    case Message::kLater:
      return Request::kLater;
    case Message::kBookmark:
      return Request::kBookmark;
    case Message::kNextBookmark:
      return Request::kNextBookmark;
    case Message::kSave:
      return Request::kSave;
    case Message::kQuit:
      return Request::kQuit;
    default:
      break;
  }
  if (!moves(message) && !changes_time(message)) switches(message);
  return Request::kNone;
}

void Navigator::show_moment(std::optional<std::uint64_t> realtime_ns) {
  if (realtime_ns) {
    place_.at_ns = realtime_ns;
  } else {
    complaint_ = "no moment beyond this one is known";
  }
}

void Navigator::complain(std::string_view words) { complaint_ = words; }

// ---- Typing ----

void Navigator::type(std::string_view character) {
  constexpr std::size_t kTypedMax = 1024;
  if (typing_ == Typing::kNothing || typed_.size() + character.size() > kTypedMax) return;
  typed_ += character;
  if (typing_ == Typing::kFilter) filter_by_typed();
}

void Navigator::take_back() {
  if (typing_ == Typing::kNothing) return;
  // A character may be several bytes; those that continue one begin with the bits 10.
  while (!typed_.empty()) {
    const auto byte = static_cast<unsigned char>(typed_.back());
    typed_.pop_back();
    if ((byte & 0xC0U) != 0x80U) break;
  }
  if (typing_ == Typing::kFilter) filter_by_typed();
}

void Navigator::filter_by_typed() {
  place_.filter = typed_;
  go_to_top();
}

void Navigator::accept() {
  if (typing_ == Typing::kTime) {
    if (const auto moment = cli::parse_moment(typed_, last_.last_ns)) {
      go_to(cli::last_meant_by(typed_, *moment));
    } else {
      complaint_ = moment.error().message();
    }
  }
  typing_ = Typing::kNothing;
}

void Navigator::go_to(std::uint64_t time_ns) {
  place_.at_ns = time_ns;
  if (last_.last_ns == 0) return;
  if (time_ns > last_.last_ns) {
    place_.at_ns = last_.last_ns;
    complaint_ = "that is later than all that is known; this is the last moment";
  } else if (time_ns < last_.first_ns) {
    place_.at_ns = last_.first_ns;
    complaint_ = "that is earlier than all that is known; this is the first moment";
  }
}

void Navigator::cancel() {
  if (typing_ == Typing::kFilter) place_.filter.clear();
  typing_ = Typing::kNothing;
}

// ---- Pointing ----

Request Navigator::point(std::size_t section, std::size_t line, bool twice) {
  const Section* const pointed = section_of(last_, section);
  if (pointed == nullptr || line >= pointed->total) return Request::kNone;
  if (section != window_.section) window_.first = pointed->first;
  window_.section = section;
  line_ = line;
  keep_in_window();
  hold_row();
  return twice ? open_chosen() : Request::kNone;
}

void Navigator::point_column(std::size_t section, std::size_t column) {
  const Section* const pointed = section_of(last_, section);
  if (pointed == nullptr || column >= pointed->columns.size()) return;
  const auto& heading = pointed->columns[column].heading;
  if (place_.sort == heading) {
    place_.ascending = !place_.ascending;
  } else {
    place_.sort = heading;
    place_.ascending = false;
  }
}

void Navigator::point_time(std::uint64_t realtime_ns) { place_.at_ns = realtime_ns; }

}  // namespace meterbank::view
