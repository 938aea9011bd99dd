// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/session/exit_code.hpp"
#include "cli/session/open_files.hpp"
#include "page/run.hpp"

int main(int argc, char** argv) {
  // A closed pipe and a file that may not grow are errors of write(), not signals.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  meterbank::cli::raise_open_files_limit();
  meterbank::cli::Console console{std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1,
                                  ::isatty(STDERR_FILENO) == 1, 0};
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return meterbank::page::run(arguments, console);
  } catch (const std::exception& error) {
    // The libraries do not throw; memory can still run out.
    meterbank::cli::complain(console, error.what());
  }
  return meterbank::cli::kExitEnvironment;
}
