// SPDX-License-Identifier: Apache-2.0
//
// What a recording is made of, and whether it is whole.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

int log_info(const Invocation& invocation, Console& console);
int log_check(const Invocation& invocation, Console& console);

}  // namespace meterbank::cli
