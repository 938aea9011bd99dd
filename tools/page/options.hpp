// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/session/selection.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::page {

struct CommandLine {
  std::string text;                 // to print and exit, if not empty
  cli::SelectionOptions selection;  // log.path: the first recording
  std::string second;               // another recording; empty: none
  std::uint16_t port = 0;           // 0: a free one
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::string ring;      // a recorder's directory, with the last minutes; empty: none
  std::string exported;  // file to write in place of serving; empty: none
  std::chrono::nanoseconds duration = std::chrono::seconds(10);  // of samples for that file
};

// Operands that name a file or directory are recordings; the others are paths of counters. Errors:
// kInvalidArgument.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace meterbank::page
