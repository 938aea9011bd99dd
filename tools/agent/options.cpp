// SPDX-License-Identifier: Apache-2.0
#include "agent/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>

namespace meterbank::agent {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

constexpr const char* kFooter = R"(
Options take the place of what the file says. Prometheus scrapes http://ADDRESS/metrics;
http://ADDRESS/ lists what else there is.

Signals: SIGTERM and SIGINT end the agent. SIGHUP reads the file again; if that has a fault,
the agent says so and goes on as before. A new address needs a restart.

Exit codes: 0 ended as asked, or the file has no fault; 2 a faulty option or file; 3 the
environment: address, permission, directory, memory.
)";

Result<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const auto code = errno == ENOENT   ? ErrorCode::kNotFound
                      : errno == EACCES ? ErrorCode::kDenied
                                        : ErrorCode::kSystem;
    return fail(code, "read the file " + path, "--config FILE", errno);
  }
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) return fail(ErrorCode::kLimit, path + ": more than 1 MiB");
  return text;
}

// Takes over a value that stands on the command line.
template <typename Target, typename Parsed>
Result<void> take(std::optional<Target>& target, const Parsed& parsed) {
  if (!parsed) return tl::make_unexpected(parsed.error());
  target = *parsed;
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  bool wants_version = false;
  std::optional<std::string> compress, trust, prefix;
  std::optional<std::int64_t> timeout_ms;
  CLI::App app("Serve performance counters to Prometheus and its relatives", "meterbank-agent");
  app.footer(kFooter);
  app.add_option("--config", line.config, "What to do, in TOML: /etc/meterbank/agent.toml")
      ->type_name("FILE");
  app.add_flag("--check", line.check, "Print the faults of the file and exit");
  app.add_option("--listen", line.address,
                 "Address and port to serve on; port 0 takes a free one; default: 127.0.0.1:19400")
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
  if (!taken) return tl::make_unexpected(taken.error());
  if (line.check && line.config.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--check needs a file", "--config FILE");
  }
  return line;
}

Result<std::optional<Settings>> load_settings(const CommandLine& line, syntax::Problems& problems) {
  std::optional<Settings> settings = Settings();
  if (!line.config.empty()) {
    const auto text = read_file(line.config);
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
  return settings;
}

}  // namespace meterbank::agent
