// SPDX-License-Identifier: Apache-2.0
//
// What both Windows tools ask before they replace a file.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

// kExitDone if the output of `invocation` may be written: it does not exist, is no plain file, -y
// was given, or the person at the terminal says yes. Otherwise an exit code, and why is said.
[[nodiscard]] int ask_to_replace(const Invocation& invocation, const Console& console);

}  // namespace meterbank::cli
