// SPDX-License-Identifier: Apache-2.0
//
// From the command line to a Request. CTRPP's own options are taken in its own spelling.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/command/outputs.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::generator {

inline constexpr std::string_view kStandardOutput = "-";

struct RequestedFile {
  const OutputWord* output;
  std::string path;
};

enum class Task : std::uint8_t { kGenerate, kHelp, kVersion, kPrintTemplate };

struct Request {
  Task task = Task::kGenerate;
  std::string manifest;
  std::vector<RequestedFile> files;
  std::string against;
  std::string depfile;
  std::string print_template;
  std::map<std::string, std::string> templates;  // output -> file
  OutputOptions options;                         // without its templates
  std::vector<std::string> remarks;              // for standard error, none of them an error
};

// `arguments` without the program's name. All errors are usage errors.
[[nodiscard]] Result<Request> parse_arguments(std::span<const std::string> arguments);

[[nodiscard]] std::string_view help_text();

}  // namespace meterbank::generator
