// SPDX-License-Identifier: Apache-2.0
//
// Verbs that run a program beside this one. The generator is a program of its own because builds
// need it where nothing else of this is wanted; the agent and the page, because they load libraries
// that would delay each start of this one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.hpp"

namespace meterbank::cli {

// Nothing if the verb of `arguments` is another one. The program judges what follows it.
[[nodiscard]] std::optional<Invocation> parse_program_arguments(
    std::span<const std::string> arguments);

[[nodiscard]] std::vector<std::string> program_verbs();
// Empty: another verb.
[[nodiscard]] std::string_view program_help(std::string_view verb);

}  // namespace meterbank::cli
