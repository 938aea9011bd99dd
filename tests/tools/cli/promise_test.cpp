// SPDX-License-Identifier: Apache-2.0
//
// What scripts and programs go by: options, and keys in JSON. docs/versions.md promises them.
#include <algorithm>
#include <set>
#include <sstream>

#include "../record/made_recording.hpp"
#include "cli/grammar.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') lines.insert(line);
  }
  return lines;
}

std::string without(const std::set<std::string>& from, const std::set<std::string>& those) {
  std::string text;
  for (const std::string& line : from) {
    if (!those.contains(line)) text += line + "\n";
  }
  return text;
}

class Promises : public CliTest {
 protected:
  static void compare(const char* file, const std::set<std::string>& now) {
    const auto promised = lines_of(read(std::string(METERBANK_ABI_FOLDER) + "/" + file));
    EXPECT_FALSE(promised.empty());
    EXPECT_EQ(without(promised, now), "") << "these were promised and are gone";
    EXPECT_EQ(without(now, promised), "") << "new: add them to tests/abi/" << file;
  }
};

// "get --raw", for each name of each option in the help of each verb.
std::set<std::string> options() {
  std::set<std::string> found;
  auto verbs = verb_names();
  verbs.insert(verbs.end(),
               {"log info", "log check", "log cut", "log save", "log merge", "log convert"});
  for (const std::string& verb : verbs) {
    if (verb == "gen" || verb == "pmu") continue;
    std::istringstream help(verb_help(verb).value_or(""));
    for (std::string line; std::getline(help, line);) {
      const auto begin = line.find_first_not_of(' ');
      if (begin == 0 || begin == std::string::npos || line[begin] != '-') continue;
      std::istringstream words(line.substr(begin));
      for (std::string word; words >> word && word.front() == '-';) {
        for (std::size_t from = 0; from < word.size();) {
          const auto to = std::min(word.find(',', from), word.size());
          const auto name = word.substr(from, to - from);
          found.insert(verb + " " + name.substr(0, name.find_first_of("=[")));
          from = to + 1;
        }
      }
    }
  }
  return found;
}

TEST_F(Promises, EveryOptionIsStillThere) { compare("cli_options.txt", options()); }

void add_keys(const Json& json, const std::string& path, std::set<std::string>& keys) {
  if (json.is_array()) {
    for (const Json& each : json) add_keys(each, path + "[]", keys);
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    keys.insert(path + "." + key);
    add_keys(value, path + "." + key, keys);
  }
}

TEST_F(Promises, EveryKeyInJsonIsStillThere) {
  open_shop();
  std::set<std::string> keys;
  const std::vector<std::vector<std::string>> calls{{"list"},
                                                    {"list", "--providers"},
                                                    {"list", "--instances"},
                                                    {"list", "--registrations"},
                                                    {"list", "-l"},
                                                    {"get", "*"},
                                                    {"get", "*", "--raw"},
                                                    {"check", "shop_sales/*/stock > 100"},
                                                    {"version"}};
  for (auto words : calls) {
    std::string name;
    for (const auto& word : words) name += (name.empty() ? "" : " ") + word;
    words.insert(words.end(), {"-f", "json"});
    const auto outcome = meterbank(words);
    ASSERT_EQ(outcome.code, kExitDone) << name << outcome.err;
    add_keys(parse_json(outcome.out), name + " ", keys);
  }
  // Rows of a recording of two machines have more.
  record::MadeRecording web({}), db({.host = "db", .boot = "2", .recorder = 2});
  web.ticks(0, 3);
  db.ticks(0, 3);
  ASSERT_EQ(run_plainly({"log", "merge", web.write(file("web.mbr")), db.write(file("db.mbr")), "-o",
                         file("both.mbr")})
                .code,
            kExitDone);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"get", "queues/*/depth"}, {"check", "queues/*/depth > 100"}}) {
    const auto outcome = run_plainly(
        {words[0], words[1], "--log", file("both.mbr"), "--across-users", "-f", "json"});
    ASSERT_EQ(outcome.code, kExitDone) << words[0] << outcome.err;
    add_keys(parse_json(outcome.out), words[0] + " " + words[1] + " --log ", keys);
  }
  compare("json_keys.txt", keys);
}

}  // namespace
}  // namespace meterbank::cli
