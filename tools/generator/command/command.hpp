// SPDX-License-Identifier: Apache-2.0
//
// The whole program but its process: what main() calls, and tests as well.
#pragma once

#include <ostream>
#include <span>
#include <string>

namespace meterbank::generator {

// `arguments` without the program's name. Returns the exit status, see --help.
int generate(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace meterbank::generator
