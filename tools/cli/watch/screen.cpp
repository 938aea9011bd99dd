// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>

#include "cli/format/table.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

struct Sequence {
  std::string_view bytes;
  Key key;
};
constexpr std::array kSequences{
    Sequence{"\x1b[A", Key::kUp},      Sequence{"\x1b[B", Key::kDown},
    Sequence{"\x1bOA", Key::kUp},      Sequence{"\x1bOB", Key::kDown},
    Sequence{"\x1b[5~", Key::kPageUp}, Sequence{"\x1b[6~", Key::kPageDown},
    Sequence{"\x1b[H", Key::kHome},    Sequence{"\x1b[F", Key::kEnd},
    Sequence{"\x1b[1~", Key::kHome},   Sequence{"\x1b[4~", Key::kEnd},
    Sequence{"\r", Key::kEnter},       Sequence{"\n", Key::kEnter},
    Sequence{"\x7f", Key::kBackspace}, Sequence{"\b", Key::kBackspace}};

// Bytes of an escape sequence that means nothing here: up to its final letter or tilde.
std::size_t unknown_sequence(std::string_view bytes) {
  if (bytes.size() < 2 || (bytes[1] != '[' && bytes[1] != 'O')) return 1;
  std::size_t end = 2;
  while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
  return std::min(end + 1, bytes.size());
}

KeyPress parse_key(std::string_view bytes, std::size_t& length) {
  for (const auto& sequence : kSequences) {
    if (bytes.substr(0, sequence.bytes.size()) != sequence.bytes) continue;
    length = sequence.bytes.size();
    return {sequence.key, {}};
  }
  if (bytes.front() == '\x1b') {
    length = unknown_sequence(bytes);
    return {length == 1 ? Key::kEscape : Key::kUnknown, {}};
  }
  const auto decoded = decode_utf8(bytes);
  length = decoded.length;
  if (!decoded.valid || is_control(decoded.code_point)) return {};
  return {Key::kCharacter, std::string(bytes.substr(0, length))};
}

}  // namespace

std::vector<KeyPress> parse_keys(std::string_view bytes) {
  std::vector<KeyPress> keys;
  while (!bytes.empty()) {
    std::size_t length = 1;
    keys.push_back(parse_key(bytes, length));
    bytes.remove_prefix(length);
  }
  return keys;
}

Screen::Screen(Console& console, bool color) : console_(&console), paint_(color) {
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    input_ = STDIN_FILENO;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    // Stopping or aborting would leave the shell with a screen that is ours.
    keys.c_cc[VSUSP] = _POSIX_VDISABLE;
    keys.c_cc[VQUIT] = _POSIX_VDISABLE;
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  console_->out << "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" << std::flush;
}

Screen::~Screen() {
  console_->out << "\x1b[?7h\x1b[?25h\x1b[?1049l" << std::flush;
  if (before_.c_cflag != 0) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen::Size Screen::size() const {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return {80, 24};
  return {window.ws_col, window.ws_row};
}

bool Screen::draw(const std::vector<ScreenLine>& lines) {
  const auto [width, height] = size();
  const auto charset = out_charset(*console_);
  std::string frame = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) frame += "\r\n";
    const auto text = escape_composed(lines[i].text, Composed::kLine, charset);
    switch (lines[i].look) {
      case LineLook::kPlain:
        frame += text;
        break;
      case LineLook::kHeading:
        frame += paint_.heading(text);
        break;
      case LineLook::kFaint:
        frame += paint_.faint(text);
        break;
      case LineLook::kSelected:
        frame += paint_.selected(text);
        break;
    }
    // In the last column the cursor stays on the character that was drawn, and clearing to the end
    // would take it away.
    if (display_width(lines[i].text) < width) frame += "\x1b[K";
  }
  if (lines.size() < height) frame += "\r\n\x1b[J";
  console_->out << frame << std::flush;
  return console_->out.good();
}

bool Screen::has_input() const noexcept {
  pollfd watched{input_, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

std::vector<KeyPress> Screen::read_keys() {
  std::array<char, 256> bytes{};
  const auto count = ::read(input_, bytes.data(), bytes.size());
  if (count <= 0) {
    input_ = -1;
    return {};
  }
  return parse_keys({bytes.data(), static_cast<std::size_t>(count)});
}

}  // namespace meterbank::cli
