// SPDX-License-Identifier: Apache-2.0
#include "page/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "cli/arguments/option_values.hpp"

namespace meterbank::page {
namespace {

constexpr const char* kFooter = R"(
Prints the address of the page, with a token: a browser that was not given it gets nothing. The
page is served to this machine alone, until the program is stopped.

  meterbank view                            this machine, live
  meterbank view 'demo_orders/*/*'          some of its counters
  meterbank view monday.mbr                 a recording
  meterbank view monday.mbr friday.mbr      a recording, and curves of another one over it
  meterbank view monday.mbr --export page.html   one file that needs neither server nor network

Exit codes: 0 stopped, or the file was written; 2 a faulty option; 3 the environment: address,
permission, directory, memory.
)";

struct Words {
  std::optional<std::uint16_t> port;
  std::string interval, duration;
  std::vector<std::string> logs, operands;
  bool wants_version = false;
};

void add_options(CLI::App& app, CommandLine& line, Words& words) {
  app.footer(kFooter);
  app.add_option("--port", words.port, "Port to serve on; default: a free one")->type_name("N");
  app.add_option("-i,--interval", words.interval, "Time between two moments; default: 1s")
      ->type_name("SPAN");
  app.add_option("--dir", line.selection.directory,
                 "Directory of the providers; default: METERBANK_DIR, else those of this machine")
      ->type_name("DIR");
  app.add_flag("--all-namespaces", line.selection.all_namespaces,
               "Also read providers of containers that share no directory");
  app.add_option("--log", words.logs, "Show a recording; a second one is laid over the first")
      ->type_name("FILE|DIR");
  app.add_option("--ring", line.ring,
                 "Begin with the last 15 minutes of this recording (default: the agent's)")
      ->type_name("DIR");
  app.add_option("--export", line.exported,
                 "Write one file with the page and its data, and exit; default: serve the page")
      ->type_name("FILE");
  app.add_option("--for", words.duration,
                 "With --export and without a recording: sample for this time; default: 10s")
      ->type_name("SPAN");
  app.add_flag("--version", words.wants_version, "Print the version and exit");
  app.add_option("OPERAND", words.operands,
                 "Recordings, where there is such a file or directory, and paths of counters");
}

Result<void> take_spans(const Words& words, CommandLine& line) {
  std::optional<std::chrono::nanoseconds> interval, duration;
  if (auto taken = cli::read_span(words.interval, "-i", interval); !taken) return taken;
  if (auto taken = cli::read_span(words.duration, "--for", duration); !taken) return taken;
  constexpr auto kLeast = std::chrono::milliseconds(10);
  if (interval && *interval < kLeast) {
    return cli::usage(fmt::format("-i {} is too short", words.interval), "10ms or more");
  }
  line.interval = interval.value_or(line.interval);
  line.duration = duration.value_or(line.duration);
  return {};
}

// No path of a counter looks like one.
bool looks_like_file(const std::string& operand) {
  return operand.ends_with(".mbr") || operand.starts_with('/') || operand.starts_with("./") ||
         operand.starts_with("../");
}

Result<void> take_operands(Words& words, CommandLine& line) {
  for (const auto& operand : words.operands) {
    std::error_code none;
    // Opening one that is missing says so.
    const bool is_recording = std::filesystem::exists(operand, none) || looks_like_file(operand);
    (is_recording ? words.logs : line.selection.paths).push_back(operand);
  }
  if (words.logs.size() > 2) {
    return cli::usage(fmt::format("{} recordings", words.logs.size()), "one or two");
  }
  if (!words.logs.empty()) line.selection.log.path = words.logs.front();
  if (words.logs.size() == 2) line.second = words.logs.back();
  if (!words.logs.empty() && !line.ring.empty()) {
    return cli::usage("--ring and a recording", "one of them");
  }
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  Words words;
  CLI::App app("Show performance counters as a page in a browser", "meterbank-view");
  add_options(app, line, words);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kInvalidArgument, error.what(), "meterbank-view --help");
  }
  if (words.wants_version) line.text = fmt::format("meterbank-view {}\n", METERBANK_VERSION);
  line.port = words.port.value_or(0);
  if (auto taken = take_spans(words, line); !taken) return tl::make_unexpected(taken.error());
  if (auto taken = take_operands(words, line); !taken) return tl::make_unexpected(taken.error());
  return line;
}

}  // namespace meterbank::page
