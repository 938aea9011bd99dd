// SPDX-License-Identifier: Apache-2.0
#include "cli/gen/gen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "cli/session/exit_code.hpp"
#include "cli/session/open_files.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {
namespace {

constexpr const char* kProgram = "meterbank-gen";

// Beside this program, as they are built and installed; else wherever the shell would find it.
std::string find_generator() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto beside = self.parent_path() / kProgram;
  return !none && std::filesystem::exists(beside, none) ? beside.string() : kProgram;
}

}  // namespace

std::optional<Invocation> parse_gen_arguments(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front() != kGen) return std::nullopt;
  Invocation invocation;
  const auto words = arguments.subspan(1);
  if (words.size() == 1 && (words[0] == "-h" || words[0] == "--help")) {
    invocation.topic = kGen;
    return invocation;
  }
  invocation.verb = Verb::kGen;
  invocation.generator_words.assign(words.begin(), words.end());
  return invocation;
}

std::string_view gen_help() {
  return R"(usage: meterbank gen MANIFEST OUTPUT... [OPTION...]

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
  --migrate OUT      The manifest in TOML
  --check            Check the manifest and write nothing

Examples:
  meterbank gen orders.toml --cpp orders.hpp
  meterbank gen orders.toml --check
  meterbank gen --migrate orders.toml orders.man
)";
}

int gen(const Invocation& invocation, Console& console) {
  const auto program = find_generator();
  std::vector<std::string> words{kProgram};
  words.insert(words.end(), invocation.generator_words.begin(), invocation.generator_words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  restore_open_files_limit();
  ::execvp(program.c_str(), arguments.data());
  complain(console, Error{ErrorCode::kSystem, errno, fmt::format("cannot run {}", program),
                          fmt::format("{} beside meterbank, or on the PATH", kProgram)});
  return kExitEnvironment;
}

}  // namespace meterbank::cli
