// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/screens.hpp"

#include <algorithm>

#include "cli/session/exit_code.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "cli/watch/interval_steps.hpp"
#include "cli/watch/screen_keys.hpp"

namespace meterbank::cli {
namespace {

class ScreensSession {
 public:
  ScreensSession(const ScreensOptions& options, PictureSource& source, view::Navigator& navigator,
                 Waiter& waiter, Screen& screen)
      : options_(options),
        source_(source),
        navigator_(navigator),
        waiter_(waiter),
        screen_(screen),
        cadence_(Clock::now(), options.interval),
        drawing_{Grid(0, 0, screen.style().charset), 0, {}} {}

  int run() {
    const auto end =
        options_.duration ? Clock::now() + *options_.duration : Clock::time_point::max();
    take();
    if (!show()) return kExitDone;
    if (options_.after_first_picture) {
      options_.after_first_picture();
      if (!show()) return kExitDone;
    }
    while (!is_over_) {
      // The next picture has more of the plots.
      const auto more = is_unfinished_ ? Clock::now() : Clock::time_point::max();
      switch (waiter_.wait_until(std::min({next_moment(), end, rest_of_key(), more}),
                                 screen_.input())) {
        case Wake::kStop:
          return kExitDone;
        case Wake::kTimeout:
          return kExitTimeout;
        case Wake::kInput:
          take_keys();
          break;
        case Wake::kResize:
          screen_.stop_if_asked();
          break;
        case Wake::kRequest:
          break;
        case Wake::kDeadline:
          if (Clock::now() >= end) return kExitDone;
          if (screen_.awaits_rest()) take_keys();
          if (Clock::now() >= next_moment()) take();
          break;
      }
      if (!is_over_ && !show()) return kExitDone;
    }
    return kExitDone;
  }

 private:
  [[nodiscard]] Clock::time_point next_moment() const {
    return options_.is_live ? cadence_.next() : Clock::time_point::max();
  }
  // Until then, the beginning of what a key sends may go on.
  [[nodiscard]] Clock::time_point rest_of_key() const {
    if (!screen_.awaits_rest()) return Clock::time_point::max();
    return Clock::now() + std::chrono::milliseconds(KeyReader::kRestMs);
  }

  void take() {
    source_.take();
    ++taken_;
    cadence_.advance(Clock::now());
    if (options_.samples != 0 && taken_ >= options_.samples) is_over_ = true;
  }

  // The picture of the place as it is now, drawn but not shown yet.
  void look() {
    const auto size = screen_.size();
    const auto look_once = [&] {
      const auto window = window_for(navigator_.window(), size.width, size.height);
      const auto picture = source_.picture(navigator_.place(), window);
      draw(picture, size);
      is_unfinished_ = picture.is_unfinished;
      const auto line = navigator_.line();
      navigator_.drawn(picture, drawing_.lines);
      const auto& now = navigator_.window();
      if (now.first != window.first || now.section != window.section) return false;
      if (navigator_.place().counter != picture.place.counter) return false;
      if (line != navigator_.line()) draw(picture, size);
      return true;
    };
    // There may be fewer lines than before, or the chosen one may be out of the window, or its
    // counter may be plotted only now.
    if (!look_once()) static_cast<void>(look_once());
  }

  void draw(const view::Picture& picture, const Screen::Size& size) {
    auto state = state_of(navigator_);
    state.interval = cadence_.interval();
    state.missed = cadence_.missed();
    state.notice = notice_;
    drawing_ = draw_picture(picture, state, screen_.style(), size.width, size.height);
  }

  bool show() {
    look();
    return screen_.draw(drawing_.grid);
  }

  // All that was pressed, each key on the picture that the one before left; shown once.
  void take_keys() {
    auto presses = screen_.read_keys();
    for (std::size_t i = 0; i < presses.size() && !is_over_; ++i) {
      handle(presses[i]);
      // What is typed needs no picture, and of a million rows one takes long.
      const bool is_typing = navigator_.typing() != view::Navigator::Typing::kNothing;
      if (i + 1 < presses.size() && !is_typing) look();
    }
  }

  void handle(const KeyPress& press) {
    notice_.clear();
    const bool is_typing = navigator_.typing() != view::Navigator::Typing::kNothing;
    if (!is_typing && press.key == Key::kCharacter && (press.text == "<" || press.text == ">")) {
      const auto interval = step_interval(cadence_.interval(), press.text == ">");
      cadence_.restart(Clock::now(), interval);
      return;
    }
    answer(handle_press(press, is_second_click(press), drawing_, navigator_));
  }

  [[nodiscard]] bool is_second_click(const KeyPress& press) {
    constexpr auto kTogether = std::chrono::milliseconds(400);
    if (press.key != Key::kClick) return false;
    const auto now = Clock::now();
    const bool is_second = clicked_ && clicked_->x == press.x && clicked_->y == press.y &&
                           now - clicked_at_ <= kTogether;
    // A third click is a first one again.
    clicked_ = is_second ? std::nullopt : std::optional(press);
    clicked_at_ = now;
    return is_second;
  }

  void answer(view::Request request) {
    switch (request) {
      case view::Request::kNone:
        return;
      case view::Request::kEarlier:
        return navigator_.show_moment(source_.moment_before(navigator_.place().at_ns));
      case view::Request::kLater: {
        const auto at_ns = navigator_.place().at_ns;
        return navigator_.show_moment(at_ns ? source_.moment_after(*at_ns) : std::nullopt);
      }
      case view::Request::kBookmark:
        if (!options_.bookmark) return navigator_.complain("bookmarks cannot be kept here");
        return tell(options_.bookmark(navigator_.place()));
      case view::Request::kNextBookmark:
        return go_to_bookmark();
      case view::Request::kSave:
        if (!options_.save) return navigator_.complain("nothing can be saved here");
        return tell(options_.save(cadence_.interval()));
      case view::Request::kQuit:
        is_over_ = true;
        return;
    }
  }

  void go_to_bookmark() {
    if (!options_.next_bookmark) return navigator_.complain("bookmarks cannot be kept here");
    const auto place = options_.next_bookmark();
    if (!place) return navigator_.complain(place.error().message());
    navigator_.open(*place);
  }

  void tell(const Result<std::string>& outcome) {
    if (outcome) {
      notice_ = *outcome;
    } else {
      navigator_.complain(outcome.error().message());
    }
  }

  const ScreensOptions& options_;
  PictureSource& source_;
  view::Navigator& navigator_;
  Waiter& waiter_;
  Screen& screen_;
  Cadence cadence_;
  Drawing drawing_;
  std::string notice_;
  std::optional<KeyPress> clicked_;
  Clock::time_point clicked_at_;
  std::uint64_t taken_ = 0;
  bool is_unfinished_ = false;  // the last picture
  bool is_over_ = false;
};

}  // namespace

int run_screens(const ScreensOptions& options, PictureSource& source, view::Navigator& navigator,
                Waiter& waiter, Screen& screen) {
  return ScreensSession(options, source, navigator, waiter, screen).run();
}

}  // namespace meterbank::cli
