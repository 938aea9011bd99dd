// SPDX-License-Identifier: Apache-2.0
#include "cli/beside/program_verbs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <span>

#include "cli/session/exit_code.hpp"
#include "cli/session/open_files.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {
namespace {

struct ProgramVerb {
  std::string_view name;
  Verb verb;
  std::string_view program;
  std::string_view help;
  std::span<const std::string_view> words = {};  // before those that follow the verb
};

constexpr std::array<std::string_view, 3> kPushWords{"--listen", "none", "--push"};

constexpr std::array kProgramVerbs{
    ProgramVerb{"gen", Verb::kGen, "meterbank-gen",
                R"(usage: meterbank gen MANIFEST OUTPUT... [OPTION...]

Generates headers and documents from a manifest, which says what a program publishes: a .man file
of Windows' CTRPP, or TOML. Runs meterbank-gen, found beside this program or on the PATH, with the
options after the verb. All options: meterbank-gen --help

Outputs:
  --cpp FILE         Typed C++ header for the publisher library
  --code FILE        Header with Windows' provider functions; also -o
  --symbols FILE     Header with names, GUIDs and ids; also -ch
  --resources FILE   Resource script with the names and descriptions; also -rc
  --man FILE         Manual page
  --markdown FILE    The same page in Markdown
  --rules FILE       Recording and alert rules for Prometheus
  --dashboard FILE   Dashboard for Grafana
  --migrate OUT      The manifest in TOML
  --check            Check the manifest and write nothing

Examples:
  meterbank gen orders.toml --cpp orders.hpp
  meterbank gen orders.toml --check
  meterbank gen --migrate orders.toml orders.man
)"},
    ProgramVerb{"serve", Verb::kServe, "meterbank-agent",
                R"(usage: meterbank serve [OPTION...] [PATH...]

Serves counters to Prometheus until stopped. Runs meterbank-agent, found beside this program or on
the PATH, with the options after the verb. All options: meterbank-agent --help

Options:
  --listen ADDRESS   Address and port; default: 127.0.0.1:19400
  --dir DIR          Directory of the providers
  --prefix TEXT      What the names of metrics begin with; default: meterbank_

Examples:
  meterbank serve
  meterbank serve --listen 0.0.0.0:19400 'demo_orders/*/*'
  meterbank serve --dir /dev/shm/meterbank-1000
)"},
    ProgramVerb{"push", Verb::kPush, "meterbank-agent",
                R"(usage: meterbank push PROTOCOL=URL [OPTION...] [PATH...]

Sends counters to a receiver until stopped. PROTOCOL is otlp for OpenTelemetry, remote-write for
Prometheus and its relatives, or remote-write-1. Runs meterbank-agent, found beside this program or
on the PATH, with the options after the verb. All options: meterbank-agent --help

Options:
  --interval MS      Milliseconds between two snapshots; default: 10000
  --once             Send one snapshot, say what came of it, and exit
  --push PROTOCOL=URL  One more receiver
  --dir DIR          Directory of the providers

Examples:
  meterbank push otlp=http://127.0.0.1:4318/v1/metrics
  meterbank push remote-write=http://127.0.0.1:9090/api/v1/write --interval 1000 'demo_orders/*/*'
  meterbank push otlp=http://127.0.0.1:4318/v1/metrics --once
)",
                kPushWords},
    ProgramVerb{"view", Verb::kView, "meterbank-view",
                R"(usage: meterbank view [OPTION...] [FILE|DIR...] [PATH...]

Shows counters as a page in a browser: this machine, a recording, or two recordings one over the
other. Prints the address of the page and serves it to this machine alone until stopped. Runs
meterbank-view, found beside this program or on the PATH, with the options after the verb. All
options: meterbank-view --help

Options:
  --port N           Port to serve on; default: a free one
  -i, --interval SPAN  Time between two moments; default: 1s
  --dir DIR          Directory of the providers
  --log FILE|DIR     Show a recording
  --export FILE      Write one file with the page and its data

Examples:
  meterbank view
  meterbank view monday.mbr friday.mbr
  meterbank view monday.mbr --export page.html
)"}};

const ProgramVerb* find_program_verb(std::string_view name) noexcept {
  const auto* const found = std::find_if(kProgramVerbs.begin(), kProgramVerbs.end(),
                                         [name](const auto& verb) { return verb.name == name; });
  return found == kProgramVerbs.end() ? nullptr : found;
}

// Beside this program, as they are built and installed; else wherever the shell would find it.
std::string find_program(std::string_view name) {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto beside = self.parent_path() / name;
  return !none && std::filesystem::exists(beside, none) ? beside.string() : std::string(name);
}

int run_program(std::string_view verb, const Invocation& invocation, Console& console) {
  const ProgramVerb& known = *find_program_verb(verb);
  const std::string_view name = known.program;
  const auto program = find_program(name);
  std::vector<std::string> words{std::string(name)};
  words.insert(words.end(), known.words.begin(), known.words.end());
  words.insert(words.end(), invocation.program_words.begin(), invocation.program_words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  restore_open_files_limit();
  ::execvp(program.c_str(), arguments.data());
  complain(console, Error{ErrorCode::kSystem, errno, fmt::format("cannot run {}", program),
                          fmt::format("{} beside meterbank, or on the PATH", name)});
  return kExitEnvironment;
}

}  // namespace

std::optional<Invocation> parse_program_arguments(std::span<const std::string> arguments) {
  const ProgramVerb* const verb =
      arguments.empty() ? nullptr : find_program_verb(arguments.front());
  if (verb == nullptr) return std::nullopt;
  Invocation invocation;
  const auto words = arguments.subspan(1);
  if (words.size() == 1 && (words[0] == "-h" || words[0] == "--help")) {
    invocation.topic = verb->name;
    return invocation;
  }
  invocation.verb = verb->verb;
  invocation.program_words.assign(words.begin(), words.end());
  return invocation;
}

std::vector<std::string> program_verbs() {
  std::vector<std::string> names;
  names.reserve(kProgramVerbs.size());
  for (const ProgramVerb& verb : kProgramVerbs) names.emplace_back(verb.name);
  return names;
}

std::string_view program_help(std::string_view verb) {
  const ProgramVerb* const found = find_program_verb(verb);
  return found == nullptr ? std::string_view() : found->help;
}

int gen(const Invocation& invocation, Console& console) {
  return run_program("gen", invocation, console);
}

int serve(const Invocation& invocation, Console& console) {
  return run_program("serve", invocation, console);
}

int push(const Invocation& invocation, Console& console) {
  return run_program("push", invocation, console);
}

int view(const Invocation& invocation, Console& console) {
  return run_program("view", invocation, console);
}

}  // namespace meterbank::cli
