// SPDX-License-Identifier: Apache-2.0
//
// From arguments to an Invocation, and the help that describes the way.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

// `arguments` without the program's name. All errors are usage errors, with the nearest verb or
// option to try. A request for help is an Invocation of Verb::kHelp.
[[nodiscard]] Result<Invocation> parse_arguments(std::span<const std::string> arguments);

// Usage, options and examples of one verb; nothing if there is no such verb.
[[nodiscard]] std::optional<std::string> verb_help(std::string_view verb);
[[nodiscard]] std::vector<std::string> verb_names();

}  // namespace meterbank::cli
