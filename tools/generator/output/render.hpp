// SPDX-License-Identifier: Apache-2.0
//
// From a template and what it speaks of to the lines of a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kainjow/mustache.hpp>

#include "generator/output/output.hpp"

namespace meterbank::generator {

// templates/NAME.mustache as it was compiled in, for --print-template; nothing if there is none.
[[nodiscard]] std::optional<std::string_view> built_in_template(std::string_view name) noexcept;

// The built-in template of this name (templates/NAME.mustache), or the user's.
// Errors: kInvalidArgument, with the line, if it does not parse.
[[nodiscard]] Result<std::string> render(std::string_view name, const kainjow::mustache::data& data,
                                         const OutputOptions& options);

}  // namespace meterbank::generator
