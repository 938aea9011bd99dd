// SPDX-License-Identifier: Apache-2.0
//
// Small manifests with one fault each, and the messages that people get: ../manifests/bad.
//
//   before/        good manifests
//   changes/*.txt  what turns them into bad ones: "FILE from GOOD", and below it lines with '-'
//   that
//                  are taken out, lines with '+' that are added, and lines that tell where
//   text/          bad manifests that are not made from a good one
//   messages.txt   what is said about each; METERBANK_WRITE_GOLDEN=1 in the environment writes it
//                  anew, to be read before it is committed
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "parsed.hpp"

namespace meterbank::generator {
namespace {

using Manifests = std::map<std::string, std::string>;  // by file
using Messages = std::map<std::string, std::string>;   // by file

const std::filesystem::path kFolder = METERBANK_BAD_MANIFESTS;

Problems problems_of(const std::string& text, const std::string& file) {
  Problems problems;
  const auto manifest = parse_manifest(text, file, problems);
  if (manifest) check(*manifest, problems);
  return problems;
}

// A good manifest, changed line by line.
class ChangedManifest {
 public:
  explicit ChangedManifest(const std::string& good) {
    std::ifstream file(kFolder / "before" / good);
    EXPECT_TRUE(file) << good;
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
  }

  // '+' adds the line. '-' takes out the next such line, ' ' goes on behind it.
  void apply(const std::string& change) {
    const auto here = lines_.begin() + at_;
    const std::string line = change.substr(1);
    if (change[0] == '+') {
      lines_.insert(here, line);
      ++at_;
      return;
    }
    const auto found = std::find(here, lines_.end(), line);
    ASSERT_NE(found, lines_.end()) << "no such line: " << change;
    at_ = found - lines_.begin();
    if (change[0] == '-') {
      lines_.erase(found);
    } else {
      ASSERT_EQ(change[0], ' ') << change;
      ++at_;
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
  }

 private:
  std::vector<std::string> lines_;
  std::ptrdiff_t at_ = 0;  // behind the last change
};

// The manifests of one file in changes/. A blank line ends each.
void add_changed(const std::filesystem::path& changes, Manifests& all) {
  std::ifstream file(changes);
  for (std::string head; std::getline(file, head);) {
    const std::size_t from = head.find(" from ");
    ASSERT_NE(from, std::string::npos) << head;
    ChangedManifest manifest(head.substr(from + 6));
    for (std::string change; std::getline(file, change) && !change.empty();) manifest.apply(change);
    const std::string name = changes.stem().string() + '/' + head.substr(0, from);
    EXPECT_TRUE(all.emplace(name, manifest.text()).second) << name << " stands here twice";
  }
}

Manifests all_manifests() {
  Manifests all;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder / "changes")) {
    add_changed(entry.path(), all);
  }
  for (const auto& entry : std::filesystem::directory_iterator(kFolder / "text")) {
    const std::string name = "text/" + entry.path().filename().string();
    const auto text = read_manifest(entry.path().string());
    EXPECT_TRUE(text && all.emplace(name, *text).second) << name;
  }
  return all;
}

std::map<std::string, Problems> all_problems() {
  std::map<std::string, Problems> all;
  for (const auto& [file, text] : all_manifests()) all.emplace(file, problems_of(text, file));
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

TEST(BadManifests, AreChangesOfGoodOnes) {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder / "before")) {
    const std::string file = entry.path().filename().string();
    EXPECT_EQ(problems_of(text_of_file(entry.path().string()), file).text(file), "");
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
