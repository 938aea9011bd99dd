// SPDX-License-Identifier: Apache-2.0
#include "cli/session/hung.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/format/time_text.hpp"
#include "meterbank/base/process_facts.hpp"

namespace meterbank::cli {

HungCause cause_of_hang(const ProviderView& provider) {
  const auto age =
      print_duration(std::floor(static_cast<double>(provider.heartbeat_age_ns()) / 1e9));
  const auto stat = read_process_stat(provider.pid);
  const char state = stat && stat->start_time == provider.start_time ? stat->state : '?';
  if (state == 'T') {
    return {fmt::format("stopped by a signal, silent for {}", age),
            fmt::format("kill -CONT {}", provider.pid)};
  }
  if (state == 't') {
    return {fmt::format("stopped by a debugger, silent for {}", age), "let the debugger continue"};
  }
  return {fmt::format("alive, but silent for {}", age),
          fmt::format("look at process {}: a frozen control group, or starved of processor time?",
                      provider.pid)};
}

}  // namespace meterbank::cli
