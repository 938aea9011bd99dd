// SPDX-License-Identifier: Apache-2.0
//
// What the agent does: defaults, then the file of an administrator, then options of the command
// line. docs/exporter.md describes the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/http/http_server.hpp"
#include "exposition/snapshot/snapshots.hpp"
#include "meterbank/base/result.hpp"
#include "syntax/problems.hpp"

namespace meterbank::agent {

inline constexpr const char* kDefaultAddress = "127.0.0.1:19400";

struct Settings {
  std::string address = kDefaultAddress;
  ServerOptions server;
  exposition::SnapshotOptions snapshots;
};

// Words and numbers that stand for values, in both places. Errors: kInvalidArgument, with what
// there is to choose from.
[[nodiscard]] Result<Compression> parse_compression(const std::string& word);
[[nodiscard]] Result<UserPolicy> parse_trust(const std::string& word);
[[nodiscard]] Result<std::chrono::milliseconds> parse_timeout(std::int64_t milliseconds);
[[nodiscard]] Result<std::string> parse_prefix(const std::string& text);

// The text of a file. Nothing if it has a fault; all of them are then in `problems`.
[[nodiscard]] std::optional<Settings> parse_settings(std::string_view text,
                                                     syntax::Problems& problems);

}  // namespace meterbank::agent
