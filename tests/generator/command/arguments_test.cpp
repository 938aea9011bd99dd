// SPDX-License-Identifier: Apache-2.0
#include "generator/command/arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "generator/output/built_in.hpp"

namespace meterbank::generator {
namespace {

using Words = std::vector<std::string>;

Request request_of(const Words& words) {
  const auto request = parse_arguments(words);
  EXPECT_TRUE(request) << request.error().message();
  return request.value_or(Request{});
}

std::string refusal_of(const Words& words) {
  const auto request = parse_arguments(words);
  if (request) return "none";
  EXPECT_EQ(request.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(request.error().remedy.empty()) << request.error().what;
  return request.error().what;
}

// "code=a symbols=b"
std::string files_of(const Request& request) {
  std::string text;
  for (const auto& file : request.files) {
    text += (text.empty() ? "" : " ") + std::string(file.output->name) + "=" + file.path;
  }
  return text;
}

TEST(Arguments, NameAFileForEachOutput) {
  const auto request =
      request_of({"m.toml", "--cpp", "a", "--code=b", "--symbols", "c", "--resources", "d", "--man",
                  "e", "--markdown", "-", "--rules", "f", "--dashboard", "g"});

  EXPECT_EQ(request.manifest, "m.toml");
  EXPECT_EQ(files_of(request),
            "cpp=a code=b symbols=c resources=d man=e markdown=- rules=f dashboard=g");
}

TEST(Arguments, ChooseTheSetsAndNamesOfRulesAndDashboards) {
  const auto request = request_of(
      {"m.toml", "--rules", "-", "--set", "demo_*", "--set=Shop", "--metric-prefix", "acme_"});

  EXPECT_EQ(request.options.sets, (std::vector<std::string>{"demo_*", "Shop"}));
  EXPECT_EQ(request.options.metric_prefix, "acme_");
  for (const std::string prefix : {"Acme_", "1x", "a-b", "_x"}) {
    EXPECT_EQ(refusal_of({"m.toml", "--rules", "-", "--metric-prefix", prefix}),
              "invalid --metric-prefix: " + prefix);
  }
  EXPECT_EQ(refusal_of({"m.toml", "--rules", "-", "--set", "--check"}), "--set needs a value");
  EXPECT_EQ(refusal_of({"m.toml", "--rules", "-", "--template", "rules=x"}),
            "--template: no output 'rules'");
}

TEST(Arguments, TakeTheSpellingOfWindowsInAnyCase) {
  const auto request = request_of({"kcs.man", "-O", "kcs.h", "-cH", "names.h", "-RC", "kcs.rc",
                                   "-Prefix", "Kcs", "-notificationCALLBACK"});

  EXPECT_EQ(files_of(request), "code=kcs.h symbols=names.h resources=kcs.rc");
  EXPECT_EQ(request.options.prefix, "Kcs");
  EXPECT_TRUE(request.options.notification_callback);
  EXPECT_TRUE(request.remarks.empty());
}

TEST(Arguments, TakeMemoryRoutinesForTheCallback) {
  EXPECT_TRUE(request_of({"m", "-o", "a", "-MemoryRoutines"}).options.notification_callback);
}

TEST(Arguments, MigrateInTheOrderOfWindows) {
  for (const auto& words :
       {Words{"-migrate", "out.toml", "in.man"}, Words{"in.man", "--migrate", "out.toml"}}) {
    const auto request = request_of(words);
    EXPECT_EQ(request.manifest, "in.man");
    EXPECT_EQ(files_of(request), "migrate=out.toml");
  }
}

TEST(Arguments, RemarkThatBackcompatHasNoEffect) {
  const auto request = request_of({"kcs.man", "-o", "kcs.h", "-backCompat"});

  ASSERT_EQ(request.remarks.size(), 1U);
  EXPECT_NE(request.remarks[0].find("-backCompat has no effect"), std::string::npos);
}

TEST(Arguments, RefuseByNameWhatIsNotDoneHere) {
  for (const auto& words : {Words{"m", "-legacy"}, Words{"m", "-LEGACY", "-o", "a"},
                            Words{"m", "-sumPath", "x"}, Words{"m", "-summary", "x"}}) {
    EXPECT_TRUE(refusal_of(words).starts_with(words[1] + ": ")) << words[1];
  }
}

TEST(Arguments, KeepTheOtherOptions) {
  const auto request =
      request_of({"m.toml", "--cpp", "a", "--namespace", "shop::orders", "--depfile", "a.d",
                  "--against", "old.toml", "--template", "cpp=t", "--template", "man=u=v"});

  EXPECT_EQ(request.options.name_space, "shop::orders");
  EXPECT_EQ(request.depfile, "a.d");
  EXPECT_EQ(request.against, "old.toml");
  EXPECT_EQ(request.templates.at("cpp"), "t");
  EXPECT_EQ(request.templates.at("man"), "u=v");
}

TEST(Arguments, EndOptionsAtTwoDashes) {
  EXPECT_EQ(request_of({"--check", "--", "-o"}).manifest, "-o");
}

TEST(Arguments, TakeADashForStandardInput) {
  EXPECT_EQ(request_of({"-", "--check"}).manifest, "-");
}

TEST(Arguments, AskForHelpOrTheVersionWithoutAManifest) {
  for (const char* word : {"--help", "-h", "-H", "-?"}) {
    EXPECT_EQ(request_of({word}).task, Task::kHelp) << word;
  }
  EXPECT_EQ(request_of({"--version"}).task, Task::kVersion);
  EXPECT_EQ(request_of({"--print-template", "cpp"}).task, Task::kPrintTemplate);
}

TEST(Arguments, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(refusal_of({"m", "--cppp", "a"}), "no option '--cppp'");
  EXPECT_EQ(refusal_of({"m", "--hpp=a"}), "no option '--hpp'");
  EXPECT_EQ(refusal_of({"m", "-x"}), "no option '-x'");
  EXPECT_EQ(refusal_of({"m", "-cpp", "a"}), "no option '-cpp'");
}

TEST(Arguments, RefuseAnOptionWithoutItsValue) {
  EXPECT_EQ(refusal_of({"m", "--cpp"}), "--cpp needs a value");
  EXPECT_EQ(refusal_of({"m", "-o", "-rc", "a"}), "--code needs a value");
  EXPECT_EQ(refusal_of({"m", "--cpp", ""}), "--cpp is empty");
  EXPECT_EQ(refusal_of({"m", "--cpp="}), "--cpp needs a value");
}

TEST(Arguments, RefuseAnOptionThatIsThereTwice) {
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--cpp", "b"}), "--cpp is there 2 times");
  EXPECT_EQ(refusal_of({"m", "-o", "a", "--code", "b"}), "--code is there 2 times");
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "-prefix", "a", "--prefix", "b"}),
            "--prefix is there 2 times");
}

TEST(Arguments, RefuseATemplateOfNoOutput) {
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--template", "code_user=t"}),
            "--template: no output 'code_user'");
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--template", "migrate=t"}),
            "--template: no output 'migrate'");
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--template", "cpp"}), "--template cpp: no file");
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--template", "cpp="}), "--template cpp=: no file");
  EXPECT_EQ(refusal_of({"m", "--cpp", "a", "--template", "cpp=t", "--template", "cpp=u"}),
            "--template: two for cpp");
}

TEST(Arguments, AreAllInTheHelp) {
  for (const auto& output : kOutputs) {
    EXPECT_NE(help_text().find("  --" + std::string(output.name) + " "), std::string_view::npos);
  }
  for (const auto& each : built_in_templates()) {
    EXPECT_NE(help_text().find(each.name), std::string_view::npos) << each.name;
  }
  for (const char* option : {"--check", "--against", "--namespace", "--prefix", "--depfile",
                             "--notification-callback", "--template", "--print-template"}) {
    EXPECT_NE(help_text().find("\n  " + std::string(option)), std::string_view::npos) << option;
  }
}

}  // namespace
}  // namespace meterbank::generator
