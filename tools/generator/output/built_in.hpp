// SPDX-License-Identifier: Apache-2.0
//
// The templates that are part of the program: the files of tools/generator/templates.
#pragma once

#include <span>
#include <string_view>

namespace meterbank::generator {

struct BuiltInTemplate {
  std::string_view name;  // of the file, without .mustache
  std::string_view text;
};

// The build writes the source of this one, see embed_templates.cmake.
[[nodiscard]] std::span<const BuiltInTemplate> built_in_templates() noexcept;

}  // namespace meterbank::generator
