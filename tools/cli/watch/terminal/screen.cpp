// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/terminal/screen.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>

// Its macros take the names of many functions.
// NOLINTNEXTLINE(readability-identifier-naming): a name of the header
#define NCURSES_NOMACROS 1
#include <ncursesw/curses.h>
#include <ncursesw/term.h>

namespace meterbank::cli {
namespace {

// What handlers have noticed. Lock-free, so that a handler may write it.
std::atomic<bool> is_stop_wanted{false};
std::atomic<bool> has_continued{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// SIGWINCH is blocked in every thread and read by the Waiter, so that its wait ends.
void remember_signal(int signal) {
  // Order: none is needed. The signal that follows makes the reader look, and only the flag itself
  // is told.
  if (signal == SIGTSTP) is_stop_wanted.store(true, std::memory_order_relaxed);
  if (signal == SIGCONT) has_continued.store(true, std::memory_order_relaxed);
  ::kill(::getpid(), SIGWINCH);
}

// ncurses takes these for itself if they are at their defaults; this program has its own ways.
constexpr std::array kCursesSignals{SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

class Handlers {
 public:
  Handlers() {
    for (std::size_t i = 0; i < kCursesSignals.size(); ++i) {
      ::sigaction(kCursesSignals[i], nullptr, &before_[i]);
    }
    ::sigaction(SIGCONT, nullptr, &continued_);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers() {
    put_back();
    ::sigaction(SIGCONT, &continued_, nullptr);
  }
  void put_back() {
    for (std::size_t i = 0; i < kCursesSignals.size(); ++i) {
      ::sigaction(kCursesSignals[i], &before_[i], nullptr);
    }
  }
  void catch_stops() {
    struct sigaction action {};
    action.sa_handler = remember_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGTSTP, &action, nullptr);
    ::sigaction(SIGCONT, &action, nullptr);
  }

 private:
  std::array<struct sigaction, kCursesSignals.size()> before_{};
  struct sigaction continued_ {};
};

// Names of capabilities that hold what a key sends.
std::vector<KeySequence> sequences_of_terminal() {
  struct Capability {
    const char* name;
    Key key;
  };
  static constexpr std::array kCapabilities{
      Capability{"kcuu1", Key::kUp},      Capability{"kcud1", Key::kDown},
      Capability{"kcub1", Key::kLeft},    Capability{"kcuf1", Key::kRight},
      Capability{"kpp", Key::kPageUp},    Capability{"knp", Key::kPageDown},
      Capability{"khome", Key::kHome},    Capability{"kend", Key::kEnd},
      Capability{"kbs", Key::kBackspace}, Capability{"kf1", Key::kHelp}};
  std::vector<KeySequence> sequences;
  for (const auto& capability : kCapabilities) {
    const char* const bytes = ::tigetstr(capability.name);
    // -1: not a name of a string.
    const bool is_there = bytes != nullptr && reinterpret_cast<std::intptr_t>(bytes) != -1;
    if (is_there && *bytes != '\0') sequences.push_back({bytes, capability.key});
  }
  return sequences;
}

bool has_string(const char* capability) {
  const char* const bytes = ::tigetstr(capability);
  return bytes != nullptr && reinterpret_cast<std::intptr_t>(bytes) != -1 && *bytes != '\0';
}

// ncurses measures characters by the locale, and a grid by its own table. Where they differ, what
// follows on the line would stand elsewhere than the grid says.
bool is_as_wide(const std::wstring& text, bool is_wide) {
  if (text.empty() || ::wcwidth(text.front()) != (is_wide ? 2 : 1)) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (::wcwidth(text[i]) != 0) return false;
  }
  return true;
}

// A character with the marks that ncurses has room for.
std::wstring wide_text(std::string_view text) {
  std::wstring wide;
  while (!text.empty() && wide.size() + 1 < CCHARW_MAX) {
    const auto decoded = decode_utf8(text);
    wide += static_cast<wchar_t>(decoded.code_point);
    text.remove_prefix(decoded.length);
  }
  return wide;
}

// The terminal reports buttons (1000) as numbers (1006), so that no column is too far to the right.
constexpr std::string_view kMouseOn = "\x1b[?1000h\x1b[?1006h";
constexpr std::string_view kMouseOff = "\x1b[?1006l\x1b[?1000l";

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

struct Screen::State {
  State(const Screen::Options& wanted, Charset shown) : options(wanted), charset(shown) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  void take();
  void give_back();
  void fit_to_window();
  void put(std::size_t x, std::size_t y, const GridCell& cell, bool is_wide);
  [[nodiscard]] attr_t attributes_of(const Look& look) const;
  [[nodiscard]] int pair_of(const Look& look) const;

  Screen::Options options;
  Charset charset;
  Handlers handlers;
  FILE* file = nullptr;
  SCREEN* curses = nullptr;
  int input = -1;
  bool has_mouse = false;
  unsigned colors = 0;
  bool has_braille = true;
  KeyReader keys;
  std::optional<Grid> drawn;
  std::string locale_before;
};

Screen::State::~State() {
  if (curses != nullptr) {
    give_back();
    ::delscreen(curses);
  }
  if (file != nullptr) std::fclose(file);
  if (!locale_before.empty()) std::setlocale(LC_CTYPE, locale_before.c_str());
}

// Modes that have no name in terminfo.
void Screen::State::take() {
  ::cbreak();
  // Aborting would leave the shell with a screen that is ours.
  termios modes{};
  if (::tcgetattr(options.in, &modes) == 0) {
    modes.c_cc[VQUIT] = _POSIX_VDISABLE;
    ::tcsetattr(options.in, TCSANOW, &modes);
    ::def_prog_mode();
  }
  ::noecho();
  ::nonl();
  ::curs_set(0);
  if (has_mouse) write_all(options.out, kMouseOn);
}

void Screen::State::give_back() {
  if (has_mouse) write_all(options.out, kMouseOff);
  // A terminal without a second screen would keep what is on it below the prompt of the shell.
  if (!has_string("rmcup")) {
    ::erase();
    ::refresh();
  }
  ::endwin();
  std::fflush(file);
}

Result<std::unique_ptr<Screen>> Screen::open(Console& console, const Options& options) {
  const char* const name = std::getenv("TERM");
  const std::string term = name == nullptr ? "" : name;
  const auto unusable = [&](std::string_view why) {
    return fail(ErrorCode::kNotFound,
                fmt::format("terminal '{}' {}", escape_for_terminal(term), why),
                "TERM=xterm-256color");
  };
  // newterm() and setupterm() end the process, or return null, where an entry is missing; this says
  // which it is.
  int found = 0;
  if (term.empty() || ::setupterm(name, options.out, &found) != OK || found != 1) {
    return unusable("is not known here");
  }
  const bool places_text = has_string("cup") && has_string("clear");
  // newterm() has one of its own.
  ::del_curterm(cur_term);
  if (!places_text) return unusable("cannot place text");

  auto state =
      std::make_unique<State>(options, locale_is_utf8() ? Charset::kUtf8 : Charset::kAscii);
  if (state->charset == Charset::kUtf8) {
    const char* const before = std::setlocale(LC_CTYPE, nullptr);
    state->locale_before = before == nullptr ? "C" : before;
    // Not every locale that is named is installed.
    if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX < 4) {
      if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) state->charset = Charset::kAscii;
    }
  }
  console.out.flush();
  const int copy = ::dup(options.out);
  state->file = copy < 0 ? nullptr : ::fdopen(copy, "w");
  if (state->file == nullptr) {
    return fail(ErrorCode::kSystem, "cannot write to the terminal", {}, errno);
  }
  // LINES and COLUMNS may be those of another window.
  ::use_env(FALSE);
  ::use_tioctl(TRUE);
  const bool has_keys = ::isatty(options.in) == 1;
  state->curses = ::newterm(name, state->file, has_keys ? stdin : state->file);
  state->handlers.put_back();
  if (state->curses == nullptr) return unusable("cannot be used");
  // Until its terminal was given back once, ncurses makes a system call for each move of the
  // cursor, hundreds for a picture.
  ::endwin();
  ::doupdate();
  state->handlers.catch_stops();
  if (has_keys) state->input = options.in;
  if (options.color && ::has_colors()) {
    ::start_color();
    ::use_default_colors();
    state->colors = COLORS >= 256 ? 256 : COLORS >= 8 ? 8 : 0;
  }
  // The console of Linux has 512 characters, and none of braille.
  state->has_braille = term != "linux" && !term.starts_with("linux-");
  state->has_mouse = options.mouse && has_keys && has_string("kmous");
  state->keys = KeyReader(sequences_of_terminal());
  state->take();
  ::erase();
  return std::unique_ptr<Screen>(new Screen(std::move(state)));
}

Screen::Screen(std::unique_ptr<State> state) : state_(std::move(state)) {}
Screen::~Screen() = default;

Screen::Size Screen::size() const {
  winsize window{};
  const bool is_known = ::ioctl(state_->options.out, TIOCGWINSZ, &window) == 0;
  if (!is_known || window.ws_col == 0 || window.ws_row == 0) return {80, 24};
  return {window.ws_col, window.ws_row};
}

DrawingStyle Screen::style() const {
  return {state_->charset, state_->colors, state_->has_braille};
}

attr_t Screen::State::attributes_of(const Look& look) const {
  attr_t attributes = A_NORMAL;
  if (look.bold) attributes |= A_BOLD;
  if (look.faint) attributes |= A_DIM;
  if (look.reverse) attributes |= A_REVERSE;
  return attributes;
}

int Screen::State::pair_of(const Look& look) const {
  if (colors == 0 || (look.color == kNoColor && look.behind == kNoColor)) return 0;
  const auto known = [this](std::int16_t color) {
    return color >= static_cast<int>(colors) ? kNoColor : color;
  };
  return std::max(::alloc_pair(known(look.color), known(look.behind)), 0);
}

void Screen::State::put(std::size_t x, std::size_t y, const GridCell& cell, bool is_wide) {
  auto text = wide_text(cell.text);
  if (!is_as_wide(text, is_wide)) text = is_wide ? L"??" : L"?";
  int pair = pair_of(cell.look);
  const auto attributes = attributes_of(cell.look);
  if (is_wide && text == L"??") {
    cchar_t half{};
    ::setcchar(&half, L"?", attributes, static_cast<short>(pair), &pair);
    ::mvadd_wch(static_cast<int>(y), static_cast<int>(x), &half);
    ::add_wch(&half);
    return;
  }
  cchar_t shown{};
  ::setcchar(&shown, text.c_str(), attributes, static_cast<short>(pair), &pair);
  ::mvadd_wch(static_cast<int>(y), static_cast<int>(x), &shown);
}

void Screen::State::fit_to_window() {
  winsize window{};
  if (::ioctl(options.out, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
    window.ws_col = 80;
    window.ws_row = 24;
  }
  if (::is_term_resized(window.ws_row, window.ws_col)) {
    ::resizeterm(window.ws_row, window.ws_col);
    ::erase();
    drawn.reset();
  }
}

bool Screen::draw(const Grid& grid) {
  auto& state = *state_;
  state.fit_to_window();
  const auto rows_there = static_cast<std::size_t>(std::max(LINES, 0));
  const auto columns_there = static_cast<std::size_t>(std::max(COLS, 0));
  const auto& before = state.drawn;
  const bool is_same_size =
      before && before->width() == grid.width() && before->height() == grid.height();
  if (!is_same_size) ::erase();
  for (std::size_t y = 0; y < std::min(rows_there, grid.height()); ++y) {
    for (std::size_t x = 0; x < std::min(columns_there, grid.width()); ++x) {
      const auto& cell = grid.at(x, y);
      if (cell.text.empty()) continue;  // drawn with its left half
      const bool is_wide = x + 1 < grid.width() && grid.at(x + 1, y).text.empty();
      if (is_wide && x + 2 > columns_there) continue;
      // The right half may have been something else before.
      const bool is_drawn = is_same_size && before->at(x, y) == cell &&
                            (!is_wide || before->at(x + 1, y).text.empty());
      if (!is_drawn) state.put(x, y, cell, is_wide);
    }
  }
  ::refresh();
  std::fflush(state.file);
  state.drawn = grid;
  // A terminal that hung up refuses even this; ncurses does not tell.
  return ::write(state.options.out, "", 0) == 0;
}

bool Screen::stop_if_asked() {
  auto& state = *state_;
  // Order: as where they are written.
  const bool stop = is_stop_wanted.exchange(false, std::memory_order_relaxed);
  if (stop) {
    state.give_back();
    struct sigaction ours {};
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &usual, &ours);
    ::raise(SIGTSTP);  // returns when a SIGCONT came
    ::sigaction(SIGTSTP, &ours, nullptr);
  }
  const bool continued = has_continued.exchange(false, std::memory_order_relaxed);
  if (!stop && !continued) return false;
  // Whatever is on the terminal now, another program left it there, and its modes too.
  ::reset_prog_mode();
  state.take();
  state.drawn.reset();
  ::clear();
  return true;
}

int Screen::input() const noexcept { return state_->input; }

bool Screen::has_input() const noexcept {
  pollfd watched{state_->input, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

bool Screen::awaits_rest() const noexcept { return state_->keys.is_waiting(); }

std::vector<KeyPress> Screen::read_keys() {
  if (!has_input()) return state_->keys.give_up_waiting();
  std::array<char, 256> bytes{};
  const auto count = ::read(state_->input, bytes.data(), bytes.size());
  if (count <= 0) {
    state_->input = -1;
    return {};
  }
  return state_->keys.feed({bytes.data(), static_cast<std::size_t>(count)});
}

}  // namespace meterbank::cli
