// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace meterbank::pcp {

// The whole program: answers pmcd on standard input and output until that ends. Returns an exit
// code, and has said on `err`, or in the log, why if that is not zero.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace meterbank::pcp
