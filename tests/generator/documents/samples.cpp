// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace meterbank::generator::test {

Manifest good_manifest(const std::string& name) {
  auto manifest = manifest_of_file(fmt::format("{}/{}", METERBANK_GOOD_MANIFESTS, name));
  // A comment that changes in there changes no golden document.
  manifest.hash = 0x0123456789abcdef;
  return manifest;
}

std::vector<std::string> good_manifests() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(METERBANK_GOOD_MANIFESTS)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  EXPECT_GE(names.size(), 5U);
  return names;
}

Manifest manifest_about(std::string_view text) {
  return manifest_of(fmt::format(R"([provider]
name = "odd"
[[counterset]]
name = '''{0}'''
symbol = "odd_set"
help = '''{0}'''
  [[counterset.counter]]
  id = 1
  name = '''{0}'''
  symbol = "odd_counter"
  help = '''{0}'''
)",
                                 text));
}

const std::vector<std::string>& odd_texts() {
  static const std::vector<std::string> kTexts{
      ".TH at the begin of a line",
      "..",
      "'br and 'quotes'",
      "\"double\" quotes",
      R"(\fBfont\fP, \" comment, \n register and C:\new\)",
      "-dash -- in front",
      "`code` and ``code``",
      "caret ^ and tilde ~ and ~~strike~~",
      "a | b || c",
      "<b>bold</b> & &amp; &#65; <!-- comment --> {{provider}}",
      "*stars* _lines_ snake_case __init__",
      "[link](http://example.com) ![image](x)",
      "# heading",
      "+ list",
      "1. list 2) list",
      "> quotation",
      "=== underline",
      "$x$ and $$y$$",
      "gr\u00fc\u00df \u4e2d\u6587 \U0001f600",
  };
  return kTexts;
}

void expect_golden(const std::string& name, const std::string& text) {
  const auto path = fmt::format("{}/{}", METERBANK_GOLDEN, name);
  if (std::getenv("METERBANK_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  EXPECT_EQ(text, text_of_file(path)) << path;
}

}  // namespace meterbank::generator::test
