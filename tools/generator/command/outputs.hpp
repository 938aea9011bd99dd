// SPDX-License-Identifier: Apache-2.0
//
// The outputs by name: --cpp FILE is the output "cpp".
#pragma once

#include <array>
#include <string_view>

#include "generator/output/output.hpp"

namespace meterbank::generator {

struct OutputWord {
  std::string_view name;
  Result<std::string> (*make)(const Manifest&, const OutputOptions&);
  bool has_template = true;  // that --template can replace
};

inline constexpr std::string_view kMigrate = "migrate";
inline constexpr std::array kOutputs{
    OutputWord{"cpp", cpp_header},
    OutputWord{"c", c_header},
    OutputWord{"code", code_header},
    OutputWord{"symbols", symbol_header},
    OutputWord{"resources", resource_script},
    OutputWord{"man", manual_page},
    OutputWord{"markdown", markdown},
    OutputWord{"rules", rules, false},
    OutputWord{"dashboard", dashboard, false},
    OutputWord{kMigrate, toml_manifest, false},
};

}  // namespace meterbank::generator
