// SPDX-License-Identifier: Apache-2.0
//
// `meterbank log merge`.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

int log_merge(const Invocation& invocation, Console& console);

}  // namespace meterbank::cli
