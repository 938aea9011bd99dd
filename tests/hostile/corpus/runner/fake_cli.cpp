// SPDX-License-Identifier: Apache-2.0
//
// The CLI with one fault in one place, METERBANK_FAKE_FAULT: what the runner must find.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

void take_memory() {
  static std::vector<char> taken(std::size_t{200} << 20, 'x');
  std::printf("%d\n", taken[taken.size() / 2]);
}

}  // namespace

int main(int argc, char* argv[]) {
  const std::string fault = variable("METERBANK_FAKE_FAULT"), real = variable("METERBANK_REAL_CLI");
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "doctor" && argc == 2) {
    if (fault == "crash") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit code of it
      std::raise(SIGSEGV);
    }
    if (fault == "hang") ::pause();
    if (fault == "code") return 42;
    if (fault == "control") std::puts("\x1b]0;owned\x07");
    if (fault == "memory") {
      take_memory();
      std::fflush(stdout);
      return 0;
    }
  }
  if (verb == "watch" && fault == "watch") std::fputs("\x1b]52;c;b3duZWQ=\x07", stdout);
  std::fflush(stdout);
  if (verb == "get" && fault == "row") {
    return std::system((real + " " + verb + " '*' | grep -v /eu/").c_str()) == 0 ? 0 : 1;
  }
  ::execv(real.c_str(), argv);
  return 127;
}
