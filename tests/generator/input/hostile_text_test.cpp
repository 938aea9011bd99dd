// SPDX-License-Identifier: Apache-2.0
//
// Texts that are no manifests, or that want something else of the parser.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "read_text.hpp"

namespace meterbank::test {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(HostileXml, DocumentTypesAndTheirEntitiesAreRefused) {
  const std::string type = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n";
  EXPECT_EQ(read_text(type + xml_counter(kPlainCounter)).said(),
            "m:1:1: error: a manifest needs no DOCTYPE\n"
            "m:1:1: hint: remove the declaration, and write what its entities stand for\n");
  EXPECT_NE(
      read_text("<?xml version='1.0'?><!-- <!-- --><!DOCTYPE x SYSTEM 'file:///etc/passwd'><x/>")
          .said()
          .find("m:1:35: error: a manifest needs no DOCTYPE"),
      std::string::npos);
  // Inside of a comment it declares nothing.
  EXPECT_EQ(
      read_text(with(xml_counter(kPlainCounter), "<counters", "<!-- <!DOCTYPE x> &y; --><counters"))
          .said(),
      "");
}

TEST(HostileXml, ReferencesStandForCharacters) {
  const auto name = [](const std::string& value) {
    return read_text(
        xml_counter("name=\"" + value +
                    R"(" id="1" uri="u" type="perf_counter_rawcount" detailLevel="standard")"));
  };
  EXPECT_EQ(name("&lt;&#65;&#x42;&apos;&gt;").manifest->countersets[0].counters[0].name.value,
            "<AB'>");
  EXPECT_EQ(
      name("a&b;").said(),
      "m:7:19: error: entity &b; is not defined\n"
      "m:7:19: hint: write what it stands for: a manifest knows &amp; &lt; &gt; &quot; &apos; "
      "only\n");
  for (const char* const none : {"&#0;", "&#xD800;", "&#x110000;", "&#;", "&#x;", "&#1;", "&#-1;",
                                 "&#99999999999;", "&#xFFFF;"}) {
    EXPECT_NE(name(none).said().find(std::string(none) + " is not a character"), std::string::npos)
        << none << name(none).said();
  }
  for (const char* const bare : {"a & b", "a&b", "&", "&;", "& amp;"}) {
    EXPECT_NE(name(bare).said().find("a & that begins no reference"), std::string::npos) << bare;
  }
}

TEST(HostileXml, RefusesTextThatOtherParsersRefuse) {
  const std::string text = xml_counter(kPlainCounter);
  EXPECT_EQ(read_text(with(text, "symbol=\"S\"", "symbol=\"S\" name='t'")).said(),
            "m:6:34: error: attribute name is given twice\nm:6:34: hint: the first is in line 6\n");
  EXPECT_EQ(read_text(with(text, "name=\"s\"", "name=\"s<t\"")).said(),
            "m:6:21: error: a < in the value of name\nm:6:21: hint: write &lt;\n");
  EXPECT_NE(read_text(text + text).said().find("m:13:1: error: a second element"),
            std::string::npos);
  EXPECT_NE(read_text(with(text, "</counter>", "\r\n text</counter>"))
                .said()
                .find("m:8:2: error: text in"),
            std::string::npos);
  EXPECT_NE(read_text("<?xml version='1.0' encoding='Shift_JIS'?>" + text)
                .said()
                .find("encoding 'Shift_JIS' is not read"),
            std::string::npos);
}

TEST(HostileXml, BrokenTextsHaveAPlace) {
  const std::string text = xml_counter(kPlainCounter);
  EXPECT_EQ(read_text(with(text, "</provider>", "</provder>")).said(),
            "m:9:4: error: this tag does not end the element that is open\n"
            "m:9:4: hint: each <name> has its </name>, the last one that began first\n");
  // No beginning of a manifest is one, nor does any make trouble.
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    const ReadText read = read_text(std::string_view(text).substr(0, size));
    ASSERT_FALSE(read.problems.empty()) << size;
    ASSERT_TRUE(read.problems.all()[0].place.is_known()) << size;
  }
}

TEST(HostileXml, DepthAndNumbersHaveLimits) {
  const auto within = [](const std::string& content) {
    return read_text(with(xml_counter(kPlainCounter), "</counters>", content + "</counters>"))
        .said();
  };
  EXPECT_NE(within(repeated("<a>", 10000) + repeated("</a>", 10000))
                .find("more than 16 elements in each"),
            std::string::npos);
  const ReadText many = read_text(
      with(xml_counter(kPlainCounter), "</counters>", repeated("<a/>", 70000) + "</counters>"));
  EXPECT_LT(many.problems.all().size(), 66000U);
  EXPECT_TRUE(std::ranges::any_of(many.problems.all(), [](const generator::Problem& problem) {
    return problem.what == "more than 65536 elements";
  }));
  std::string attributes;
  for (int i = 0; i < 100; ++i) attributes += " xmlns:a" + std::to_string(i) + "='x'";
  EXPECT_NE(within("<a" + attributes + "/>").find("<a> has more than 64 attributes"),
            std::string::npos);
  EXPECT_NE(read_text(repeated("<a>", 1000000)).said(), "");
}

TEST(HostileToml, BrokenTextsHaveAPlace) {
  EXPECT_EQ(read_text("[provider]\nname = p").said().substr(0, 13), "m:2:8: error:");
  EXPECT_EQ(read_text("[provider]\nname = 'p'\nname = 'q'\n").said(),
            "m:3:8: error: cannot redefine existing string 'name'\n"
            "m:3:8: hint: a key and a table stand once; tables that repeat have double brackets\n");
  const std::string text = good_manifest("orders.toml");
  for (std::size_t size = 0; size < text.size(); size += 3) {
    const ReadText read = read_text(std::string_view(text).substr(0, size));
    for (const auto& problem : read.problems.all()) ASSERT_TRUE(problem.place.is_known()) << size;
  }
}

// toml++ takes for granted that neither comes to pass: see tomlplusplus.hpp.
TEST(HostileToml, RefusesCharactersThatCannotBeginAKey) {
  EXPECT_EQ(read_text("[?").said().substr(0, 60),
            "m:1:2: error: expected bare key starting character or string");
  for (const char* const text : {"\u00e4 = 1", "[\u00e4]", "a\u00e4 = 1", "a = 1 \u00e4",
                                 "a = \u00e4", "a = [\u00e4]", "a = \"\"\"\\\u00e4\"\"\""}) {
    EXPECT_NE(read_text(text).said(), "") << text;
    EXPECT_FALSE(read_text(text).manifest.has_value()) << text;
  }
}

TEST(HostileToml, DepthHasALimit) {
  EXPECT_NE(
      read_text("a = " + repeated("[", 100000)).said().find("more than 16 values in each other"),
      std::string::npos);
  EXPECT_NE(read_text(repeated("{a=", 100000)).said(), "");
  EXPECT_NE(read_text("a = " + repeated("{a = ", 100000)).said().find("more than 16 values"),
            std::string::npos);
}

TEST(HostileToml, DottedKeysHaveALimitWhereverTheyHide) {
  const std::string dots = "b" + repeated(".b", 1000000);
  const std::string_view expected = "a key of more than 16 parts";
  for (const std::string& before :
       {std::string(), std::string("["), std::string("[["), std::string("a = {"),
        std::string("a = \"#\"\n"), std::string("# '''\n"), std::string("a = '''x''''' # \"\"\"\n"),
        std::string("a = \"\"\"\\\"\"\"\"\"\"\n"), std::string("a = '\\'\n"),
        std::string("a = \"\\\"\"\n"), std::string("\"\".'' . "), std::string("a = ''\n")}) {
    const std::string said = read_text(before + dots + " = 1\n").said();
    EXPECT_NE(said.find(expected), std::string::npos) << before << said;
  }
  EXPECT_EQ(read_text("# " + dots + "\n[provider]\nname = '" + dots.substr(0, 999) + "'\n").said(),
            "");
}

TEST(HostileText, ByteOrderMarksAndUtf16AreRead) {
  const std::string text = xml_counter(kPlainCounter);
  std::string little;
  std::string big;
  for (const char c : text) {
    little.append({c, '\0'});
    big.append({'\0', c});
  }
  for (const std::string& each : {"\xEF\xBB\xBF" + text, little, big, "\xFF\xFE" + little,
                                  "\xFE\xFF" + big, "\xEF\xBB\xBF" + toml_counter("id = 1")}) {
    const ReadText read = read_text(each);
    EXPECT_EQ(read.said(), "");
    ASSERT_TRUE(read.manifest.has_value());
    EXPECT_EQ(read.manifest->countersets.size(), 1U);
  }
  EXPECT_NE(read_text(little + "x").said().find("half a character"), std::string::npos);
  EXPECT_EQ(read_text(std::string("\xFF\xFE<\0\x00\xD8>\0", 8)).said().substr(0, 31),
            "m:1:2: error: half a character:");
  EXPECT_EQ(read_text(std::string("\xFF\xFE\x3D\xD8\x00\xDE", 6)).said().substr(0, 8), "m:1:1: e");
}

TEST(HostileText, TheFirstByteThatIsNoTextIsNamed) {
  EXPECT_EQ(read_text("a = 1\nb = \"\xC3\x28\"\n").said(),
            "m:2:6: error: byte 0xc3 is not UTF-8\nm:2:6: hint: save the file as UTF-8\n");
  for (const std::string_view bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_NE(read_text("x" + std::string(bytes)).said().find("m:1:2: error: byte"),
              std::string::npos);
  }
  EXPECT_EQ(read_text(std::string("[provider]\nname = \"p\0\"", 22)).said(),
            "m:2:10: error: control character U+0000\n"
            "m:2:10: hint: remove it: the file must be plain text\n");
  EXPECT_NE(read_text("a = '\x1B[2J'").said().find("U+001B"), std::string::npos);
  EXPECT_EQ(read_text("[provider]\nname = \"\uFFFD\U0001F600\"\n").said(), "");
}

TEST(HostileText, TooMuchOfItIsRefusedUnread) {
  const std::string much(generator::kManifestBytesMax + 1, '<');
  EXPECT_EQ(read_text(much).said().substr(0, 35), "m:1:1: error: more than 4194304 byt");
  EXPECT_NE(read_text(std::string(generator::kManifestBytesMax, '#')).said().find("no provider"),
            std::string::npos);
}

}  // namespace
}  // namespace meterbank::test
