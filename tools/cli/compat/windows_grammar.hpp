// SPDX-License-Identifier: Apache-2.0
//
// typeperf and relog with the option spelling of Windows, as an Invocation; and their help.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

// "typeperf", "relog"
[[nodiscard]] const std::vector<std::string>& windows_verbs();

// Nothing if the verb among `arguments` is another one. All errors are usage errors.
[[nodiscard]] std::optional<Result<Invocation>> parse_windows_arguments(
    std::span<const std::string> arguments);

// Empty if `verb` is another one.
[[nodiscard]] std::string_view windows_verb_help(std::string_view verb);

}  // namespace meterbank::cli
