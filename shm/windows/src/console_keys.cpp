// SPDX-License-Identifier: Apache-2.0
//
// Single keys from standard input. A terminal hands out lines and echoes them, so while a key is
// looked for it is asked not to.
#include <conio.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace {

constexpr int kNoKey = -1;

// The kernel stops a program that runs in the background if it changes its terminal.
bool is_in_background() noexcept {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground > 0 && foreground != ::getpgrp();
}

// A terminal without lines and echo, as long as this lives. Signals of keys stay, so that Ctrl-C
// ends a program that waits for a key.
class KeyByKey {
 public:
  KeyByKey() noexcept
      : is_terminal_(!is_in_background() && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!is_terminal_) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_iflag &= ~static_cast<tcflag_t>(ICRNL);  // Enter is 13
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  ~KeyByKey() {
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

 private:
  termios before_{};
  const bool is_terminal_;
};

int next_byte() noexcept {
  unsigned char byte = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got == 1) return byte;
    if (got == 0 || errno != EINTR) return kNoKey;
  }
}

// The bytes of a character whose first one is this; 0: none begins so.
std::size_t bytes_of_character(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

}  // namespace

extern "C" {

// Asks for bytes, not for readiness: a pipe that has ended is ready for ever.
int _kbhit(void) {
  if (is_in_background()) return 0;  // its keys go to another program
  const KeyByKey keys;
  int waiting = 0;
  return ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0 ? 1 : 0;
}

int _getch(void) {
  const KeyByKey keys;
  return next_byte();
}

wint_t _getwch(void) {
  const KeyByKey keys;
  char bytes[4] = {};
  const int first = next_byte();
  if (first == kNoKey) return WEOF;
  bytes[0] = static_cast<char>(first);
  const std::size_t count = bytes_of_character(static_cast<unsigned char>(first));
  for (std::size_t index = 1; index < count; ++index) {
    const int byte = next_byte();
    if (byte == kNoKey) return WEOF;
    bytes[index] = static_cast<char>(byte);
  }
  const auto decoded = meterbank::decode_utf8(std::string_view(bytes, count));
  return decoded.valid ? static_cast<wint_t>(decoded.code_point) : WEOF;
}

}  // extern "C"
