// SPDX-License-Identifier: Apache-2.0
//
// Small manifests with one fault each, and the messages that people get: ../manifests/bad.
// METERBANK_WRITE_GOLDEN=1 in the environment writes messages.txt anew, to be read before it is
// committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "parsed.hpp"

namespace meterbank::generator {
namespace {

using Messages = std::map<std::string, std::string>;  // by file

const std::filesystem::path kFolder = METERBANK_BAD_MANIFESTS;

Problems problems_of(const std::string& text, const std::string& file) {
  Problems problems;
  const auto manifest = parse_manifest(text, file, problems);
  if (manifest) check(*manifest, problems);
  return problems;
}

std::map<std::string, Problems> all_problems() {
  std::map<std::string, Problems> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".man" && extension != ".toml") continue;
    const std::string file = entry.path().lexically_relative(kFolder).generic_string();
    const auto text = read_manifest(entry.path().string());
    EXPECT_TRUE(text) << file;
    if (text) all.emplace(file, problems_of(*text, file));
  }
  return all;
}

Messages all_messages() {
  Messages all;
  for (const auto& [file, problems] : all_problems()) all[file] = problems.text(file);
  return all;
}

// Each line of it begins with the name of a file.
Messages golden_messages() {
  Messages all;
  std::ifstream golden(kFolder / "messages.txt");
  for (std::string line; std::getline(golden, line);) {
    if (!line.empty()) all[line.substr(0, line.find(':'))] += line + '\n';
  }
  return all;
}

// One line for each file whose messages are not those expected, and for each without any.
std::vector<std::string> differences(const Messages& now, const Messages& golden) {
  std::vector<std::string> all;
  for (const auto& [file, text] : now) {
    const auto expected = golden.find(file);
    if (text.empty()) all.push_back(file + " is not refused");
    if (expected == golden.end()) {
      all.push_back(file + " is not in messages.txt; it says:\n" + text);
    } else if (expected->second != text) {
      all.push_back(file + " says:\n" + text + "instead of:\n" + expected->second);
    }
  }
  for (const auto& [file, text] : golden) {
    if (!now.contains(file)) all.push_back(file + " of messages.txt is gone");
  }
  return all;
}

void write_golden(const Messages& messages) {
  std::ofstream golden(kFolder / "messages.txt");
  std::string_view before;
  for (const auto& [file, text] : messages) {
    golden << (before.empty() ? "" : "\n") << text;
    before = file;
  }
}

// M82, M83, M84, M85: what is wrong is told, with file, line and column, and what to do about it.
TEST(BadManifests, AreRefusedWithTheMessagesThatWereAgreed) {
  const Messages messages = all_messages();
  if (std::getenv("METERBANK_WRITE_GOLDEN") != nullptr) write_golden(messages);
  EXPECT_GE(messages.size(), 100U);
  for (const std::string& difference : differences(messages, golden_messages())) {
    ADD_FAILURE() << difference;
  }
}

TEST(BadManifests, HaveAPlaceAndAHintForEachFault) {
  for (const auto& [file, problems] : all_problems()) {
    for (const Problem& problem : problems.all()) {
      EXPECT_TRUE(problem.place.is_known()) << file << ": " << problem.what;
      EXPECT_FALSE(problem.hint.empty()) << file << ": " << problem.what;
    }
  }
}

TEST(BadManifests, AreComparedByAComparisonThatCanFail) {
  const Messages golden{{"a.man", "a.man:1:1: error: x\n"}, {"b.man", "b.man:1:1: error: x\n"}};
  Messages now = golden;
  EXPECT_TRUE(differences(now, golden).empty());
  now["b.man"] += "b.man:2:1: error: y\n";
  EXPECT_EQ(differences(now, golden).size(), 1U);
  now.erase("b.man");
  EXPECT_EQ(differences(now, golden).size(), 1U);
  EXPECT_EQ(differences(golden, now).size(), 1U);
  now["a.man"] = "";
  EXPECT_EQ(differences(now, now).size(), 1U) << "a manifest that is not refused is no bad one";
}

}  // namespace
}  // namespace meterbank::generator
