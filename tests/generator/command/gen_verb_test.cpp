// SPDX-License-Identifier: Apache-2.0
//
// `meterbank gen` is the generator that lies beside it.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../support/temporary_directory.hpp"
#include "shell.hpp"

namespace meterbank::generator::test {
namespace {

const std::string kManifest = METERBANK_PROJECT "/orders.toml";

TEST(GenVerb, IsTheGeneratorBesideTheProgram) {
  const auto direct = shell(METERBANK_GEN " " + kManifest + " --markdown -");
  const auto verb = shell("PATH= " METERBANK_CLI " gen " + kManifest + " --markdown -");

  EXPECT_EQ(verb.code, 0) << verb.text;
  EXPECT_GT(verb.text.size(), 100U);
  EXPECT_EQ(verb.text, direct.text);
}

TEST(GenVerb, HandsItsExitCodeOn) {
  const auto refused = shell(METERBANK_CLI " gen " + kManifest);
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.has("meterbank-gen: nothing to do"));

  EXPECT_EQ(shell(METERBANK_CLI " gen missing.toml --check").code, 3);
}

TEST(GenVerb, FindsTheGeneratorOnThePathToo) {
  const ::meterbank::test::TemporaryDirectory alone;
  std::filesystem::copy(METERBANK_CLI, alone.path() + "/meterbank");
  const auto call = " " + alone.path() + "/meterbank gen " + kManifest + " --check";
  const auto folder = std::filesystem::path(METERBANK_GEN).parent_path().string();

  EXPECT_EQ(shell("PATH=" + folder + call).code, 0);
  const auto missing = shell("PATH=/nowhere" + call);
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(missing.has("cannot run meterbank-gen")) << missing.text;
  EXPECT_TRUE(missing.has("; try: ")) << missing.text;
}

TEST(GenVerb, LetsTheGeneratorReadAndWriteAPipe) {
  const auto direct = shell(METERBANK_GEN " --migrate - " + kManifest);
  const auto piped = shell("cat " + kManifest + " | " METERBANK_CLI " gen --migrate - -");
  const auto wrong = shell("echo x | " METERBANK_CLI " gen - --check");

  EXPECT_EQ(piped.text, direct.text);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.has("stdin:1:")) << wrong.text;
}

// The reader of a pipe that has seen enough is no failure; a program that ends by a signal is.
TEST(GenVerb, SaysNothingOfAPipeThatIsClosed) {
  const ::meterbank::test::TemporaryDirectory directory;
  const auto gone = directory.path() + "/gone";
  const auto cut =
      shell("{ { until [ -e " + gone + " ]; do sleep 0.01; done; " METERBANK_GEN " " + kManifest +
            " --markdown -; echo code $? >&2; } | { exec <&-; touch " + gone + "; }; }");

  EXPECT_EQ(cut.text, "code 0\n");
}

TEST(GenVerb, IsHelpedWithAndSuggested) {
  EXPECT_TRUE(shell(METERBANK_CLI " help gen").has("usage: meterbank gen"));
  EXPECT_TRUE(shell(METERBANK_CLI " gem").has("try: meterbank gen"));
  EXPECT_TRUE(shell(METERBANK_CLI " -q gen x").has("gen stands before all options"));
}

}  // namespace
}  // namespace meterbank::generator::test
