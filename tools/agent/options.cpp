// SPDX-License-Identifier: Apache-2.0
#include "agent/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

namespace meterbank::agent {
namespace {

constexpr const char* kFooter = R"(
Prometheus scrapes http://ADDRESS/metrics; http://ADDRESS/ lists what else there is.

Signals: SIGTERM and SIGINT end the agent.

Exit codes: 0 ended as asked; 2 a faulty option; 3 the environment: address, permission,
directory, memory.
)";

bool is_prefix(const std::string& text) noexcept {
  constexpr std::size_t kBytesMax = 64;
  if (text.size() > kBytesMax) return false;
  for (const char character : text) {
    const bool is_letter = character >= 'a' && character <= 'z';
    const bool is_digit = character >= '0' && character <= '9';
    if (!is_letter && !is_digit && character != '_') return false;
  }
  return text.empty() || (text[0] >= 'a' && text[0] <= 'z');
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  bool wants_version = false;
  std::int64_t timeout_ms = line.snapshots.timeout.count();
  CLI::App app("Serve performance counters to Prometheus and its relatives", "meterbank-agent");
  app.footer(kFooter);
  app.add_option("--listen", line.address, "Address and port to serve on; port 0 takes a free one")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--dir", line.snapshots.catalog.directory,
                 "Directory of the providers; default: METERBANK_DIR, else those of this machine")
      ->type_name("DIR");
  app.add_flag("--all-namespaces", line.snapshots.catalog.all_namespaces,
               "Also read providers of containers that share no directory");
  app.add_option("--prefix", line.snapshots.prefix, "What the names of metrics begin with")
      ->type_name("TEXT")
      ->capture_default_str();
  app.add_option("--timeout", timeout_ms,
                 "Wait up to so many milliseconds for rows that providers compute on demand")
      ->type_name("MS")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  const std::map<std::string, Compression> kCompressions = {{"remote", Compression::kRemote},
                                                            {"always", Compression::kAlways},
                                                            {"never", Compression::kNever}};
  app.add_option("--compress", line.server.compression,
                 "Compress pages for clients that accept it: remote, always or never")
      ->type_name("WHEN")
      ->transform(CLI::CheckedTransformer(kCompressions, CLI::ignore_case))
      ->default_str("remote");
  app.add_flag("--version", wants_version, "Print the version and exit");
  app.add_option("PATH", line.snapshots.patterns, "Counters to serve; default: all");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kInvalidArgument, error.what(), "meterbank-agent --help");
  }
  if (wants_version) line.text = fmt::format("meterbank-agent {}\n", METERBANK_VERSION);
  if (!is_prefix(line.snapshots.prefix)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("invalid --prefix {}", line.snapshots.prefix),
                "a letter, then letters, digits and _: --prefix acme_");
  }
  line.snapshots.timeout = std::chrono::milliseconds(timeout_ms);
  return line;
}

}  // namespace meterbank::agent
