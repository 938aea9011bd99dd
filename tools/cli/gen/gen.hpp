// SPDX-License-Identifier: Apache-2.0
//
// `meterbank gen`: the generator, which is a program of its own because builds need it where
// nothing else of this is wanted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/invocation.hpp"

namespace meterbank::cli {

inline constexpr std::string_view kGen = "gen";

// Nothing if the verb of `arguments` is another one. The generator judges what follows it.
[[nodiscard]] std::optional<Invocation> parse_gen_arguments(std::span<const std::string> arguments);

[[nodiscard]] std::string_view gen_help();

}  // namespace meterbank::cli
