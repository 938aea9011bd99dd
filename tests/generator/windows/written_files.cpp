// SPDX-License-Identifier: Apache-2.0
#include "written_files.hpp"

#include <gtest/gtest.h>
#include <stdio.h>

#include <algorithm>
#include <fstream>

namespace meterbank::generator {
namespace {

Outcome run(const std::string& command) {
  FILE* const out = ::popen((command + " 2>&1").c_str(), "r");
  if (out == nullptr) return {false, "no shell"};
  Outcome outcome;
  for (int byte = std::fgetc(out); byte != EOF; byte = std::fgetc(out)) {
    outcome.said += static_cast<char>(byte);
  }
  outcome.is_good = ::pclose(out) == 0;
  return outcome;
}

// "gcc -x c -std=c11" and its like; a bar is between them.
std::vector<std::string> compilers() {
  std::vector<std::string> found;
  std::string_view all = METERBANK_COMPILERS;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find('|'), all.size());
    found.emplace_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return found;
}

}  // namespace

Manifest good_manifest(const std::string& file) {
  return test::manifest_of_file(METERBANK_GOOD_MANIFESTS "/" + file);
}

std::string text_of(const Result<std::string>& output) {
  EXPECT_TRUE(output) << output.error().message();
  return output.value_or(std::string());
}

std::string WrittenFiles::path(const std::string& name) const {
  return directory_.path() + "/" + name;
}

void WrittenFiles::write(const std::string& name, std::string_view text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::vector<Outcome> WrittenFiles::compile(const std::string& source, const std::string& options,
                                           std::string_view language) const {
  std::vector<Outcome> outcomes;
  for (const std::string& compiler : compilers()) {
    const bool is_cpp = compiler.find("-x c++") != std::string::npos;
    if (!language.empty() && (language == "c++") != is_cpp) continue;
    outcomes.push_back(run(compiler + " -fsyntax-only -Wall -Wextra -Wconversion -Werror " +
                           METERBANK_INCLUDES + " " + options + " " + path(source)));
  }
  EXPECT_FALSE(outcomes.empty()) << "no compiler, so nothing was shown";
  return outcomes;
}

Outcome WrittenFiles::compile_resources(const std::string& name) const {
  const std::string program = METERBANK_RESOURCE_COMPILER;
  if (program.empty()) return {true, ""};
  return run(program + " /C 65001 /FO " + path(name + ".res") + " " + path(name));
}

}  // namespace meterbank::generator
