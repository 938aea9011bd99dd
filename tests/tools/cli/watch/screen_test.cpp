// SPDX-License-Identifier: Apache-2.0
//
// A screen on a terminal of its own: what is sent to it, counted in bytes, and what is left on it.
#include "cli/watch/terminal/screen.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include "cli/session/exit_code.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "cli/watch/screens.hpp"
#include "made_pictures.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::cli {
namespace {

class OwnTerminal {
 public:
  OwnTerminal(unsigned short columns, unsigned short lines) {
    winsize size{lines, columns, 0, 0};
    int master = -1;
    int slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) return;
    master_.reset(master);
    slave_.reset(slave);
    ::fcntl(master, F_SETFL, O_NONBLOCK);
  }
  [[nodiscard]] int slave() const { return slave_.get(); }
  [[nodiscard]] int master() const { return master_.get(); }
  void resize(unsigned short columns, unsigned short lines) const {
    winsize size{lines, columns, 0, 0};
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
  }
  // What came since the last call.
  [[nodiscard]] std::string received() const {
    std::string text;
    std::array<char, 65'536> bytes{};
    for (;;) {
      const auto count = ::read(master_.get(), bytes.data(), bytes.size());
      if (count <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  UniqueFd master_, slave_;
};

class ScreenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TERM", "xterm-256color", 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::unsetenv("LINES");
    ::unsetenv("COLUMNS");
  }
  // Null where this program was built without ncurses.
  std::unique_ptr<Screen> open(const OwnTerminal& terminal, bool color = true) {
    auto opened =
        Screen::open(console_, {.color = color, .in = terminal.slave(), .out = terminal.slave()});
    if (!opened) {
      words_ = opened.error().message();
      return nullptr;
    }
    return std::move(*opened);
  }

  std::ostringstream out_, err_;
  Console console_{out_, err_, true, true, 120};
  std::string words_;
};

#define SKIP_WITHOUT_NCURSES(screen)                                              \
  if ((screen) == nullptr && words_.find("without ncurses") != std::string::npos) \
    GTEST_SKIP() << words_;                                                       \
  ASSERT_NE((screen), nullptr) << words_

// Thirty instances with four numbers and a trend each, all of which go on in every moment for the
// first `changing` of them.
view::Picture busy_set(std::size_t changing, std::size_t moment) {
  auto picture = set_of_shop();
  auto& section = picture.sections[0];
  const auto line = section.lines[1];
  section.lines.clear();
  for (std::size_t i = 0; i < 30; ++i) {
    section.lines.push_back(line);
    auto& made = section.lines.back();
    const auto now = i < changing ? moment : 0;
    made.cells[0].text = "aisle " + std::to_string(i);
    for (std::size_t cell = 1; cell < 5; ++cell) {
      made.cells[cell].text =
          std::to_string(10'000 + (now * 7919 * cell + i * 13) % 89'999) + " /s";
    }
    made.trend.clear();
    for (std::size_t k = 0; k < 40; ++k) {
      made.trend.push_back(static_cast<double>((k + now) * (i + 3) % 17));
    }
  }
  section.total = section.all = 30;
  picture.time_ns += moment * 1'000'000'000;
  return picture;
}

TEST_F(ScreenTest, SendsNoMoreThan1500BytesWhenTenRowsChange) {
  const OwnTerminal terminal(120, 40);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  const auto draw = [&](std::size_t moment) {
    const auto drawing = draw_picture(busy_set(10, moment), {}, screen->style(), 120, 40);
    EXPECT_TRUE(screen->draw(drawing.grid));
    return terminal.received().size();
  };

  const auto first = draw(0);
  std::size_t most = 0;
  for (std::size_t moment = 1; moment < 20; ++moment) most = std::max(most, draw(moment));

  EXPECT_GT(first, 4000U);
  EXPECT_LE(most, 1500U);
  EXPECT_GT(most, 200U);
  RecordProperty("bytes_at_most", static_cast<int>(most));
}

// Of this process so far; nothing where the kernel does not count them.
std::optional<std::uint64_t> writes_made() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  while (counts >> name >> count) {
    if (name == "syscw:") return count;
  }
  return std::nullopt;
}

TEST_F(ScreenTest, WritesAPictureWithAFewSystemCalls) {
  const OwnTerminal terminal(120, 40);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  if (!writes_made()) GTEST_SKIP() << "this kernel does not count system calls";
  const auto draw = [&](std::size_t moment) {
    const auto drawing = draw_picture(busy_set(30, moment), {}, screen->style(), 120, 40);
    EXPECT_TRUE(screen->draw(drawing.grid));
    EXPECT_GT(terminal.received().size(), 2000U);
  };
  draw(0);

  const std::uint64_t before = *writes_made();
  draw(1);

  EXPECT_LE(*writes_made() - before, 5U);
}

TEST_F(ScreenTest, SendsNothingWhenNothingChanged) {
  const OwnTerminal terminal(120, 40);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  const auto drawing = draw_picture(instance_of_shop(), {}, screen->style(), 120, 40);

  screen->draw(drawing.grid);
  static_cast<void>(terminal.received());
  screen->draw(drawing.grid);

  EXPECT_EQ(terminal.received(), "");
}

TEST_F(ScreenTest, LeavesTheTerminalAsItWas) {
  const OwnTerminal terminal(80, 24);
  termios before{};
  ::tcgetattr(terminal.slave(), &before);
  auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  screen->draw(draw_picture(set_of_shop(), {}, screen->style(), 80, 24).grid);
  static_cast<void>(terminal.received());

  screen.reset();

  termios after{};
  ::tcgetattr(terminal.slave(), &after);
  EXPECT_EQ(before.c_lflag, after.c_lflag);
  EXPECT_EQ(before.c_iflag, after.c_iflag);
  EXPECT_EQ(before.c_oflag, after.c_oflag);
  EXPECT_EQ(std::memcmp(&before.c_cc, &after.c_cc, sizeof before.c_cc), 0);
  const auto last = terminal.received();
  EXPECT_NE(last.find("\x1b[?1049l"), std::string::npos);
  EXPECT_NE(last.find("\x1b[?25h"), std::string::npos);
  EXPECT_NE(last.find("\x1b[?1000l"), std::string::npos);
  for (const int number : {SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGWINCH}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << number;
  }
}

TEST_F(ScreenTest, ChangesNoLocaleButThatOfCharacters) {
  ::setenv("LC_ALL", "de_DE.UTF-8", 1);
  const OwnTerminal terminal(80, 24);
  {
    const auto screen = open(terminal);
    SKIP_WITHOUT_NCURSES(screen);
    EXPECT_STREQ(std::setlocale(LC_NUMERIC, nullptr), "C");
    EXPECT_STREQ(std::setlocale(LC_TIME, nullptr), "C");
    screen->draw(draw_picture(set_of_shop(), {}, screen->style(), 80, 24).grid);
    EXPECT_NE(terminal.received().find("東京"), std::string::npos);
  }
  EXPECT_STREQ(std::setlocale(LC_CTYPE, nullptr), "C");
}

TEST_F(ScreenTest, SendsNothingButAsciiWithoutUtf8) {
  ::setenv("LC_ALL", "C", 1);
  const OwnTerminal terminal(80, 24);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);

  screen->draw(draw_picture(instance_of_shop(), {}, screen->style(), 80, 24).grid);

  for (const char byte : terminal.received()) ASSERT_LT(static_cast<unsigned char>(byte), 0x7F);
}

TEST_F(ScreenTest, SendsNoColoursWhenNoneAreWanted) {
  const OwnTerminal terminal(80, 24);
  const auto screen = open(terminal, false);
  SKIP_WITHOUT_NCURSES(screen);

  screen->draw(draw_picture(overview_of_shop(), {}, screen->style(), 80, 24).grid);

  const auto sent = terminal.received();
  const std::regex color("\x1b\\[([0-9]+;)*(3[0-8]|4[0-8]|9[0-7])[;m]");
  EXPECT_FALSE(std::regex_search(sent, color));
}

TEST_F(ScreenTest, DrawsOddNamesWithoutASequenceOfTheirs) {
  const OwnTerminal terminal(300, 80);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  for (const auto& [what, name] : odd_names()) {
    auto picture = set_of_shop();
    for (auto& line : picture.sections[0].lines) line.cells[0].text = name;
    picture.problems = {name};

    screen->draw(draw_picture(picture, {}, screen->style(), 300, 80).grid);

    const auto sent = terminal.received();
    EXPECT_EQ(sent.find("\x1b]0;"), std::string::npos) << what;
    EXPECT_EQ(sent.find('\x07'), std::string::npos) << what;
    EXPECT_EQ(sent.find("\u202e"), std::string::npos) << what;
  }
}

TEST_F(ScreenTest, SaysWhichTerminalItDoesNotKnow) {
  const OwnTerminal terminal(80, 24);
  ::setenv("TERM", "no\x1bsuch", 1);

  EXPECT_EQ(open(terminal), nullptr);

  if (words_.find("without ncurses") != std::string::npos) GTEST_SKIP();
  EXPECT_NE(words_.find("terminal 'no\\u{1b}such' is not known here"), std::string::npos) << words_;
  EXPECT_NE(words_.find("TERM=xterm-256color"), std::string::npos);
  EXPECT_EQ(terminal.received(), "");
}

TEST_F(ScreenTest, TakesATerminalWithoutASizeForAnOrdinaryOne) {
  const OwnTerminal terminal(0, 0);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);

  EXPECT_EQ(screen->size().width, 80U);
  EXPECT_EQ(screen->size().height, 24U);
  EXPECT_TRUE(screen->draw(draw_picture(set_of_shop(), {}, screen->style(), 80, 24).grid));
}

TEST_F(ScreenTest, DrawsAGridOfAnySizeInAnyWindow) {
  const OwnTerminal terminal(80, 24);
  const auto screen = open(terminal);
  SKIP_WITHOUT_NCURSES(screen);
  for (const auto& [columns, lines] :
       {std::pair{1, 1}, {300, 80}, {2, 50}, {500, 2}, {40, 10}, {80, 24}}) {
    terminal.resize(static_cast<unsigned short>(columns), static_cast<unsigned short>(lines));
    for (const auto& [width, height] : {std::pair{1U, 1U}, {300U, 80U}, {40U, 10U}}) {
      const auto drawing = draw_picture(set_of_shop(), {}, screen->style(), width, height);
      EXPECT_TRUE(screen->draw(drawing.grid));
      static_cast<void>(terminal.received());
    }
  }
}

// ---- The session ----

class MadeSource : public PictureSource {
 public:
  void take() override { ++taken_; }
  [[nodiscard]] view::Picture picture(const view::Place& place, const view::Window&) override {
    auto picture = busy_set(10, taken_);
    picture.place = place;
    // No letter stays where it was, so that each is sent whole.
    static constexpr std::array kWords{"", "abcde", "fghij", "klmno", "pqrst", "uvwxy"};
    picture.problems = {kWords[std::min(taken_, kWords.size() - 1)]};
    return picture;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t>) const override {
    return kMadeTimeNs - 1'000'000'000;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t) const override {
    return std::nullopt;
  }

 private:
  std::size_t taken_ = 0;
};

// A session in a process and on a terminal of its own.
class RunningSession {
 public:
  explicit RunningSession(ScreensOptions options) {
    winsize size{24, 80, 0, 0};
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, &size);
    if (pid_ == 0) {
      std::ostringstream out, err;
      Console console{out, err, true, true, 80};
      Waiter waiter({});
      auto screen = Screen::open(console, {});
      if (!screen) ::_exit(99);
      MadeSource source;
      view::Navigator navigator{view::Place{}};
      const int code = run_screens(options, source, navigator, waiter, **screen);
      screen->reset();
      ::_exit(code);
    }
    terminal_.reset(master);
  }
  RunningSession(const RunningSession&) = delete;
  RunningSession& operator=(const RunningSession&) = delete;
  ~RunningSession() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] int terminal() const { return terminal_.get(); }
  void hang_up() { terminal_.reset(); }
  void press(std::string_view keys) const {
    static_cast<void>(!::write(terminal_.get(), keys.data(), keys.size()));
  }
  // Reads until `text` came; false after a minute, or at the end.
  bool await(std::string_view text) {
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (seen_.find(text) == std::string::npos) {
      if (Clock::now() > end || !read_some()) return false;
    }
    return true;
  }
  void forget() { seen_.clear(); }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  // The exit code, and all that is still sent.
  int end() {
    while (terminal_ && read_some()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  bool read_some() {
    pollfd readable{terminal_.get(), POLLIN, 0};
    constexpr int kHangMs = 60'000;
    if (::poll(&readable, 1, kHangMs) <= 0) return false;
    std::array<char, 65'536> bytes{};
    const auto count = ::read(terminal_.get(), bytes.data(), bytes.size());
    if (count <= 0) return false;
    seen_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  pid_t pid_ = -1;
  UniqueFd terminal_;
  std::string seen_;
};

class SessionTest : public ScreenTest {
 protected:
  // No moment comes by itself: what is painted, a key or a signal caused.
  ScreensOptions still_ = [] {
    ScreensOptions options;
    options.interval = std::chrono::hours(10);
    return options;
  }();
};

#define SKIP_IF_NOT_STARTED(session)                                                     \
  if (!(session).await("abcde")) {                                                       \
    if ((session).end() == 99) GTEST_SKIP() << "this program was built without ncurses"; \
    FAIL() << (session).seen();                                                          \
  }

TEST_F(SessionTest, PaintsAKeyAtOnce) {
  RunningSession session(still_);
  SKIP_IF_NOT_STARTED(session);

  session.forget();
  session.press("/");
  EXPECT_TRUE(session.await("filter:")) << session.seen();
  session.press("\x1b");
  session.forget();
  session.press("?");
  EXPECT_TRUE(session.await("any key"));
  session.press("x");
  session.press("q");

  EXPECT_EQ(session.end(), kExitDone);
}

TEST_F(SessionTest, ChoosesTheLineThatIsClicked) {
  RunningSession session(still_);
  SKIP_IF_NOT_STARTED(session);
  // The header, a problem, the title, the headings, and four lines.
  session.forget();
  session.press("\x1b[<0;5;9M\x1b[<0;5;9m");

  // The line is drawn reversed, with its mark.
  EXPECT_TRUE(session.await("> aisle 4")) << session.seen();

  session.press("q");
  EXPECT_EQ(session.end(), kExitDone);
}

TEST_F(SessionTest, LeavesNothingBehindWhenItIsTerminated) {
  for (const int number : {SIGTERM, SIGINT}) {
    RunningSession session(still_);
    SKIP_IF_NOT_STARTED(session);

    ::kill(session.pid(), number);

    EXPECT_EQ(session.end(), kExitDone);
    const auto last = session.seen().rfind("\x1b[?1049l");
    ASSERT_NE(last, std::string::npos);
    EXPECT_EQ(session.seen().find("\x1b[?1049h", last), std::string::npos);
    EXPECT_LE(session.seen().size() - last, 40U) << session.seen().substr(last);
  }
}

TEST_F(SessionTest, GoesOnSamplingWhileThePictureIsFrozen) {
  auto options = still_;
  options.interval = std::chrono::milliseconds(20);
  RunningSession session(options);
  SKIP_IF_NOT_STARTED(session);
  session.press(" ");

  EXPECT_TRUE(session.await("uvwxy"));

  session.press("q");
  EXPECT_EQ(session.end(), kExitDone);
}

TEST_F(SessionTest, TakesAStormOfSizes) {
  RunningSession session(still_);
  SKIP_IF_NOT_STARTED(session);

  for (unsigned i = 0; i < 300; ++i) {
    winsize size{static_cast<unsigned short>(i % 60), static_cast<unsigned short>(i * 7 % 301), 0,
                 0};
    ::ioctl(session.terminal(), TIOCSWINSZ, &size);
  }
  winsize size{12, 60, 0, 0};
  ::ioctl(session.terminal(), TIOCSWINSZ, &size);
  session.press("q");

  EXPECT_EQ(session.end(), kExitDone);
}

TEST_F(SessionTest, EndsWithItsTerminal) {
  auto options = still_;
  options.interval = std::chrono::milliseconds(20);
  RunningSession session(options);
  SKIP_IF_NOT_STARTED(session);

  session.hang_up();

  EXPECT_EQ(session.end(), kExitDone);
}

TEST_F(SessionTest, EndsAfterItsTimeOrItsSamples) {
  auto options = still_;
  options.interval = std::chrono::milliseconds(10);
  options.samples = 3;
  RunningSession by_samples(options);
  SKIP_IF_NOT_STARTED(by_samples);
  options.samples = 0;
  options.duration = std::chrono::milliseconds(50);
  RunningSession by_time(options);

  EXPECT_EQ(by_samples.end(), kExitDone);
  EXPECT_EQ(by_time.end(), kExitDone);
}

}  // namespace
}  // namespace meterbank::cli
