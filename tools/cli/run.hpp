// SPDX-License-Identifier: Apache-2.0
//
// The whole program but its process: what main() calls, and tests as well.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "cli/session/console.hpp"

namespace meterbank::cli {

// `arguments` without the program's name. Returns the exit status; `meterbank help exit-codes`.
[[nodiscard]] int run(std::span<const std::string> arguments, Console& console);
// Nothing is a terminal.
[[nodiscard]] int run(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace meterbank::cli
