// SPDX-License-Identifier: Apache-2.0
//
// The command line of meterbank-pmud.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arbiter/server/server.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

struct CommandLine {
  ServerOptions server;
  std::string simulate;       // a topology file in place of this machine
  std::string topology;       // of this machine: how many counters there are
  std::string check_policy;   // only say what is wrong with this file
  std::optional<int> resume;  // descriptor of the state that the image before this one left
  std::string text;           // to be printed, and nothing else done: help or version
};

// Errors: kInvalidArgument.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// Where the arbiter is found unless told otherwise: METERBANK_PMUD_DIR, METERBANK_DIR, else
// /run/meterbank.
[[nodiscard]] std::string default_directory();

}  // namespace meterbank::arbiter
