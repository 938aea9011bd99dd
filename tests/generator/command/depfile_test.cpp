// SPDX-License-Identifier: Apache-2.0
#include "generator/command/depfile.hpp"

#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/temporary_directory.hpp"

namespace meterbank::generator {
namespace {

using Names = std::vector<std::string>;

TEST(Depfile, IsARuleOfMake) {
  EXPECT_EQ(depfile_text(Names{"a.hpp", "a.7"}, Names{"a.toml", "t"}).value_or(""),
            "a.hpp \\\n  a.7: \\\n  a.toml \\\n  t\n");
}

TEST(Depfile, EscapesAsGccDoes) {
  EXPECT_EQ(depfile_text(Names{"a b"}, Names{"#c", "$d", R"(e\f)", R"(g\ h)"}).value_or(""),
            "a\\ b: \\\n  \\#c \\\n  $$d \\\n  e\\f \\\n  g\\\\\\ h\n");
}

TEST(Depfile, RefusesALineBreak) {
  EXPECT_FALSE(depfile_text(Names{"a"}, Names{"b\nc"}));
  EXPECT_FALSE(depfile_text(Names{"a\r"}, Names{"b"}));
}

// The judge is make itself: it says "No rule to make target" of a file that it would look for under
// another name.
TEST(Depfile, MeansTheSameNamesToMake) {
  if (::system("make --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "make is not installed";
  const ::meterbank::test::TemporaryDirectory directory;
  const Names inputs{directory.path() + "/with space.toml", directory.path() + "/$HOME #1.toml",
                     directory.path() + R"(/back\slash.toml)"};
  for (const auto& input : inputs) std::ofstream{input} << "x";
  const auto output = directory.path() + "/out put";
  const auto depfile = directory.path() + "/depfile";
  const auto says = [&](const Names& names) {
    std::ofstream(depfile) << depfile_text(Names{output}, names).value_or("") << "\techo made\n";
    const auto call = "make -f '" + depfile + "' 2>&1";
    FILE* const pipe = ::popen(call.c_str(), "r");
    std::array<char, 1000> text{};
    const auto length = ::fread(text.data(), 1, text.size(), pipe);
    ::pclose(pipe);
    return std::string(text.data(), length);
  };

  EXPECT_EQ(says(inputs), "echo made\nmade\n");
  EXPECT_NE(says({directory.path() + "/missing"}).find("No rule"), std::string::npos);
}

}  // namespace
}  // namespace meterbank::generator
