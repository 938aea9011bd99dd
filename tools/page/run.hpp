// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/session/console.hpp"

namespace meterbank::page {

// The whole program; returns its exit code.
int run(const std::vector<std::string>& arguments, cli::Console& console);

}  // namespace meterbank::page
