// SPDX-License-Identifier: Apache-2.0
#include "agent/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "agent/config/small_file.hpp"

namespace meterbank::agent {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

constexpr const char* kFooter = R"(
Options take the place of what the file says; recording ([record]) and the page for browsers
([view]) are in the file alone. Prometheus scrapes http://ADDRESS/metrics;
http://ADDRESS/ lists what else there is.

PROTOCOL is otlp (OpenTelemetry, HTTP and protobuf), remote-write (Prometheus, 2.0 or 1.0 as the
receiver knows it) or remote-write-1:
  --push otlp=http://127.0.0.1:4318/v1/metrics
  --push remote-write=http://127.0.0.1:9090/api/v1/write

Signals: SIGTERM and SIGINT end the agent. SIGHUP reads the file again; if that has a fault,
the agent says so and goes on as before. A new address needs a restart.

Exit codes: 0 ended as asked, or the file has no fault; 2 a faulty option or file; 3 the
environment: address, permission, directory, memory; a receiver that did not take a snapshot
pushed once.
)";

// Takes over a value that stands on the command line.
template <typename Target, typename Parsed>
Result<void> take(Target& target, const Parsed& parsed) {
  if (!parsed) return tl::make_unexpected(parsed.error());
  target = *parsed;
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  bool wants_version = false;
  std::optional<std::string> compress, trust, prefix;
  std::optional<std::int64_t> timeout_ms, interval_ms;
  std::vector<std::string> receivers;
  CLI::App app("Serve performance counters to Prometheus, or push them to receivers",
               "meterbank-agent");
  app.footer(kFooter);
  app.add_option("--config", line.config, "What to do, in TOML: /etc/meterbank/agent.toml")
      ->type_name("FILE");
  app.add_flag("--check", line.check, "Print the faults of the file and exit");
  app.add_option("--listen", line.address,
                 "Address and port to serve on; port 0 takes a free one, none serves nothing; "
                 "default: 127.0.0.1:19400")
      ->type_name("ADDRESS");
  app.add_option("--dir", line.directory,
                 "Directory of the providers; default: METERBANK_DIR, else those of this machine")
      ->type_name("DIR");
  app.add_flag("--all-namespaces", line.all_namespaces,
               "Also read providers of containers that share no directory");
  app.add_option("--prefix", prefix, "What the names of metrics begin with; default: meterbank_")
      ->type_name("TEXT");
  app.add_option("--timeout", timeout_ms,
                 "Wait up to so many milliseconds for rows that providers compute on demand; "
                 "default: 500")
      ->type_name("MS");
  app.add_option("--compress", compress,
                 "Compress pages for clients that accept it: remote, always or never; default: "
                 "remote")
      ->type_name("WHEN");
  app.add_option("--push", receivers, "Send snapshots to a receiver; can be repeated")
      ->type_name("PROTOCOL=URL");
  app.add_option("--interval", interval_ms, "Milliseconds between two pushes; default: 10000")
      ->type_name("MS");
  app.add_flag("--once", line.once, "Push one snapshot and exit; serve nothing");
  app.add_option("--trust", trust,
                 "Whose providers need no label uid: own, root (own and root's) or everyone; "
                 "default: root")
      ->type_name("USERS");
  app.add_flag("--version", wants_version, "Print the version and exit");
  app.add_option("PATH", line.patterns, "Counters to serve; default: all");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kInvalidArgument, error.what(), "meterbank-agent --help");
  }
  if (wants_version) line.text = fmt::format("meterbank-agent {}\n", METERBANK_VERSION);
  Result<void> taken;
  if (taken && compress) taken = take(line.compression, parse_compression(*compress));
  if (taken && trust) taken = take(line.trust, parse_trust(*trust));
  if (taken && prefix) taken = take(line.prefix, parse_prefix(*prefix));
  if (taken && timeout_ms) taken = take(line.timeout, parse_timeout(*timeout_ms));
  if (taken && interval_ms) taken = take(line.interval, parse_interval(*interval_ms));
  for (const std::string& text : receivers) {
    if (taken) taken = take(line.receivers.emplace_back(), parse_receiver(text));
  }
  if (!taken) return tl::make_unexpected(taken.error());
  if (line.check && line.config.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--check needs a file", "--config FILE");
  }
  if (line.interval && line.receivers.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--interval without a receiver",
                "--push PROTOCOL=URL");
  }
  return line;
}

Result<std::optional<Settings>> load_settings(const CommandLine& line, syntax::Problems& problems) {
  std::optional<Settings> settings = Settings();
  if (!line.config.empty()) {
    const auto text = read_small_file(line.config, kFileBytesMax);
    if (!text) return tl::make_unexpected(text.error());
    settings = parse_settings(*text, problems);
    if (!settings) return settings;
  }
  exposition::SnapshotOptions& snapshots = settings->snapshots;
  if (line.address) settings->address = *line.address;
  if (line.compression) settings->server.compression = *line.compression;
  if (line.directory) snapshots.catalog.directory = *line.directory;
  if (line.all_namespaces) snapshots.catalog.all_namespaces = true;
  if (line.trust) snapshots.catalog.trust = *line.trust;
  if (line.prefix) snapshots.names.prefix = *line.prefix;
  if (line.timeout) snapshots.timeout = *line.timeout;
  if (!line.patterns.empty()) snapshots.patterns = line.patterns;
  if (!line.receivers.empty()) {
    settings->receivers.clear();
    for (push::ReceiverOptions receiver : line.receivers) {
      if (line.interval) receiver.interval = *line.interval;
      const auto added = add_receiver(settings->receivers, std::move(receiver));
      if (!added) return tl::make_unexpected(added.error());
    }
    complete(settings->receivers);
  }
  const bool does_nothing = settings->address == kNoAddress && settings->receivers.empty() &&
                            !settings->record.is_on() && !settings->view.is_on();
  if (does_nothing) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing to serve, no receiver, no recording and no page for browsers",
                "--listen ADDRESS or --push PROTOCOL=URL");
  }
  if (line.once && settings->receivers.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--once without a receiver", "--push PROTOCOL=URL");
  }
  return settings;
}

}  // namespace meterbank::agent
