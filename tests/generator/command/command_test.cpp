// SPDX-License-Identifier: Apache-2.0
//
// The generator from its arguments to its files, words and exit codes.
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <locale>
#include <thread>

#include "command_fixture.hpp"
#include "generator/command/outputs.hpp"
#include "generator/output/built_in.hpp"

namespace meterbank::generator::test {
namespace {

class Command : public CommandTest {
 protected:
  const std::string manifest_ = file("orders.toml");
};

TEST_F(Command, PrintsHelpVersionAndTemplates) {
  EXPECT_TRUE(generate_with({"--help"}).out.starts_with("usage: meterbank-gen MANIFEST"));
  EXPECT_TRUE(generate_with({"--version"}).out.starts_with("meterbank-gen "));
  for (const auto& each : built_in_templates()) {
    const auto outcome = generate_with({"--print-template", std::string(each.name)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, each.text);
  }
}

TEST_F(Command, RefusesToPrintATemplateThatThereIsNot) {
  const auto outcome = generate_with({"--print-template", "code"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "meterbank-gen: --print-template: no 'code'; try: cpp, c, code_user, code_kernel, "
            "symbols, resources, man, markdown\n");
}

TEST_F(Command, WritesEveryOutputAtOnce) {
  const auto outcome =
      generate_with({manifest_, "--cpp", file("1"), "--code", file("2"), "--symbols", file("3"),
                     "--resources", file("4"), "--man", file("5"), "--markdown", file("6"),
                     "--rules", file("7"), "--dashboard", file("8")});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(listing(), "1 2 3 4 5 6 7 8 orders.toml");
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7", "8"})
    EXPECT_GT(read(name).size(), 100U) << name;
}

TEST_F(Command, MakesRulesAndDashboardsOfTheSetsThatAreMeant) {
  const auto all = generate_with({manifest_, "--rules", "-"});
  EXPECT_EQ(generate_with({manifest_, "--rules", "-", "--set", "demo*"}).out, all.out);
  const auto other = generate_with({manifest_, "--rules", "-", "--metric-prefix", "acme_"});
  EXPECT_NE(other.out.find("acme_demo_orders"), std::string::npos);
  const auto none = generate_with({manifest_, "--dashboard", file("a"), "--set", "nothing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("try: --set with one of demo_orders"), std::string::npos) << none.err;
  EXPECT_EQ(listing(), "orders.toml");
}

TEST_F(Command, WritesToStandardOutput) {
  const auto outcome = generate_with({manifest_, "--markdown", "-"});
  ASSERT_EQ(generate_with({manifest_, "--markdown", file("a")}).code, 0);

  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, read("a"));
}

TEST_F(Command, PutsThePrefixInFrontOfBothHeadersOfWindows) {
  const auto outcome =
      generate_with({manifest_, "-o", file("code"), "-ch", file("symbols"), "-prefix", "Shop"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(read("code").find("ShopCounterInitialize"), std::string::npos);
  EXPECT_NE(read("symbols").find("Shop"), std::string::npos);
}

TEST_F(Command, PutsTheHeaderIntoTheNamespace) {
  const auto outcome = generate_with({manifest_, "--cpp", "-", "--namespace", "shop::floor"});

  EXPECT_NE(outcome.out.find("namespace shop::floor"), std::string::npos) << outcome.err;
}

TEST_F(Command, MigratesWhatItReadsBack) {
  const std::string old = METERBANK_GOOD_MANIFESTS "/geometric_waves.man";

  EXPECT_EQ(generate_with({"-migrate", file("new.toml"), old}).code, 0);
  EXPECT_EQ(generate_with({file("new.toml"), "--check", "--against", old}).code, 0);
}

TEST_F(Command, SaysNothingOfAGoodManifest) {
  const auto outcome = generate_with({manifest_, "--check"});

  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(Command, NamesThePlaceInABadManifestAndWritesNothing) {
  write("orders.toml", kOrders + "  aggregate = \"most\"\n");
  using Words = std::vector<std::string>;
  for (const auto& options : {Words{"--check"}, Words{"--cpp", file("a"), "--depfile", file("d")},
                              Words{"--migrate", file("a")}}) {
    std::vector<std::string> words{manifest_};
    words.insert(words.end(), options.begin(), options.end());
    const auto outcome = generate_with(words);

    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.err.starts_with(manifest_ + ":13:")) << outcome.err;
    EXPECT_NE(outcome.err.find(": error: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(": hint: "), std::string::npos) << outcome.err;
    EXPECT_EQ(listing(), "orders.toml");
  }
}

TEST_F(Command, LeavesOldOutputsIfTheManifestTurnsBad) {
  ASSERT_EQ(generate_with({manifest_, "--cpp", file("a")}).code, 0);
  const auto before = read("a");
  write("orders.toml", "[provider");

  EXPECT_EQ(generate_with({manifest_, "--cpp", file("a")}).code, 2);
  EXPECT_EQ(read("a"), before);
}

TEST_F(Command, AnswersNoIfReadersOfTheOldManifestWereMisled) {
  auto changed = kOrders;
  changed.replace(changed.find("id = 1"), 6, "id = 2");
  write("new.toml", changed);

  EXPECT_EQ(generate_with({manifest_, "--against", manifest_}).code, 0);
  const auto outcome =
      generate_with({file("new.toml"), "--against", manifest_, "--cpp", file("a")});

  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.err.starts_with(file("new.toml") + ":")) << outcome.err;
  EXPECT_EQ(listing(), "new.toml orders.toml");
}

TEST_F(Command, NamesTheOldManifestIfItIsTheBadOne) {
  write("old.toml", "x");
  const auto outcome = generate_with({manifest_, "--against", file("old.toml")});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.err.starts_with(file("old.toml") + ":1:")) << outcome.err;
}

TEST_F(Command, NamesAManifestThatCannotBeRead) {
  for (const auto& name : {file("missing.toml"), file(""), std::string("/proc/self/mem")}) {
    const auto outcome = generate_with({name, "--cpp", file("a")});
    EXPECT_EQ(outcome.code, 3) << name << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("meterbank-gen: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(listing(), "orders.toml");
}

TEST_F(Command, RefusesAManifestOf100MegabytesWithoutReadingAllOfIt) {
  write("huge.toml", kOrders);
  ASSERT_EQ(::truncate(file("huge.toml").c_str(), 100 << 20), 0);

  for (const auto& name : {file("huge.toml"), std::string("/dev/zero")}) {
    const auto outcome = generate_with({name, "--check"});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
}

TEST_F(Command, ReadsAManifestFromAPipe) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  std::thread writer([this] { write("pipe", kOrders); });
  const auto outcome = generate_with({"--migrate", "-", file("pipe")});
  writer.join();

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, generate_with({"--migrate", "-", manifest_}).out);
}

TEST_F(Command, WritesWhatTheOutputsDependOn) {
  write("t", "{{provider}}");
  const auto words = std::vector<std::string>{
      manifest_,   "--man",          file("a"),    "--markdown",      "-", "--depfile", file("d"),
      "--against", file("old.toml"), "--template", "man=" + file("t")};
  write("old.toml", kOrders);
  ASSERT_EQ(generate_with(words).code, 0);

  EXPECT_EQ(read("a"), "orders\n");
  EXPECT_EQ(read("d"), fmt::format("{}: \\\n  {} \\\n  {} \\\n  {}\n", file("a"), manifest_,
                                   file("old.toml"), file("t")));
}

TEST_F(Command, NamesATemplateThatIsMissingOrBroken) {
  write("broken", "line\n{{#countersets}}");
  const auto broken =
      generate_with({manifest_, "--man", file("a"), "--template", "man=" + file("broken")});
  const auto missing =
      generate_with({manifest_, "--man", file("a"), "--template", "man=" + file("missing")});

  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.err.find("template 'man', line 2"), std::string::npos) << broken.err;
  EXPECT_EQ(missing.code, 3);
  EXPECT_NE(missing.err.find(file("missing")), std::string::npos) << missing.err;
  EXPECT_EQ(listing(), "broken orders.toml");
}

TEST_F(Command, RemarksOnWhatHasNoEffectAndDoesTheRest) {
  const auto outcome = generate_with({manifest_, "-o", file("a"), "-backcompat"});

  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.err.starts_with("meterbank-gen: note: -backcompat has no effect"));
  EXPECT_EQ(listing(), "a orders.toml");
}

TEST_F(Command, EscapesWhatATerminalWouldObey) {
  const auto outcome = generate_with({file("\x1b[2J"), "--check"});

  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.err.find("\\u{1b}[2J"), std::string::npos) << outcome.err;
}

// Numbers in an unusual form.
class StrangeNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ';'; }
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\1"; }
};

TEST_F(Command, MakesTheSameBytesAnywhereInAnyLocale) {
  ASSERT_EQ(::mkdir(file("other").c_str(), 0755), 0);
  for (const std::string name : {"everything.toml", "everything.man"}) {
    const auto original = fmt::format("{}/{}", METERBANK_GOOD_MANIFESTS, name);
    const auto copy = file("other/" + name);
    std::ofstream(copy) << std::ifstream(original).rdbuf();
    for (const auto& output : kOutputs) {
      // Windows has no words for some of it.
      if (name == "everything.toml" && output.name == "code") continue;
      const auto option = fmt::format("--{}", output.name);
      const auto first = generate_with({original, option, "-"});
      ASSERT_EQ(first.code, 0) << first.err;
      EXPECT_EQ(generate_with({original, option, "-"}).out, first.out);

      const auto usual = std::locale::global(std::locale(std::locale(), new StrangeNumbers));
      const auto strange = generate_with({copy, option, "-"});
      std::locale::global(usual);

      EXPECT_EQ(strange.out, first.out) << name << ' ' << output.name;
    }
  }
}

}  // namespace
}  // namespace meterbank::generator::test
