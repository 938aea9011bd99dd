// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/open_files.hpp"

namespace {

std::size_t columns_of(int descriptor) {
  winsize window{};
  return ::ioctl(descriptor, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a file that may not grow are errors of write(), which have words and exit
  // codes, not signals.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  meterbank::cli::raise_open_files_limit();
  meterbank::cli::Console console{std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1,
                                  ::isatty(STDERR_FILENO) == 1, columns_of(STDOUT_FILENO)};
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return meterbank::cli::run(arguments, console);
  } catch (const std::bad_alloc&) {
    // What was reached is freed by now, but there may still be no memory for more than this.
    constexpr std::string_view kWords = "meterbank: out of memory; try: raise ulimit -v\n";
    static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()) == 0);
  } catch (const std::exception& error) {
    meterbank::cli::complain(console, error.what());
  }
  return meterbank::cli::kExitEnvironment;
}
