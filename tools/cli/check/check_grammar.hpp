// SPDX-License-Identifier: Apache-2.0
//
// `meterbank check ...` as an Invocation, and its help.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

inline constexpr std::string_view kCheck = "check";

// Nothing if the first argument is another one. All errors are usage errors.
[[nodiscard]] std::optional<Result<Invocation>> parse_check_arguments(
    std::span<const std::string> arguments);

// Nothing if `topic` is something else.
[[nodiscard]] std::optional<std::string> check_help(std::string_view topic);

}  // namespace meterbank::cli
