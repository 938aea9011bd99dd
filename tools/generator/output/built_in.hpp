// SPDX-License-Identifier: Apache-2.0
//
// The templates that are part of the program: the files of tools/generator/templates.
#pragma once

#include <string_view>
#include <vector>

namespace meterbank::generator {

struct BuiltInTemplate {
  std::string_view name;  // of the file, without .mustache
  std::string_view text;
};

// The build writes the source of this one, see embed_templates.cmake.
[[nodiscard]] const std::vector<BuiltInTemplate>& built_in_templates();

}  // namespace meterbank::generator
