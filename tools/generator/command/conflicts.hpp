// SPDX-License-Identifier: Apache-2.0
//
// Options that are well formed each by itself, and make no sense together.
#pragma once

#include <span>
#include <string>

#include "generator/command/arguments.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::generator {

// `operands` are the manifests that were named, `check` is --check. All errors are usage errors.
[[nodiscard]] Result<void> refuse_conflicts(const Request& request,
                                            std::span<const std::string> operands, bool check);

}  // namespace meterbank::generator
