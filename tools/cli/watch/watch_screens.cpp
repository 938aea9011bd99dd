// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watch_screens.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "cli/watch/screens.hpp"
#include "cli/watch/terminal/screen.hpp"
#include "view/board.hpp"
#include "view/bookmarks.hpp"
#include "view/navigator.hpp"

namespace meterbank::cli {
namespace {

// "meterbank-20261127-091502.mbr", in local time; of the second recording in a second "...-2.mbr".
std::string name_of_saved() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text{};
  static_cast<void>(std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local));
  std::string name = fmt::format("meterbank-{}", text.data());
  std::error_code error;
  if (!std::filesystem::exists(name + ".mbr", error)) return name + ".mbr";
  constexpr int kTriesMax = 100;
  for (int number = 2; number < kTriesMax; ++number) {
    auto other = fmt::format("{}-{}.mbr", name, number);
    if (!std::filesystem::exists(other, error)) return other;
  }
  return name + ".mbr";
}

Result<std::string> save(const view::Board& board, std::chrono::nanoseconds interval) {
  const auto name = name_of_saved();
  if (auto saved = board.save(name, interval); !saved) return tl::unexpected(saved.error());
  return "saved as " + name;
}

Result<std::string> keep_bookmark(const view::Place& place) {
  const auto path = view::bookmarks_path();
  if (auto added = view::add_bookmark(path, place); !added) return tl::unexpected(added.error());
  return "kept in " + path;
}

// One after the other, from the first.
class BookmarkWalk {
 public:
  // With the first bookmark, a line that is not a bookmark is named.
  Result<view::Place> next(view::Navigator& navigator) {
    const auto path = view::bookmarks_path();
    const auto known = view::read_bookmarks(path);
    if (!known) return tl::unexpected(known.error());
    if (known->places.empty()) {
      if (!known->errors.empty()) return tl::unexpected(known->errors.front());
      return fail(ErrorCode::kNotFound, "no bookmark yet", "B keeps this place");
    }
    const bool is_first = number_ % known->places.size() == 0;
    if (is_first && !known->errors.empty()) navigator.complain(known->errors.front().message());
    return known->places[number_++ % known->places.size()];
  }

 private:
  std::size_t number_ = 0;
};

// The last 15 minutes of a ring come before what is seen from now on. The agent's is there or not;
// one that was named has to be.
void remember(const Invocation& invocation, view::Board& board, view::Navigator& navigator) {
  const bool is_named = !invocation.watch.ring.empty();
  const auto ring = is_named ? invocation.watch.ring : std::string(view::kAgentRing);
  std::error_code error;
  if (!is_named && !std::filesystem::exists(ring, error)) return;
  const auto now_ns = Timestamp::now().realtime_ns;
  const auto span = std::chrono::nanoseconds(view::Place().span).count();
  const auto remembered = board.remember(ring, now_ns - static_cast<std::uint64_t>(span), now_ns);
  if (!remembered && is_named) navigator.complain(remembered.error().message());
}

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  constexpr unsigned long kMost = 1'000;
  const auto number = std::strtoul(text, nullptr, 10);
  return number == 0 || number > kMost ? otherwise : number;
}

}  // namespace

view::Place first_place(const Invocation& invocation, const Selection& selection) {
  view::Place place = invocation.watch.place.value_or(view::Place());
  place.stored = place.stored || invocation.raw;
  place.base_units = place.base_units || invocation.units == UnitStyle::kBase;
  const LogOptions& log = invocation.selection.log;
  if (selection.log == nullptr || place.at_ns) return place;
  place.at_ns = selection.log->last().realtime_ns;
  if (!log.at.empty()) place.at_ns = selection.log_from_ns;
  if (!log.to.empty()) place.at_ns = std::min(*place.at_ns, selection.log_to_ns);
  if (!log.from.empty() && *place.at_ns > selection.log_from_ns) {
    place.span = std::chrono::nanoseconds(*place.at_ns - selection.log_from_ns);
  }
  return place;
}

int show_screens(const Invocation& invocation, const view::Place& place, Selection& selection,
                 Waiter& waiter, Console& console) {
  auto screen = Screen::open(console, {.color = wants_color(invocation.color, console)});
  if (!screen) {
    complain(console, screen.error());
    RowPlan plan;
    plan.samples = invocation.samples.value_or(0);
    plan.stop_is_success = true;
    return print_rows(invocation, plan, selection, waiter, console);
  }
  view::Board board(selection);
  BoardSource source(board);
  view::Navigator navigator(place);
  BookmarkWalk bookmarks;
  ScreensOptions options;
  options.interval = invocation.interval;
  options.duration = invocation.duration;
  options.samples = invocation.samples.value_or(0);
  options.is_live = selection.log == nullptr;
  options.bookmark = keep_bookmark;
  options.next_bookmark = [&] { return bookmarks.next(navigator); };
  options.save = [&](std::chrono::nanoseconds interval) { return save(board, interval); };
  if (options.is_live) {
    options.after_first_picture = [&] {
      board.keep_samples();
      remember(invocation, board, navigator);
    };
  }
  const int code = run_screens(options, source, navigator, waiter, **screen);
  screen->reset();
  if (code == kExitTimeout) complain(console, "timed out; try: a longer --timeout");
  return code;
}

int print_screens(const Invocation& invocation, const view::Place& place, Selection& selection,
                  Waiter& waiter, Console& console) {
  view::Board board(selection);
  DrawingStyle style;
  style.charset = out_charset(console);
  constexpr std::size_t kWidth = 100, kHeight = 40;
  const auto width = console.columns > 0 ? console.columns : number_in("COLUMNS", kWidth);
  const auto height = number_in("LINES", kHeight);
  const auto window = window_for({}, width, height);
  view::Navigator navigator(place);
  Cadence cadence(Clock::now(), invocation.interval);
  const bool is_live = selection.log == nullptr;
  const auto wanted = is_live ? invocation.samples.value_or(0) : 1;
  const auto end =
      invocation.duration ? Clock::now() + *invocation.duration : Clock::time_point::max();
  // Rates are of the time since the sample before. What is looked at is followed.
  board.take();
  static_cast<void>(board.picture(navigator.place(), window));
  for (std::uint64_t printed = 0; wanted == 0 || printed < wanted; ++printed) {
    cadence.advance(Clock::now());
    if (is_live) {
      const auto wake = waiter.wait_until(std::min(cadence.next(), end));
      if (wake == Wake::kStop) return kExitDone;
      if (wake == Wake::kTimeout) {
        complain(console, "timed out; try: a longer --timeout");
        return kExitTimeout;
      }
      if (Clock::now() >= end) return kExitDone;
      board.take();
    }
    auto picture = board.picture(navigator.place(), window);
    while (picture.is_unfinished) {
      if (waiter.wait_until(Clock::now()) == Wake::kStop) return kExitDone;
      picture = board.picture(navigator.place(), window);
    }
    if (invocation.format == Format::kJson) {
      console.out << view::json_of(picture) << '\n' << std::flush;
    } else {
      auto state = state_of(navigator);
      state.interval = cadence.interval();
      state.missed = cadence.missed();
      const auto drawing = draw_picture(picture, state, style, width, height);
      console.out << drawing.grid.text() << '\n' << std::flush;
    }
    if (!console.out) return kExitDone;
  }
  return kExitDone;
}

}  // namespace meterbank::cli
