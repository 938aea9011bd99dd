// SPDX-License-Identifier: Apache-2.0
//
// What the agent does: defaults, then the file of an administrator, then options of the command
// line. docs/exporter.md describes the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/http/http_server.hpp"
#include "agent/recorder/record_settings.hpp"
#include "agent/view/view_settings.hpp"
#include "exposition/snapshot/snapshots.hpp"
#include "meterbank/base/result.hpp"
#include "push/delivery/receiver.hpp"
#include "syntax/problems.hpp"

namespace meterbank::agent {

inline constexpr const char* kDefaultAddress = "127.0.0.1:19400";
inline constexpr std::string_view kNoAddress = "none";  // no page is served
inline constexpr std::size_t kReceiversMax = 8;

struct Settings {
  std::string address = kDefaultAddress;
  ServerOptions server;
  std::vector<push::ReceiverOptions> receivers;
  RecordSettings record;
  ViewSettings view;
  exposition::SnapshotOptions snapshots;
};

// Words and numbers that stand for values, in both places. Errors: kInvalidArgument, with what
// there is to choose from.
[[nodiscard]] Result<Compression> parse_compression(const std::string& word);
[[nodiscard]] Result<UserPolicy> parse_trust(const std::string& word);
[[nodiscard]] Result<std::chrono::milliseconds> parse_timeout(std::int64_t milliseconds);
[[nodiscard]] Result<std::string> parse_prefix(const std::string& text);
[[nodiscard]] Result<push::Protocol> parse_protocol(const std::string& word);
[[nodiscard]] Result<push::Coding> parse_coding(const std::string& word);
// How often to push: 100 ms to a day.
[[nodiscard]] Result<std::chrono::milliseconds> parse_interval(std::int64_t milliseconds);
// How often to sample for pictures: 100 ms to a minute.
[[nodiscard]] Result<std::chrono::milliseconds> parse_view_interval(std::int64_t milliseconds);
// "127.0.0.1:19401": an address of this machine that no other reaches.
[[nodiscard]] Result<std::string> parse_loopback(const std::string& text);
// How often to record: 10 ms to a minute.
[[nodiscard]] Result<std::chrono::milliseconds> parse_record_interval(std::int64_t milliseconds);
// The size of a ring in bytes: 1 MiB to 1 TiB.
[[nodiscard]] Result<std::uint64_t> parse_ring_size(std::int64_t mebibytes);
// "env=production": a label of Prometheus, or an attribute of OpenTelemetry.
[[nodiscard]] Result<exposition::Label> parse_label(const std::string& text);
// "otlp=http://127.0.0.1:4318/v1/metrics", with default values for everything else.
[[nodiscard]] Result<push::ReceiverOptions> parse_receiver(const std::string& text);
// Errors: kInvalidArgument: another one has the name, there are too many, or Prometheus cannot have
// a label so called.
Result<void> add_receiver(std::vector<push::ReceiverOptions>& receivers,
                          push::ReceiverOptions receiver);
// Gives receivers without a name one, and remote write the labels that a scraper would add: job and
// instance.
void complete(std::vector<push::ReceiverOptions>& receivers);

// The text of a file. Nothing if it has a fault; all of them are then in `problems`.
[[nodiscard]] std::optional<Settings> parse_settings(std::string_view text,
                                                     syntax::Problems& problems);

}  // namespace meterbank::agent
