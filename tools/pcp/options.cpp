// SPDX-License-Identifier: Apache-2.0
#include "pcp/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

namespace meterbank::pcp {
namespace {

constexpr int kDomainMax = 510;
// pmcd waits five seconds unless it is told otherwise.
constexpr std::int64_t kTimeoutMsMax = 3000;

constexpr const char* kFooter = R"(
pmcd starts this program, and speaks with it on standard input and output; dbpmda does that by hand.
The script Install beside it makes it known to pmcd.

Exit codes: 0 pmcd ended it; 2 a faulty option; 3 the environment: directory, user, memory.
)";

tl::unexpected<Error> refuse(const char* what, const std::string& value, const char* remedy) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid {}: {}", what, value), remedy);
}

std::optional<UserPolicy> policy_of(const std::string& word) {
  if (word == "own") return UserPolicy::kOwn;
  if (word == "root") return UserPolicy::kOwnAndRoot;
  if (word == "everyone") return UserPolicy::kEveryone;
  return std::nullopt;
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.observer.domain = kDefaultDomain;
  bool wants_version = false;
  std::int64_t timeout_ms = line.observer.timeout.count();
  CatalogOptions& catalog = line.observer.catalog;
  std::string trust = "root";
  CLI::App app("Show performance counters to Performance Co-Pilot", "pmdameterbank");
  app.footer(kFooter);
  app.add_option("-d,--domain", line.observer.domain,
                 "Number of this agent among those of pmcd; default: 478")
      ->type_name("NUMBER");
  app.add_option("-l,--log", line.log,
                 "File for messages, in the directory for logs of pmcd; default: meterbank.log")
      ->type_name("FILE");
  app.add_option("-U,--username", line.user, "Run as this user")->type_name("USER");
  app.add_option("--dir", catalog.directory,
                 "Directory of the providers; default: METERBANK_DIR, else those of this machine")
      ->type_name("DIR");
  app.add_flag("--all-namespaces", catalog.all_namespaces,
               "Also read providers of containers that share no directory");
  app.add_option("--timeout", timeout_ms,
                 "Wait up to so many milliseconds for rows that providers compute on demand; "
                 "default: 500")
      ->type_name("MS");
  app.add_option("--trust", trust,
                 "Whose providers keep their names in instances: own, root (own and root's) or "
                 "everyone; default: root")
      ->type_name("USERS");
  app.add_flag("--version", wants_version, "Print the version and exit");
  app.add_option("PATH", line.observer.patterns, "Counters to show; default: all");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kInvalidArgument, error.what(), "pmdameterbank --help");
  }
  if (wants_version) line.text = fmt::format("pmdameterbank {}\n", METERBANK_VERSION);
  if (line.observer.domain < 1 || line.observer.domain > kDomainMax) {
    return refuse("domain", std::to_string(line.observer.domain), "1 to 510");
  }
  if (timeout_ms < 1 || timeout_ms > kTimeoutMsMax) {
    return refuse("timeout", std::to_string(timeout_ms), "1 to 3000 milliseconds");
  }
  const auto policy = policy_of(trust);
  if (!policy) return refuse("trust", trust, "own, root or everyone");
  catalog.trust = *policy;
  line.observer.timeout = std::chrono::milliseconds(timeout_ms);
  return line;
}

}  // namespace meterbank::pcp
