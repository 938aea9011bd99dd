// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/why_silent.hpp"

#include <unistd.h>

#include "meterbank/base/process_facts.hpp"

namespace meterbank {

Silence why_silent(std::uint32_t pid, std::uint32_t uid) {
  if (pid == 0) return {{}, "look at its process where it runs: is it stopped?"};
  const std::string number = std::to_string(pid);
  const std::uint32_t own = ::geteuid();
  const std::string by_whom =
      own == 0 || own == uid ? "" : ", as uid " + std::to_string(uid) + " or as root";
  const auto stat = read_process_stat(pid);
  switch (stat ? stat->state : '?') {
    case 'T':
      return {"stopped by a signal", "kill -CONT " + number + by_whom};
    case 't':
      return {"stopped by a debugger", "let the debugger continue"};
    default:
      return {{},
              "look at process " + number + (stat ? "" : by_whom) +
                  ": stopped, in a frozen control group, or starved of processor time?"};
  }
}

}  // namespace meterbank
