// SPDX-License-Identifier: Apache-2.0
//
// Options that make no sense together are refused before anything is read.
#include <filesystem>

#include "command_fixture.hpp"

namespace meterbank::generator::test {
namespace {

class Conflicts : public CommandTest {
 protected:
  // What is said of a call that must fail and leave nothing.
  [[nodiscard]] std::string refused(const std::vector<std::string>& arguments) const {
    const auto before = listing();
    const auto outcome = generate_with(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(listing(), before);
    EXPECT_TRUE(outcome.err.starts_with("meterbank-gen: ")) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
    const auto text = outcome.err.substr(std::string("meterbank-gen: ").size());
    return text.substr(0, text.find("; try: "));
  }

  const std::string manifest_ = file("orders.toml");
};

TEST_F(Conflicts, MigrateExcludesEveryOtherOption) {
  const std::vector<std::vector<std::string>> others{
      {"--cpp", "a"},          {"-o", "a"},          {"--check"},
      {"-prefix", "P"},        {"--namespace", "n"}, {"--notification-callback"},
      {"-backcompat"},         {"--depfile", "d"},   {"--against", manifest_},
      {"--template", "cpp=t"},
  };
  for (const auto& other : others) {
    std::vector<std::string> words{manifest_, "--migrate", file("out.toml")};
    words.insert(words.end(), other.begin(), other.end());
    EXPECT_EQ(refused(words), "--migrate goes with no other option") << other[0];
  }
}

TEST_F(Conflicts, CheckWritesNothing) {
  EXPECT_EQ(refused({manifest_, "--check", "--cpp", file("a")}), "--check writes nothing");
  EXPECT_EQ(refused({manifest_, "--check", "--depfile", file("a")}), "--check writes nothing");
}

TEST_F(Conflicts, ThereIsOneManifestAndSomethingToDo) {
  EXPECT_EQ(refused({}), "no manifest");
  EXPECT_EQ(refused({""}), "no manifest");
  EXPECT_EQ(refused({"--cpp", file("a")}), "no manifest");
  EXPECT_EQ(refused({manifest_}), "nothing to do");
  EXPECT_EQ(refused({manifest_, "-prefix", "P"}), "nothing to do");
  EXPECT_EQ(refused({"a.toml", "b.toml", "--check"}), "two manifests, a.toml and b.toml");
}

TEST_F(Conflicts, TwoOutputsAreTwoFiles) {
  std::filesystem::create_directory(file("d"));
  std::filesystem::create_symlink(file("d"), file("link"));
  const auto a = file("d/a");
  for (const auto& other : {a, file("d/./a"), file("d/../d/a"), file("link/a")}) {
    EXPECT_EQ(refused({manifest_, "--cpp", a, "--code", other}), "--cpp and --code are both " + a);
    EXPECT_EQ(refused({manifest_, "--cpp", a, "--depfile", other}),
              "--cpp and --depfile are both " + a);
  }
  EXPECT_EQ(refused({manifest_, "--man", "-", "--markdown", "-"}),
            "--man and --markdown are both -");
}

TEST_F(Conflicts, ADeviceTakesTwoOutputs) {
  EXPECT_EQ(generate_with({manifest_, "--man", "/dev/null", "--markdown", "/dev/null"}).code, 0);
}

TEST_F(Conflicts, NoOutputReplacesWhatIsRead) {
  write("old.toml", kOrders);
  write("t", "");
  std::filesystem::create_hard_link(manifest_, file("same.toml"));
  for (const auto& name : {"orders.toml", "same.toml"}) {
    EXPECT_EQ(refused({manifest_, "--cpp", file(name)}),
              "--cpp " + file(name) + " would replace the manifest");
    EXPECT_EQ(refused({"-migrate", file(name), manifest_}),
              "--migrate " + file(name) + " would replace the manifest");
  }
  EXPECT_EQ(refused({manifest_, "--against", file("old.toml"), "--man", file("old.toml")}),
            "--man " + file("old.toml") + " would replace --against");
  EXPECT_EQ(refused({manifest_, "--man", "-", "--cpp", file("a"), "--depfile", file("t"),
                     "--template", "man=" + file("t")}),
            "--depfile " + file("t") + " would replace --template");
}

TEST_F(Conflicts, ADepfileNeedsAFile) {
  EXPECT_EQ(refused({manifest_, "--man", "-", "--depfile", file("d")}),
            "--depfile: no file depends on anything");
}

TEST_F(Conflicts, PrefixAndNamespaceAreIdentifiers) {
  for (const std::string bad : {"1a", "a-b", "a b", "a::b", "\u00e9"}) {
    EXPECT_EQ(refused({manifest_, "--code", file("a"), "--prefix", bad}),
              "--prefix: '" + bad + "' is not a C identifier");
  }
  for (const std::string bad : {"1a", "a.b", "::a", "a::", "a:::b", "a::class", "int"}) {
    EXPECT_EQ(refused({manifest_, "--cpp", file("a"), "--namespace", bad}),
              "--namespace: '" + bad + "' is not a C++ namespace");
  }
}

TEST_F(Conflicts, ATemplateIsPrintedAlone) {
  using Words = std::vector<std::string>;
  for (const auto& other :
       {Words{manifest_}, Words{"--check"}, Words{"--cpp", file("a")}, Words{"--prefix", "P"}}) {
    auto words = other;
    words.insert(words.end(), {"--print-template", "cpp"});
    EXPECT_EQ(refused(words), "--print-template goes with nothing else");
  }
}

// Known only when the manifest has been read.
TEST_F(Conflicts, TheCallbackIsForProvidersOfUserMode) {
  const std::string kernel = METERBANK_GOOD_MANIFESTS "/kernel_mode.toml";

  EXPECT_EQ(refused({kernel, "--code", file("a"), "-NotificationCallback"}),
            "--notification-callback is for providers of user mode");
}

}  // namespace
}  // namespace meterbank::generator::test
