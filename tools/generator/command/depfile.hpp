// SPDX-License-Identifier: Apache-2.0
//
// What make, Ninja and CMake read to know when an output is old.
#pragma once

#include <span>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::generator {

// "outputs: inputs", with spaces, # and $ escaped as GCC's -MD does it. Errors: kInvalidArgument
// for a name with a line break, which no such file can say.
[[nodiscard]] Result<std::string> depfile_text(std::span<const std::string> outputs,
                                               std::span<const std::string> inputs);

}  // namespace meterbank::generator
