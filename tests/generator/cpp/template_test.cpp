// SPDX-License-Identifier: Apache-2.0
//
// Templates, built in and of the user's.
#include "generator/output/render.hpp"

#include "../loaded.hpp"

namespace meterbank::generator {
namespace {

using kainjow::mustache::data;
using test::contains;

std::string rendered(const std::string& text, const data& values) {
  OutputOptions options;
  options.templates["cpp"] = text;
  const auto page = render("cpp", values, options);
  EXPECT_TRUE(page) << page.error().message();
  return page.value_or("");
}

std::string refused(const std::string& text) {
  OutputOptions options;
  options.templates["cpp"] = text;
  const auto page = render("cpp", data(), options);
  EXPECT_FALSE(page);
  return page ? "" : page.error().what;
}

TEST(Template, EachOutputHasABuiltInOne) {
  for (const std::string_view name :
       {"cpp", "code_kernel", "code_user", "symbols", "resources", "man", "markdown"}) {
    ASSERT_TRUE(built_in_template(name)) << name;
    EXPECT_GT(built_in_template(name)->size(), 100U) << name;
  }
  EXPECT_FALSE(built_in_template("cpp_"));
  EXPECT_FALSE(render("nothing", data(), {}));
}

TEST(Template, LinesOfTagsLeaveNoTrace) {
  data values;
  values.set("yes", data(true));
  values.set("no", data(false));
  const std::string text =
      "{{! about }}\na\n{{#yes}}\nb\n{{/yes}}\n\n{{#no}}\nc\n{{/no}}\n"
      "  {{^no}}\n  d\n{{/no}}{{#yes}}\ne\n{{/yes}}\n";
  EXPECT_EQ(rendered(text, values), "a\nb\n\n  d\ne\n");
}

TEST(Template, ValuesAreNeitherEscapedNorRead) {
  data values;
  values.set("text", "<&\"'> {{#x}} {{>text}} {{{");
  EXPECT_EQ(rendered("{{text}}|{{{text}}}|{{&text}}|{{>text}}|{{unknown}}\n", values),
            "<&\"'> {{#x}} {{>text}} {{{|<&\"'> {{#x}} {{>text}} {{{|<&\"'> {{#x}} {{>text}} "
            "{{{||\n");
}

TEST(Template, ABrokenOneIsRefusedWithItsLine) {
  EXPECT_TRUE(contains(refused("a\nb {{name\n"), "line 2: Unclosed tag")) << refused("a\n{{name");
  EXPECT_TRUE(contains(refused("a\n\n{{#section}}\n"), "line 3: Unclosed section \"section\""));
  EXPECT_TRUE(contains(refused("{{/section}}"), "line 1: Unopened section \"section\""));
  EXPECT_TRUE(contains(refused("{{=a}}"), "line 1: Invalid set delimiter"));
  for (const char* text : {"{{", "{{{", "a\n{{", "{{#", "{{=", "{{= =}}", "{{#a}}{{/b}}"}) {
    EXPECT_FALSE(refused(text).empty()) << text;
  }
}

TEST(Template, OneOfTheUsersMakesTheHeader) {
  OutputOptions options;
  options.templates["cpp"] =
      "{{#countersets}}\n{{registration}}:{{#counters}} {{enumerator}}{{/counters}}\n"
      "{{/countersets}}\n";
  const auto page = cpp_header(test::manifest_with(""), options);
  ASSERT_TRUE(page);
  EXPECT_EQ(*page, "Set: kOne\n");
}

}  // namespace
}  // namespace meterbank::generator
