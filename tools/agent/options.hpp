// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/config/settings.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::agent {

struct CommandLine {
  std::string text;    // to print and exit, if not empty
  std::string config;  // path of the file; empty: none
  bool check = false;  // the file, and exit
  // These replace the values of the file.
  std::optional<std::string> address, directory, prefix;
  std::optional<Compression> compression;
  std::optional<UserPolicy> trust;
  std::optional<std::chrono::milliseconds> timeout, interval;
  std::vector<push::ReceiverOptions> receivers;
  std::vector<std::string> patterns;
  bool all_namespaces = false;
  bool once = false;  // push one snapshot, and exit
};

// Errors: kInvalidArgument.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// Reads the file, if there is one, as it is now. Errors: kNotFound, kDenied, kSystem, kLimit;
// kInvalidArgument: options contradict each other. Faults of the text are in `problems`, and
// nothing is returned.
[[nodiscard]] Result<std::optional<Settings>> load_settings(const CommandLine& line,
                                                            syntax::Problems& problems);

}  // namespace meterbank::agent
