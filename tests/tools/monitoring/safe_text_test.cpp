// SPDX-License-Identifier: Apache-2.0
#include "monitoring/safe_text.hpp"

#include <gtest/gtest.h>

namespace meterbank::monitoring {
namespace {

TEST(YamlQuoted, EscapesWhatEndsFoldsOrHides) {
  EXPECT_EQ(yaml_quoted("plain: # ü"), "\"plain: # ü\"");
  EXPECT_EQ(yaml_quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(yaml_quoted("a\nb\tc"), R"("a\nb\u0009c")");
  EXPECT_EQ(yaml_quoted("\u0085\u2028\ufeff\u202e"), R"("\u0085\u2028\uFEFF\u202E")");
  EXPECT_EQ(yaml_quoted("\U000e0001"), R"("\U000E0001")");
  EXPECT_EQ(yaml_quoted("\xff"), R"("\uFFFD")");
}

TEST(TemplateText, BeginsNoAction) {
  EXPECT_EQ(template_text("a } b $labels"), "a } b $labels");
  EXPECT_EQ(template_text("{{ x }}"), R"({{"{"}}{{"{"}} x }})");
  // Together with what follows, too.
  EXPECT_EQ(template_text("{") + "{{ $value }}", R"({{"{"}}{{ $value }})");
}

TEST(GrafanaText, HasNoVariables) {
  const std::string joiner = "\u2060";
  EXPECT_EQ(grafana_text("5 [items]"), "5 [items]");
  EXPECT_EQ(grafana_text("$provider ${x}"), "$" + joiner + "provider $" + joiner + "{x}");
  EXPECT_EQ(grafana_text("[[[x]]"), "[" + joiner + "[" + joiner + "[x]]");
}

}  // namespace
}  // namespace meterbank::monitoring
