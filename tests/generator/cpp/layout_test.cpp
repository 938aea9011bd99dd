// SPDX-License-Identifier: Apache-2.0
#include "generator/output/layout.hpp"

#include <gtest/gtest.h>

#include <string>

#include "generator/output/text_width.hpp"

namespace meterbank::generator {
namespace {

// A line of exactly so many columns.
std::string filled(const std::string& before, const std::string& after, std::size_t columns) {
  return before + std::string(columns - before.size() - after.size(), 'x') + after;
}

TEST(Layout, LeavesLinesThatFitAlone) {
  const std::string line = filled("  int ", " = 1;", kColumnsMax) + "\n";
  EXPECT_EQ(lay_out(line), line);
  EXPECT_EQ(lay_out("\n\na\n"), "\n\na\n");
  EXPECT_EQ(lay_out(""), "");
}

TEST(Layout, BreaksCommentsAtSpaces) {
  const std::string half = std::string(60, 'a');
  EXPECT_EQ(lay_out("  // " + half + " " + half + " b\n"),
            "  // " + half + "\n  // " + half + " b\n");
  const std::string endless(150, 'a');
  EXPECT_EQ(lay_out("// b " + endless + "\n"), "// b\n// " + endless + "\n");
}

TEST(Layout, KeepsCommentsFromSwallowingALine) {
  EXPECT_EQ(lay_out("// a\\\nint b;\n"), "// a\\.\nint b;\n");
  EXPECT_EQ(lay_out("// a?\?/\nint b;\n"), "// a?\?/.\nint b;\n");
  EXPECT_EQ(lay_out("#define A \\\n  1\n"), "#define A \\\n  1\n");
}

TEST(Layout, BreaksStringsWithoutLosingAnything) {
  const std::string text = "one \\\"two\\\" three " + std::string(70, 'x') + "\\\\" +
                           std::string(80, 'y') + "\\u202e" + std::string(90, 'z');
  const std::string page = lay_out("    .help = \"" + text + "\",\n");
  std::string joined;
  std::size_t quotes = 0;
  for (std::size_t at = 0; at < page.size(); ++at) {
    if (page[at] == '\\' && page[at + 1] == '"') {
      joined += page.substr(at++, 2);
    } else if (page[at] == '"') {
      ++quotes;
    } else if (quotes % 2 == 1) {
      joined += page[at];
    }
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(quotes, 8U) << page;
}

TEST(Layout, BreaksFunctionsAtTheirBraces) {
  const std::string call = filled("call(", ");", 80);
  EXPECT_EQ(lay_out("  void function(int one) noexcept { " + call + " }\n"),
            "  void function(int one) noexcept {\n    " + call + "\n  }\n");
}

TEST(Layout, BreaksListsBehindCommas) {
  const std::string one = std::string(40, 'a');
  const std::string two = std::string(40, 'b');
  EXPECT_EQ(lay_out("void function(" + one + ", " + two + ") const;\n"),
            "void function(" + one + ",\n              " + two + ") const;\n");
  const std::string name(50, 'f');
  const std::string below(56, ' ');
  EXPECT_EQ(lay_out("void " + name + "(" + one + ", f(1, 2), " + two + ");\n"),
            "void " + name + "(" + one + ",\n" + below + "f(1, 2),\n" + below + two + ");\n");
  EXPECT_EQ(lay_out("void " + name + "(" + one + one + ", " + two + ");\n"),
            "void " + name + "(\n    " + one + one + ",\n    " + two + ");\n");
}

TEST(Layout, SwitchesTheFormatterOffForLinesThatCannotBeBroken) {
  const std::string line = "int " + std::string(120, 'x') + ";\n";
  EXPECT_EQ(lay_out("// One.\n// Two.\n\n" + line),
            "// One.\n// Two.\n// clang-format off\n\n" + line);
}

TEST(Layout, CountsColumnsAsTheFormatterDoesOrMore) {
  EXPECT_EQ(columns_of("größer"), 6U);
  EXPECT_EQ(columns_of("длинно"), 6U);
  EXPECT_EQ(columns_of("小人"), 4U);
  EXPECT_EQ(columns_of("e\u0301"), 3U);  // it is one, and two for those who know less
  EXPECT_TRUE(has_certain_width("小人"));
  EXPECT_FALSE(has_certain_width("e\u0301"));
  EXPECT_EQ(columns_of("\xff\xfe"), 2U);
}

}  // namespace
}  // namespace meterbank::generator
