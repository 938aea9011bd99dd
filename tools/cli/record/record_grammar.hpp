// SPDX-License-Identifier: Apache-2.0
//
// `meterbank record ...` and `meterbank log ACTION ...` as an Invocation, and their help.
// Everything behind `--` is a command.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

[[nodiscard]] std::vector<std::string> record_verbs();

// Nothing if the first argument is another one. All errors are usage errors.
[[nodiscard]] std::optional<Result<Invocation>> parse_record_arguments(
    std::span<const std::string> arguments);

// Of "record", "log" or "log info"; nothing if `topic` is something else.
[[nodiscard]] std::optional<std::string> record_help(std::string_view topic);

}  // namespace meterbank::cli
