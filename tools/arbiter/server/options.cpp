// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "service/environment.hpp"

namespace meterbank::arbiter {
namespace {

constexpr const char* kFooter = R"(
Signals: SIGTERM ends the arbiter, SIGHUP reloads the policy file, SIGUSR2 continues in a
new image of the program.

Exit codes: 0 ended as asked, or the policy file has no fault; 1 another arbiter has the
directory, or a file was not found; 2 a faulty option, policy or topology; 3 the environment:
permission, directory, memory.
)";

Result<std::uint32_t> mode_of(const std::string& text) {
  std::uint32_t mode = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || mode > 0777) {
    return fail(ErrorCode::kInvalidArgument, "--socket-mode " + text + " is not a file mode",
                "0666");
  }
  return mode;
}

}  // namespace

std::string default_directory() {
  if (std::string named = service::variable("METERBANK_PMUD_DIR"); !named.empty()) return named;
  if (std::string named = service::variable("METERBANK_DIR"); !named.empty()) return named;
  return "/run/meterbank";
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  std::string socket_mode = "0666";
  bool wants_version = false;
  line.server.directory = default_directory();
  CLI::App app("Lend hardware performance counters to programs", "meterbank-pmud");
  app.footer(kFooter);
  app.add_option("--dir", line.server.directory, "Directory of the socket and the countersets")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--policy", line.server.policy, "Limits of users and groups, in TOML")
      ->type_name("FILE");
  app.add_option("--journal", line.server.journal, "File of the leases; default: DIR/pmud.journal")
      ->type_name("FILE");
  app.add_option("--socket-mode", socket_mode, "Mode of the socket; default: 0666")
      ->type_name("MODE");
  app.add_option("--topology", line.topology, "The counters of this machine, in TOML")
      ->type_name("FILE");
  app.add_option("--simulate", line.simulate, "Lend counters of a machine that a file describes")
      ->type_name("TOPOLOGY");
  app.add_option("--check-policy", line.check_policy, "Print the faults of a policy and exit")
      ->type_name("FILE");
  app.add_flag("--version", wants_version, "Print the version and exit");
  app.add_option("--resume", line.resume)->group("");  // of an upgrade; not for people
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kInvalidArgument, error.what(), "meterbank-pmud --help");
  }
  if (wants_version) line.text = fmt::format("meterbank-pmud {}\n", METERBANK_VERSION);
  auto mode = mode_of(socket_mode);
  if (!mode) return tl::make_unexpected(mode.error());
  line.server.socket_mode = *mode;
  return line;
}

}  // namespace meterbank::arbiter
