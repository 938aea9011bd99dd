// SPDX-License-Identifier: Apache-2.0
//
// Why a process that lives gives no sign of life, and what helps.
#pragma once

#include <cstdint>
#include <string>

namespace meterbank {

struct Silence {
  std::string why;     // "stopped by a signal"; empty: procfs does not say
  std::string remedy;  // "kill -CONT 48213"
};

// `pid` is the number that the process has here; 0: not known. `uid` is the user that it runs as.
[[nodiscard]] Silence why_silent(std::uint32_t pid, std::uint32_t uid);

}  // namespace meterbank
