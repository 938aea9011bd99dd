// SPDX-License-Identifier: Apache-2.0
#include "cli/session/hung.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/format/time_text.hpp"
#include "meterbank/base/why_silent.hpp"

namespace meterbank::cli {

HungCause cause_of_hang(const ProviderView& provider) {
  const auto age =
      print_duration(std::floor(static_cast<double>(provider.heartbeat_age_ns()) / 1e9));
  Silence silence = why_silent(provider.pid_here, provider.uid);
  const auto why = silence.why.empty() ? "alive, but silent" : silence.why + ", silent";
  return {fmt::format("{} for {}", why, age), std::move(silence.remedy)};
}

}  // namespace meterbank::cli
