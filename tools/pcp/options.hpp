// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "pcp/layout/observer.hpp"

namespace meterbank::pcp {

// Of PCP: in the free range, see pmns/stdpmid of a PCP installation.
inline constexpr int kDefaultDomain = 478;

struct CommandLine {
  std::string text;  // to print and exit, if not empty
  std::string log = "meterbank.log";
  std::string user;  // to run as; empty: as who started it
  ObserverOptions observer;
};

// Errors: kInvalidArgument.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace meterbank::pcp
