// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace meterbank::agent {

// The whole program: serves until SIGTERM or SIGINT comes. Returns an exit code, and has said on
// `err` why if that is not zero. Blocks these two signals in the calling thread.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace meterbank::agent
