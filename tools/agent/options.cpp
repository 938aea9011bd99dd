// SPDX-License-Identifier: Apache-2.0
#include "agent/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

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

template <typename Value>
struct NamedValue {
  std::string_view name;
  Value value;
};
constexpr std::array kCompressions{NamedValue<Compression>{"remote", Compression::kRemote},
                                   NamedValue<Compression>{"always", Compression::kAlways},
                                   NamedValue<Compression>{"never", Compression::kNever}};
constexpr std::array kUsers{NamedValue<UserPolicy>{"own", UserPolicy::kOwn},
                            NamedValue<UserPolicy>{"root", UserPolicy::kOwnAndRoot},
                            NamedValue<UserPolicy>{"everyone", UserPolicy::kEveryone}};

template <typename Value>
Result<void> choose(std::string_view option, const std::string& word,
                    const std::array<NamedValue<Value>, 3>& choices, Value& value) {
  for (const NamedValue<Value>& choice : choices) {
    if (choice.name != word) continue;
    value = choice.value;
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid {} {}", option, word),
              fmt::format("{}, {} or {}", choices[0].name, choices[1].name, choices[2].name));
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  bool wants_version = false;
  std::string compress = "remote", trust = "root";
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
      ->capture_default_str();
  app.add_option("--compress", compress,
                 "Compress pages for clients that accept it: remote, always or never")
      ->type_name("WHEN")
      ->capture_default_str();
  app.add_option("--trust", trust,
                 "Whose providers need no label uid: own, root (own and root's) or everyone")
      ->type_name("USERS")
      ->capture_default_str();
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
  constexpr std::int64_t kTimeoutMax = 10'000;
  if (timeout_ms < 1 || timeout_ms > kTimeoutMax) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("invalid --timeout {}", timeout_ms),
                "1 to 10000 milliseconds");
  }
  if (!is_prefix(line.snapshots.prefix)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("invalid --prefix {}", line.snapshots.prefix),
                "a letter, then letters, digits and _: --prefix acme_");
  }
  if (auto chosen = choose("--compress", compress, kCompressions, line.server.compression);
      !chosen) {
    return tl::make_unexpected(chosen.error());
  }
  if (auto chosen = choose("--trust", trust, kUsers, line.snapshots.catalog.trust); !chosen) {
    return tl::make_unexpected(chosen.error());
  }
  line.snapshots.timeout = std::chrono::milliseconds(timeout_ms);
  return line;
}

}  // namespace meterbank::agent
