// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/output_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

int ask_to_replace(const Invocation& invocation, const Console& console) {
  const auto& file = invocation.output;
  if (const auto allowed = may_replace(file); !allowed) {
    complain(console, allowed.error());
    return exit_code_of(allowed.error().code);
  }
  struct stat facts {};
  const bool exists = !file.empty() && ::stat(file.c_str(), &facts) == 0;
  if (!exists || !S_ISREG(facts.st_mode) || invocation.overwrite) return kExitDone;
  if (!console.err_is_terminal || ::isatty(STDIN_FILENO) != 1) {
    complain(console, fmt::format("{} exists; try: -y, to replace it", file));
    return kExitUsage;
  }
  say(console, fmt::format("{} exists. Replace it? [y/N] ", escape_for_terminal(file)), "");
  std::string answer;
  std::getline(std::cin, answer);
  if (answer.starts_with('y') || answer.starts_with('Y')) return kExitDone;
  complain(console, fmt::format("{} is left as it is", file));
  return kExitNo;
}

}  // namespace meterbank::cli
