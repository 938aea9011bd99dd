// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "generator/command/command.hpp"
#include "meterbank/shm/utf8.hpp"

int main(int argc, char** argv) {
  // A closed pipe and a file that may not grow are errors of write(), which have words and exit
  // codes, not signals.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return meterbank::generator::generate(arguments, std::cout, std::cerr,
                                          meterbank::charset_of(STDERR_FILENO));
  } catch (const std::exception& error) {
    // Nothing of ours throws; memory can still run out.
    std::cerr << meterbank::escape_composed(std::string("meterbank-gen: ") + error.what(),
                                            meterbank::Composed::kLine)
              << '\n';
    return 3;
  }
}
