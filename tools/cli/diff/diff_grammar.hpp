// SPDX-License-Identifier: Apache-2.0
//
// The command line of `meterbank diff`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

inline constexpr std::string_view kDiff = "diff";

// Nothing if the first argument is another verb. All errors are usage errors.
[[nodiscard]] std::optional<Result<Invocation>> parse_diff_arguments(
    std::span<const std::string> arguments);

[[nodiscard]] std::string diff_help();

}  // namespace meterbank::cli
