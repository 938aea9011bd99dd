// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agent/http/http_server.hpp"
#include "exposition/snapshot/snapshots.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::agent {

inline constexpr const char* kDefaultAddress = "127.0.0.1:19400";

struct CommandLine {
  std::string text;  // to print and exit, if not empty
  std::string address = kDefaultAddress;
  ServerOptions server;
  exposition::SnapshotOptions snapshots;
};

// Errors: kInvalidArgument.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace meterbank::agent
