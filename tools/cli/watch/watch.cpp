// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cli/distribution/percentile_rows.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/pace.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/interval_steps.hpp"
#include "cli/watch/live_table.hpp"
#include "cli/watch/terminal/screen.hpp"
#include "cli/watch/watch_screens.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Where there is no screen.
int print_lines(const Invocation& invocation, Selection& selection, Waiter& waiter,
                Console& console) {
  RowPlan plan;
  plan.samples = invocation.samples.value_or(0);
  plan.stop_is_success = true;
  return print_rows(invocation, plan, selection, waiter, console);
}

class LiveSession {
 public:
  LiveSession(const Invocation& invocation, Selection& selection, Waiter& waiter, Screen& screen)
      : invocation_(invocation),
        waiter_(waiter),
        selection_(selection),
        sampler_(selection),
        charset_(screen.style().charset),
        screen_(screen),
        cadence_(Clock::now(), invocation.interval),
        percentile_rows_(invocation.percentiles),
        table_(charset_) {
    if (selection.log != nullptr) play(selection);
    view_.raw = invocation.raw;
    view_.units = invocation.units;
    view_.ascii = screen.style().is_ascii();
  }

  int run() {
    const auto end =
        invocation_.duration ? Clock::now() + *invocation_.duration : Clock::time_point::max();
    while (!done_) {
      switch (
          waiter_.wait_until(std::min({cadence_.next(), end, rest_of_key()}), screen_.input())) {
        case Wake::kStop:
          return kExitDone;
        case Wake::kTimeout:
          return kExitTimeout;
        case Wake::kInput:
          for (const auto& press : screen_.read_keys()) handle(press);
          break;
        case Wake::kResize:
          screen_.stop_if_asked();
          break;
        case Wake::kRequest:
          break;
        case Wake::kDeadline:
          if (Clock::now() >= end) return kExitDone;
          if (screen_.awaits_rest()) {
            for (const auto& press : screen_.read_keys()) handle(press);
          }
          if (Clock::now() >= cadence_.next()) take_sample();
          break;
      }
      if (!draw()) return kExitDone;
      // A key is shown before the rows are looked for that it asks for.
      if (!done_ && std::exchange(wants_search_, false)) {
        show_sample(Clock::now());
        if (!draw()) return kExitDone;
      }
    }
    return kExitDone;
  }

 private:
  // Until then, the beginning of what a key sends may go on.
  [[nodiscard]] Clock::time_point rest_of_key() const {
    if (!screen_.awaits_rest()) return Clock::time_point::max();
    return Clock::now() + std::chrono::milliseconds(KeyReader::kRestMs);
  }

  // A recording goes on as fast as it was made, from its beginning or --from.
  void play(Selection& selection) {
    LogOptions log = invocation_.selection.log;
    log.every = log.every.value_or(invocation_.interval);
    played_ = make_pace(selection, waiter_,
                        {.interval = invocation_.interval,
                         .duration = std::nullopt,
                         .warm_up = false,
                         .log = std::move(log)});
  }

  void take_sample() {
    if (played_ != nullptr && !has_ended_) {
      has_ended_ = played_->is_over() || played_->next() != Wake::kDeadline;
      played_->done();
    }
    if (has_ended_) return cadence_.advance(Clock::now());
    // A pause holds the picture, not the sampling: rates stay those of one interval.
    sampler_.take();
    const auto now = Clock::now();
    if (!view_.paused) {
      show_sample(now);
      clock_ = print_local(sampler_.newer().time.realtime_ns);
    }
    cadence_.advance(now);
    if (invocation_.samples.value_or(0) != 0 && sampler_.taken() >= *invocation_.samples) {
      done_ = true;
    }
  }

  // A key that is pressed meanwhile comes first.
  void show_sample(Clock::time_point now) {
    const RowWalk all = [this](ValueSink take) { sampler_.each_row(take); };
    // A percentile is stored nowhere.
    const RowWalk with_percentiles = [&](ValueSink take) { percentile_rows_.each(all, take); };
    table_.update(view_.raw ? all : with_percentiles, selection_.query.version(), view_, now,
                  [this] {
                    wants_search_ = screen_.has_input();
                    return wants_search_;
                  });
  }

  bool draw() {
    const auto size = screen_.size();
    const auto lines =
        table_.render(view_, {cadence_.interval(), cadence_.missed(), clock_, trouble()},
                      size.width, size.height);
    return screen_.draw(grid_of(lines, size.width, size.height, charset_));
  }

  // Which provider of the shown rows is not well. Without this, old values look like steady ones.
  [[nodiscard]] std::string trouble() const {
    std::string text = has_ended_ ? "end of the recording" : "";
    for (const auto& provider : selection_.catalog().providers()) {
      const auto selected = selection_.query.selected();
      const bool is_shown = std::any_of(
          selected.begin(), selected.end(),
          [&](const SelectedSet& shown) { return shown.provider().record == provider->record; });
      if (!is_shown) continue;
      const bool is_hung = provider->state == ProviderState::kHung;
      if (!is_hung && provider->state != ProviderState::kDead) continue;
      text += (text.empty() ? "" : ", ") + escape_for_terminal(provider->label(), charset_);
      const auto seconds = std::floor(static_cast<double>(provider->heartbeat_age_ns()) / 1e9);
      text += is_hung ? " silent for " + print_duration(seconds) : " is dead";
    }
    if (const auto left_out = not_in_totals_text(not_in_totals_of(selection_.query.left_out()));
        !left_out.empty()) {
      text += (text.empty() ? "" : ", ") + left_out;
    }
    if (const auto line = left_out_of(selection_.catalog()).line(); !line.empty()) {
      text += (text.empty() ? "" : ", ") + line;
    }
    const auto answers = selection_.query.answers();
    if (answers == nullptr) return text;
    for (const CallbackAnswer& answer : *answers) {
      if (answer.outcome == AnswerOutcome::kAnswered) continue;
      text += (text.empty() ? "" : ", ") +
              escape_for_terminal(
                  answer.provider->label() + " " + answer.set->set->name + ": " + answer.reason(),
                  charset_);
    }
    return text;
  }

  void handle(const KeyPress& press) {
    if (view_.show_help) return close_help(press);
    if (view_.editing_filter) return edit_filter(press);
    constexpr std::size_t kPage = 10;
    switch (press.key) {
      case Key::kUp:
        move_up(1);
        break;
      case Key::kDown:
        view_.selected += 1;
        break;
      case Key::kPageUp:
        move_up(kPage);
        break;
      case Key::kPageDown:
        view_.selected += kPage;
        break;
      case Key::kHome:
        view_.selected = 0;
        break;
      case Key::kEnd:
        view_.selected = table_.size();
        break;
      case Key::kEscape:
        view_.filter.clear();
        break;
      case Key::kCharacter:
        handle_letter(press.text.front());
        break;
      case Key::kWheelUp:
        move_up(3);
        break;
      case Key::kWheelDown:
        view_.selected += 3;
        break;
      case Key::kHelp:
        view_.show_help = true;
        break;
      default:
        break;
    }
  }

  void handle_letter(char letter) {
    switch (letter) {
      case 'q':
        done_ = true;
        break;
      case 'k':
        move_up(1);
        break;
      case 'j':
        view_.selected += 1;
        break;
      case 'g':
        view_.selected = 0;
        break;
      case 'G':
        view_.selected = table_.size();
        break;
      case '/':
        view_.editing_filter = true;
        break;
      case 's':
        view_.sorting = view_.sorting == Sorting::kAsListed ? Sorting::kByName
                        : view_.sorting == Sorting::kByName ? Sorting::kByValue
                                                            : Sorting::kAsListed;
        break;
      case 'd':
        view_.hide_zeros = !view_.hide_zeros;
        break;
      case 'r':
        view_.raw = !view_.raw;
        table_.clear();
        show_sample(Clock::now());
        break;
      case 'e':
        view_.units = view_.units == UnitStyle::kAuto ? UnitStyle::kBase : UnitStyle::kAuto;
        break;
      case 'v':
      case 'V':
        view_.details = !view_.details;
        break;
      case ' ':
        view_.paused = !view_.paused;
        break;
      case '?':
      case 'h':
        view_.show_help = true;
        break;
      case '+':
        change_interval(true);
        break;
      case '-':
        change_interval(false);
        break;
      default:
        break;
    }
  }

  // The rows are out of sight, so no key acts on them.
  void close_help(const KeyPress& press) {
    view_.show_help = false;
    done_ = press.key == Key::kCharacter && press.text == "q";
  }

  void edit_filter(const KeyPress& press) {
    if (press.key == Key::kCharacter) view_.filter += press.text;
    if (press.key == Key::kEnter) view_.editing_filter = false;
    if (press.key == Key::kEscape) {
      view_.editing_filter = false;
      view_.filter.clear();
    }
    if (press.key == Key::kBackspace) drop_last_character();
    // Other rows than those that are known may be meant.
    wants_search_ = table_.is_cut();
  }

  void drop_last_character() {
    // A character may be several bytes; those that continue one begin with the bits 10.
    while (!view_.filter.empty()) {
      const auto byte = static_cast<unsigned char>(view_.filter.back());
      view_.filter.pop_back();
      if ((byte & 0xC0U) != 0x80U) break;
    }
  }

  void move_up(std::size_t rows) { view_.selected -= std::min(view_.selected, rows); }

  void change_interval(bool longer) {
    cadence_.restart(Clock::now(), step_interval(cadence_.interval(), longer));
  }

  const Invocation& invocation_;
  Waiter& waiter_;
  const Selection& selection_;
  Sampler sampler_;
  const Charset charset_;
  Screen& screen_;
  Cadence cadence_;
  PercentileRows percentile_rows_;
  LiveTable table_;
  View view_;
  std::string clock_;
  bool wants_search_ = false;  // other rows of the same sample may have to be shown
  bool done_ = false;
  std::unique_ptr<Pace> played_;  // of a recording
  bool has_ended_ = false;        // the last moment of it is shown
};

// The list of what was named.
int show_list(const Invocation& invocation, Selection& selection, Waiter& waiter,
              Console& console) {
  auto screen = Screen::open(console, {.color = wants_color(invocation.color, console)});
  if (!screen) {
    complain(console, screen.error());
    return print_lines(invocation, selection, waiter, console);
  }
  const int code = LiveSession(invocation, selection, waiter, **screen).run();
  screen->reset();
  if (code == kExitTimeout) complain(console, "timed out; try: a longer --timeout");
  return code;
}

}  // namespace

int watch(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  const bool rows = invocation.format != Format::kAuto || !invocation.output.empty();
  const bool prints = invocation.watch.is_batch;
  const bool screens = prints || (!rows && has_screen(console) &&
                                  invocation.watch.shows_screens(invocation.selection));
  if (!screens) options.log.mean_all_by_default();
  auto selection = Selection::open(options, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  // On a screen, its second line says so as well.
  const int left_out = report_left_out(selection->catalog(), console);
  int missing = report_missing(*selection, console);
  if (invocation.strict) missing = std::max(missing, left_out);
  if (missing != kExitDone && (invocation.strict || selection->has_nothing())) {
    return missing;
  }
  const auto place = first_place(invocation, *selection);
  if (prints) return print_screens(invocation, place, *selection, waiter, console);
  if (screens) return show_screens(invocation, place, *selection, waiter, console);
  if (!rows && has_screen(console)) return show_list(invocation, *selection, waiter, console);
  return print_lines(invocation, *selection, waiter, console);
}

}  // namespace meterbank::cli
