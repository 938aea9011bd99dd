// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "generator/output/output.hpp"
#include "samples.hpp"

namespace meterbank::generator::test::markdown_test {
namespace {

std::string made_of(const Manifest& manifest) { return markdown(manifest, {}).value_or("nothing"); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// As GitHub splits a row: at every bar that no backslash is in front of.
std::size_t cells_of(std::string_view row) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\') {
      ++i;
    } else if (row[i] == '|') {
      ++bars;
    }
  }
  return bars - 1;
}

TEST(Markdown, IsWhatAPersonWouldHaveWritten) {
  expect_golden("orders.md", made_of(good_manifest("orders.toml")));
  expect_golden("geometric_waves.md", made_of(good_manifest("geometric_waves.man")));
}

TEST(Markdown, HasSevenCellsInEveryRowWhateverIsInThem) {
  for (const auto& text : odd_texts()) {
    std::size_t rows = 0;
    for (const auto& line : lines_of(made_of(manifest_about(text)))) {
      if (!line.starts_with('|')) continue;
      EXPECT_EQ(cells_of(line), 7U) << line;
      ++rows;
    }
    EXPECT_EQ(rows, 3U) << text;
  }
}

// What an untouched text would do to the table above.
TEST(Markdown, CountsTheCellsThatABarWouldMake) {
  EXPECT_EQ(cells_of(R"(| a | b | c \| d |)"), 3U);
}

TEST(Markdown, EscapesWhatWouldBeAMark) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a | b", R"(a \| b)"},
      {"*stars* _lines_ snake_case", R"(\*stars\* \_lines\_ snake_case)"},
      {"<b> & &amp; &#65;", R"(\<b> & \&amp; \&#65;)"},
      {"[a](b)", R"(\[a\](b))"},
      {"`code`", R"(\`code\`)"},
      {R"(C:\new)", R"(C:\\new)"},
      {"~~gone~~ $x$", R"(\~\~gone\~\~ \$x\$)"},
      {"# heading", R"(\# heading)"},
      {"- list - no list", R"(\- list - no list)"},
      {"12. list", R"(12\. list)"},
      {"3.5 is no list", "3\\.5 is no list"},
      {"> quotation", R"(\> quotation)"},
  };
  for (const auto& [text, escaped] : cases) {
    const auto lines = lines_of(made_of(manifest_about(text)));

    EXPECT_NE(std::find(lines.begin(), lines.end(), escaped), lines.end()) << escaped;
    EXPECT_NE(std::find(lines.begin(), lines.end(), "## " + escaped), lines.end()) << escaped;
  }
}

TEST(Markdown, KeepsBackticksInPathsOfWindows) {
  const auto document = made_of(manifest_about("`code` and ``code``"));

  EXPECT_NE(document.find(R"(``` \`code` and ``code`` ```)"), std::string::npos) << document;
}

TEST(Markdown, LeavesBasesOutAndNamesThem) {
  const auto document = made_of(good_manifest("orders.toml"));

  EXPECT_NE(document.find("`perf_average_bulk` over base 5 | 4 |"), std::string::npos) << document;
  EXPECT_EQ(document.find("perf_average_base"), std::string::npos);
}

TEST(Markdown, TakesATemplateOfTheUsers) {
  OutputOptions options;
  options.templates["markdown"] = "{{#countersets}}{{name}} {{path}}\n{{/countersets}}";

  EXPECT_EQ(markdown(good_manifest("orders.toml"), options).value_or(""),
            "Demo Orders `demo_orders/*`\n");
}

TEST(Markdown, RefusesATemplateThatDoesNotEnd) {
  OutputOptions options;
  options.templates["markdown"] = "\n{{#countersets}}";

  const auto document = markdown(good_manifest("orders.toml"), options);

  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace meterbank::generator::test::markdown_test
