// SPDX-License-Identifier: Apache-2.0
//
// What the library says on stderr of the program that it is in. It says each thing once, and only
// what the program cannot learn from a Result.
#pragma once

#include <string>

namespace meterbank::detail {

// One line, "meterbank: " before it; without characters that a terminal would obey.
// Errors: std::bad_alloc.
void notice(const std::string& text);

}  // namespace meterbank::detail
