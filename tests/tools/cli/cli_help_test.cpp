// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "cli/grammar.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

class CliHelp : public CliTest {};

TEST_F(CliHelp, OverviewFitsAScreenAndNamesEveryVerb) {
  const auto outcome = run_plainly({"-h"});

  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_LE(outcome.lines().size(), 30U);
  for (const auto& verb : verb_names()) {
    EXPECT_NE(outcome.out.find(verb), std::string::npos) << verb;
  }
}

TEST_F(CliHelp, EveryVerbHasThreeExamplesThatParse) {
  for (const auto& verb : verb_names()) {
    const auto outcome = run_plainly({verb, "--help"});
    ASSERT_EQ(outcome.code, kExitDone) << verb;
    EXPECT_EQ(outcome.out.find("…"), std::string::npos) << "names of options are whole: " << verb;
    const auto lines = outcome.lines();
    const auto head = std::find(lines.begin(), lines.end(), "Examples:");
    ASSERT_NE(head, lines.end()) << outcome.out;
    EXPECT_EQ(lines.end() - head, 4) << verb;
    for (auto line = head + 1; line != lines.end(); ++line) {
      // Up to a pipe; quotation marks group words as a shell would group them.
      std::vector<std::string> words(1);
      bool quoted = false;
      for (const char c : line->substr(0, line->find(" | "))) {
        if (c == '\'') {
          quoted = !quoted;
        } else if (c == ' ' && !quoted) {
          words.emplace_back();
        } else {
          words.back() += c;
        }
      }
      std::erase(words, "");
      ASSERT_EQ(words.front(), "meterbank");
      words.erase(words.begin());
      EXPECT_TRUE(parse_arguments(words)) << *line;
    }
    EXPECT_EQ(run_plainly({"help", verb}).out, outcome.out);
  }
}

TEST_F(CliHelp, ExplainsPathsFormatsAndExitCodes) {
  for (const char* topic : {"paths", "formats", "expressions", "exit-codes"}) {
    const auto outcome = run_plainly({"help", topic});
    EXPECT_EQ(outcome.code, kExitDone) << topic;
    EXPECT_GT(outcome.lines().size(), 4U) << topic;
  }
}

// Words with single spaces between them, and no marks of Markdown.
std::string plain_words(const std::string& text) {
  std::istringstream words(text);
  std::string plain;
  for (std::string word; words >> word;) {
    std::erase(word, '`');
    plain += (plain.empty() ? "" : " ") + word;
  }
  return plain;
}

TEST_F(CliHelp, ExitCodesAreThoseOfThePage) {
  std::string helped;
  for (const auto& line : run_plainly({"help", "exit-codes"}).lines()) helped += line + "\n";
  const std::string page = read(METERBANK_CLI_PAGE);
  const auto begin = page.find("| 0 |", page.find("## Exit codes"));
  const auto end = page.find("\n\n", page.find("\n\n", begin) + 1);
  ASSERT_LT(begin, end);
  std::string table = page.substr(begin, end - begin);
  std::erase(table, '|');

  EXPECT_EQ(plain_words(helped), plain_words(table));
  EXPECT_NE(plain_words(helped), plain_words(table.substr(2))) << "a difference is seen";
}

TEST_F(CliHelp, HelpOnAnActionOfPmuIsFoundByItsWords) {
  const auto outcome = run_plainly({"help", "pmu", "run"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, run_plainly({"pmu", "run", "--help"}).out);
  EXPECT_EQ(run_plainly({"help", "pmu", "runn"}).code, kExitUsage);
}

TEST_F(CliHelp, SuggestsTheNearestTopic) {
  const auto outcome = run_plainly({"help", "path"});

  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_NE(outcome.err.find("try: meterbank help paths"), std::string::npos) << outcome.err;
}

TEST_F(CliHelp, VersionNamesTheLayout) {
  const auto document = parse_json(run_plainly({"version", "-f", "json"}).out);

  EXPECT_TRUE(document.contains("version"));
  EXPECT_TRUE(document.contains("layout"));
  EXPECT_EQ(run_plainly({"--version"}).out, run_plainly({"version"}).out);
}

TEST_F(CliHelp, GlobalOptionsStandBeforeOrBehindTheVerb) {
  open_shop();

  const auto before = run_plainly({"--dir", directory_, "list"});
  const auto behind = run_plainly({"list", "--dir", directory_});

  EXPECT_EQ(before.code, kExitDone) << before.err;
  EXPECT_EQ(behind.code, kExitDone) << behind.err;
}

TEST_F(CliHelp, APathMayBeCalledLikeAVerb) {
  const std::vector<std::string> arguments{"get", "host"};

  const auto invocation = parse_arguments(arguments);

  ASSERT_TRUE(invocation) << invocation.error().message();
  EXPECT_EQ(invocation->verb, Verb::kGet);
  EXPECT_EQ(invocation->selection.paths, std::vector<std::string>{"host"});
}

}  // namespace
}  // namespace meterbank::cli
