// SPDX-License-Identifier: Apache-2.0
//
// What can be made of a manifest. Each output is a function from a checked manifest to a text; none
// looks at the world, so the same manifest gives the same bytes anywhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generator/manifest/manifest.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::generator {

struct OutputOptions {
  std::string prefix;      // of the functions and variables of the Windows headers
  std::string name_space;  // of the typed header; empty: the provider's symbol
  // Of rules and dashboards: what names of metrics begin with, and patterns for the names or
  // symbols of the sets that they are about. Empty: "meterbank_", and all sets.
  std::string metric_prefix;
  std::vector<std::string> sets;
  bool notification_callback =
      false;  // user mode: CounterInitialize takes callback, memory, context
  // Templates that stand in for the built-in ones, by output ("cpp", "c", "code", "symbols",
  // "resources", "man", "markdown").
  std::map<std::string, std::string> templates;
};

// Precondition of all: check() found nothing. Errors: kInvalidArgument, a template of the user's
// that does not parse, sets that are not there, or an output that this manifest has not what it
// takes for.
[[nodiscard]] Result<std::string> cpp_header(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> c_header(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> code_header(const Manifest&,
                                              const OutputOptions&);  // by provider mode
[[nodiscard]] Result<std::string> symbol_header(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> resource_script(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> manual_page(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> markdown(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> rules(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> dashboard(const Manifest&, const OutputOptions&);
[[nodiscard]] Result<std::string> toml_manifest(const Manifest&,
                                                const OutputOptions&);  // --migrate

}  // namespace meterbank::generator
