// SPDX-License-Identifier: Apache-2.0
//
// All of the program but main(), so that tests can call it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace meterbank::arbiter {

// Returns the exit code; `meterbank-pmud --help` lists them.
[[nodiscard]] int run(const std::vector<std::string>& arguments, std::ostream& out,
                      std::ostream& err);

}  // namespace meterbank::arbiter
