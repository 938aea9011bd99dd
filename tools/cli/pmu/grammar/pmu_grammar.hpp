// SPDX-License-Identifier: Apache-2.0
//
// `meterbank pmu ACTION ...` as an Invocation, and its help. Everything behind `--` is a command.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

inline constexpr const char* kPmu = "pmu";

// Nothing if the first argument is another one. All errors are usage errors.
[[nodiscard]] std::optional<Result<Invocation>> parse_pmu_arguments(
    std::span<const std::string> arguments);

// Of one action ("pmu run"), or of all of them ("pmu"); nothing if `topic` is something else.
[[nodiscard]] std::optional<std::string> pmu_help(std::string_view topic);

}  // namespace meterbank::cli
