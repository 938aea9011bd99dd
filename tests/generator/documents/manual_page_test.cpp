// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <fstream>
#include <string>

#include "../../support/temporary_directory.hpp"
#include "generator/output/output.hpp"
#include "samples.hpp"

namespace meterbank::generator::test {
namespace {

std::string made_of(const Manifest& manifest) {
  return manual_page(manifest, {}).value_or("nothing");
}

class ManualPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (groff("") != "") GTEST_SKIP() << "package groff-base is not installed";
  }

  // What groff says and shows of a page, on lines that are long enough for every text.
  [[nodiscard]] std::string groff(const std::string& page) const {
    const auto file = directory_.path() + "/page.7";
    std::ofstream(file, std::ios::binary) << ".ll 500n\n.pl 5000\n" << page;
    const auto call = "groff -man -ww -Tutf8 -rLL=500n -rHY=0 -P-cbou '" + file + "' 2>&1";
    FILE* const pipe = ::popen(call.c_str(), "r");
    std::string shown;
    std::array<char, 4096> buffer;
    while (const auto count = ::fread(buffer.data(), 1, buffer.size(), pipe)) {
      shown.append(buffer.data(), count);
    }
    EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 0) << shown;
    while (shown.ends_with('\n')) shown.pop_back();
    return shown;
  }

 private:
  ::meterbank::test::TemporaryDirectory directory_;
};

// Words by single spaces, as groff stretches them and breaks lines elsewhere.
std::string by_single_spaces(const std::string& text) {
  std::string words;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || (!words.empty() && words.back() != ' ')) words += is_space ? ' ' : c;
  }
  return words;
}

TEST_F(ManualPage, IsWhatAPersonWouldHaveWritten) {
  expect_golden("orders.7", made_of(good_manifest("orders.toml")));
  expect_golden("geometric_waves.7", made_of(good_manifest("geometric_waves.man")));
}

TEST_F(ManualPage, IsTakenByGroffWithoutAWarning) {
  for (const auto& name : good_manifests()) {
    const auto shown = groff(made_of(good_manifest(name)));
    EXPECT_EQ(shown.find("page.7:"), std::string::npos) << shown;
    EXPECT_NE(shown.find("COUNTERSETS"), std::string::npos) << shown;
  }
}

TEST_F(ManualPage, WouldBeWarnedOfARequestThatThereIsNot) {
  EXPECT_NE(groff(".TH X 7\n.Nonsense\n").find("page.7:"), std::string::npos);
}

TEST_F(ManualPage, ShowsEveryTextAsItWasWritten) {
  for (const auto& text : odd_texts()) {
    const auto shown = by_single_spaces(groff(made_of(manifest_about(text))));

    EXPECT_EQ(shown.find("page.7:"), std::string::npos) << shown;
    EXPECT_NE(shown.find("COUNTERSETS " + text + " " + text + " It has"), std::string::npos)
        << text << '\n'
        << shown;
    EXPECT_NE(shown.find("odd_set/odd_counter " + text + " A rate"), std::string::npos) << shown;
    EXPECT_NE(shown.find(R"(\)" + text + R"(\)" + text + ", perf_counter_bulk_count, id 1"),
              std::string::npos)
        << shown;
  }
}

TEST_F(ManualPage, IsAsciiOnLinesThatFitAScreen) {
  for (const auto& text : odd_texts()) {
    std::string longer = text;
    while (longer.size() < 700) longer += " " + text;
    const auto page = made_of(manifest_about(longer));
    std::size_t length = 0;
    bool is_request = false;
    for (const char c : page) {
      EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << page;
      is_request = length == 0 ? c == '.' : is_request;
      length = c == '\n' ? 0 : length + 1;
      EXPECT_TRUE(is_request || length <= 82) << page;
    }
    EXPECT_NE(by_single_spaces(groff(page)).find(" " + longer + " It has"), std::string::npos)
        << page;
  }
}

}  // namespace
}  // namespace meterbank::generator::test
