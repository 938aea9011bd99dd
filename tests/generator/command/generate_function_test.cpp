// SPDX-License-Identifier: Apache-2.0
//
// meterbank_generate() in a project of a user's, with the build tools that people have.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../support/temporary_directory.hpp"
#include "shell.hpp"

namespace meterbank::generator::test {
namespace {

class MeterbankGenerate : public ::testing::TestWithParam<const char*> {
 protected:
  MeterbankGenerate() { std::filesystem::copy(METERBANK_PROJECT, source_); }

  void SetUp() override {
    const std::string tool = GetParam() == std::string("Ninja") ? "ninja" : "make";
    if (shell(tool + " --version").code != 0) GTEST_SKIP() << tool << " is not installed";
    const auto configured = configure("");
    ASSERT_EQ(configured.code, 0) << configured.text;
  }

  [[nodiscard]] Shown configure(const std::string& options) const {
    return shell(METERBANK_CMAKE " -S '" + source_ + "' -B '" + build_ + "' -G '" + GetParam() +
                 "' -DMETERBANK_MODULE=" METERBANK_MODULE " -DMETERBANK_GENERATOR=" METERBANK_GEN +
                 " " + options);
  }
  [[nodiscard]] Shown build() const { return shell(METERBANK_CMAKE " --build '" + build_ + "'"); }
  [[nodiscard]] std::string printed() const { return shell("'" + build_ + "/orders'").text; }

  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    auto text = read(source_ + "/" + name);
    const auto place = text.find(from);
    ASSERT_NE(place, std::string::npos);
    std::ofstream(source_ + "/" + name) << text.replace(place, from.size(), to);
  }
  [[nodiscard]] static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  ::meterbank::test::TemporaryDirectory directory_;

 protected:
  // Of names with a space, which escapes in depfiles are for. CMake itself fails at $.
  const std::string source_ = directory_.path() + "/the source";
  const std::string build_ = directory_.path() + "/the build";
};

TEST_P(MeterbankGenerate, MakesEveryOutputByItsName) {
  ASSERT_EQ(build().code, 0);

  for (const char* name : {"orders.hpp", "orders_counters.h", "orders_symbols.h", "orders.rc",
                           "orders.7", "README.md", "orders.rules.yml", "orders.dashboard.json"}) {
    EXPECT_TRUE(std::filesystem::exists(build_ + "/documents/" + name)) << name;
  }
  EXPECT_NE(read(build_ + "/documents/orders.hpp").find("namespace shop"), std::string::npos);
  EXPECT_NE(read(build_ + "/documents/orders_counters.h").find("ShopCounter"), std::string::npos);
  EXPECT_EQ(printed(), "Accepted/sec\n");
}

TEST_P(MeterbankGenerate, MakesAgainWhatAChangeIsIn) {
  ASSERT_EQ(build().code, 0);

  replace("orders.toml", "Accepted/sec", "Refused/sec");
  ASSERT_EQ(build().code, 0);
  EXPECT_EQ(printed(), "Refused/sec\n");

  replace("names.mustache", "{{name}}", "{{kind}}");
  ASSERT_EQ(build().code, 0);
  EXPECT_EQ(printed(), "rate\n");
}

TEST_P(MeterbankGenerate, MakesNothingIfNothingChanged) {
  ASSERT_TRUE(build().has("Generating code of orders.toml"));

  const auto again = build();

  EXPECT_EQ(again.code, 0);
  EXPECT_FALSE(again.has("Generating")) << again.text;
  EXPECT_FALSE(again.has("Building")) << again.text;
}

TEST_P(MeterbankGenerate, SettlesAfterAChangeThatChangesNoOutput) {
  ASSERT_EQ(build().code, 0);
  std::ofstream(source_ + "/orders.toml", std::ios::app).flush();
  std::filesystem::last_write_time(source_ + "/orders.toml",
                                   std::filesystem::file_time_type::clock::now());
  ASSERT_TRUE(build().has("Generating"));

  EXPECT_FALSE(build().has("Generating"));
}

TEST_P(MeterbankGenerate, StopsAtABadManifestAndKeepsTheOldFiles) {
  ASSERT_EQ(build().code, 0);
  const auto header = read(build_ + "/generated/orders_names.h");
  replace("orders.toml", "id = 1", "id = -1");

  const auto stopped = build();

  EXPECT_NE(stopped.code, 0);
  EXPECT_TRUE(stopped.has("orders.toml:12:")) << stopped.text;
  EXPECT_EQ(read(build_ + "/generated/orders_names.h"), header);
  replace("orders.toml", "id = -1", "id = 2");
  EXPECT_EQ(build().code, 0);
}

TEST_P(MeterbankGenerate, RefusesArgumentsThatItDoesNotUnderstand) {
  replace("CMakeLists.txt", "resources man", "resource man");
  EXPECT_TRUE(configure("").has("no output 'resource'"));
  replace("CMakeLists.txt", "resource man", "man");
  replace("CMakeLists.txt", "TARGET names", "TARGET missing");
  EXPECT_TRUE(configure("").has("TARGET 'missing' is not a target"));
  replace("CMakeLists.txt", "TARGET missing", "TARGET names NAMESPACES x");
  EXPECT_TRUE(configure("").has("what is meant by NAMESPACES"));
}

INSTANTIATE_TEST_SUITE_P(With, MeterbankGenerate, ::testing::Values("Ninja", "Unix Makefiles"),
                         [](const auto& each) { return each.index == 0 ? "Ninja" : "Make"; });

}  // namespace
}  // namespace meterbank::generator::test
