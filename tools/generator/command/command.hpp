// SPDX-License-Identifier: Apache-2.0
//
// The whole program but its process: what main() calls, and tests as well.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::generator {

// `arguments` without the program's name; `err_charset` is what the place of `err` can show.
// Returns the exit status, see --help.
int generate(std::span<const std::string> arguments, std::ostream& out, std::ostream& err,
             Charset err_charset = Charset::kUtf8);

}  // namespace meterbank::generator
