// SPDX-License-Identifier: Apache-2.0
//
// M83 and M85: the words and forms of values, and what is said of those that have none.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "generator/manifest/vocabulary.hpp"
#include "read_text.hpp"

namespace meterbank::test {
namespace {

using generator::Counter;
using generator::Language;

constexpr std::string_view kRest = R"( uri="u" name="n" detailLevel="standard")";
constexpr std::string_view kType = R"( type="perf_counter_rawcount")";

ReadText xml_id(const std::string& id) {
  return read_text(xml_counter("id=\"" + id + "\"" + std::string(kRest) + std::string(kType)));
}
ReadText xml_type(std::string_view type) {
  return read_text(xml_counter("id=\"1\" type=\"" + std::string(type) + "\"" + std::string(kRest)));
}
ReadText xml_with(const std::string& attributes) {
  return read_text(xml_counter(std::string(kPlainCounter) + " " + attributes));
}
ReadText toml_with(const std::string& keys) {
  return read_text(toml_counter("id = 1\nname = \"n\"\n" + keys));
}
const Counter& counter(const ReadText& read) {
  return read.manifest.value().countersets[0].counters[0];
}

// M83
TEST(ManifestTypes, All38NamesAreTakenInBothLanguages) {
  for (const auto& [type, enumerator] : generator::kTypes) {
    const std::string name(name_of(type));
    EXPECT_EQ(xml_type(name).said(), "");
    EXPECT_EQ(counter(xml_type(name)).type.value, type) << name;
    const std::string brief(generator::short_name_of(type));
    EXPECT_EQ(counter(toml_with("type = \"" + name + "\"")).type.value, type) << name;
    EXPECT_EQ(counter(toml_with("type = \"" + brief + "\"")).type.value, type) << brief;
  }
}

TEST(ManifestTypes, RefusesTypesThatManifestsCannotDeclareByName) {
  EXPECT_EQ(xml_type("perf_counter_nodata").said(),
            "m:7:19: error: type perf_counter_nodata cannot be declared\n"
            "m:7:19: hint: it has no value; leave the counter out\n");
  for (const char* const name :
       {"perf_counter_nodata", "perf_precision_timestamp", "perf_counter_histogram_type"}) {
    EXPECT_NE(xml_type(name).said().find("cannot be declared"), std::string::npos) << name;
    EXPECT_NE(toml_with("type = \"" + std::string(name) + "\"").said().find("cannot be declared"),
              std::string::npos);
  }
}

TEST(ManifestTypes, TheNearestNameIsProposed) {
  const auto hint_of = [](const std::string& said) { return said.substr(said.find("hint: ") + 6); };
  EXPECT_EQ(hint_of(xml_type("perf_counter_bulkcount").said()),
            "did you mean 'perf_counter_bulk_count'?\n");
  EXPECT_EQ(hint_of(xml_type("PERF_AVERAGE_BULK").said()), "did you mean 'perf_average_bulk'?\n");
  EXPECT_EQ(hint_of(xml_type("bulk_count").said()), "did you mean 'perf_counter_bulk_count'?\n");
  EXPECT_EQ(hint_of(toml_with("type = \"bulkcuont\"").said()), "did you mean 'bulk_count'?\n");
  EXPECT_EQ(hint_of(toml_with("type = \"counter_bulk_count\"").said()),
            "did you mean 'bulk_count'?\n");
  EXPECT_EQ(hint_of(toml_with("type = \"Histogram\"").said()), "did you mean 'histogram'?\n");
  EXPECT_EQ(hint_of(toml_with("type = \"elephant\"").said()),
            "such as bulk_count, large_rawcount, average_timer or histogram\n");
}

TEST(ManifestTypes, FormsOfTheirOwnTakeNoOtherForm) {
  for (const char* const type : {"text", "histogram"}) {
    const auto read = toml_with("form = \"signed\"\ntype = \"" + std::string(type) + "\"");
    EXPECT_NE(read.said().find("leave out the key form"), std::string::npos) << read.said();
  }
}

// M85
TEST(ManifestNumbers, AreDecimalOrUpToEightHexadecimalDigits) {
  EXPECT_EQ(counter(xml_id("0")).id.value, 0U);
  EXPECT_EQ(counter(xml_id("4294967295")).id.value, 4294967295U);
  EXPECT_EQ(counter(xml_id("0x1")).id.value, 1U);
  EXPECT_EQ(counter(xml_id("0XaBcDeF01")).id.value, 0xABCDEF01U);
  for (const char* const wrong :
       {"", " 1", "1 ", "+1", "-1", "1.0", "1e3", "x", "0x", "0x123456789", "0xG", "0x-1",
        "4294967296", "99999999999999999999"}) {
    const std::string said = xml_id(wrong).said();
    EXPECT_EQ(said.substr(0, 31 + std::string(wrong).size()),
              "m:7:12: error: id cannot be '" + std::string(wrong) + "'\n")
        << said;
  }
  EXPECT_EQ(counter(toml_with("name_id = 0xFFFF_FFFF")).name_id.value, 4294967295U);
  for (const char* const wrong :
       {"-1", "4294967296", "\"1\"", "1.0", "true", "[1]", "1979-05-27"}) {
    EXPECT_NE(toml_with("name_id = " + std::string(wrong)).said().find("name_id cannot be"),
              std::string::npos)
        << wrong;
  }
}

TEST(ManifestNumbers, AcceptASignInScalesOnly) {
  EXPECT_EQ(counter(xml_with(R"(defaultScale="-10")")).scale.value, -10);
  EXPECT_EQ(counter(xml_with(R"(defaultScale="10")")).scale.value, 10);
  EXPECT_EQ(counter(toml_with("scale = -3")).scale.value, -3);
  for (const char* const wrong : {"--1", "+1", "0x1", "", "-", "2147483648"}) {
    EXPECT_NE(xml_with("defaultScale=\"" + std::string(wrong) + "\"").said(), "") << wrong;
  }
}

TEST(ManifestGuids, HaveBracesInXmlAndMayHaveThemInToml) {
  const std::string guid = "12345678-9abc-DEF0-1234-56789abcdef0";
  const auto in_xml = [](const std::string& text) {
    return read_text(
        with(xml_counter(kPlainCounter), "{00000000-0000-0000-0000-000000000002}", text));
  };
  EXPECT_EQ(in_xml("{" + guid + "}").manifest->countersets[0].guid.value.part3, 0xDEF0);
  EXPECT_EQ(in_xml(guid).said(), "m:6:34: error: guid cannot be '" + guid +
                                     "'\nm:6:34: hint: write it in braces: {" + guid + "}\n");
  for (const std::string& wrong :
       {std::string(), "{" + guid, guid + "}", "{" + guid + "0}", "{" + guid.substr(1) + "}",
        std::string("{g2345678-9abc-def0-1234-56789abcdef0}"),
        std::string("{123456789-abc-def0-1234-56789abcdef0}"),
        std::string("{12345678 9abc def0 1234 56789abcdef0}")}) {
    EXPECT_NE(in_xml(wrong).said().find("guid cannot be"), std::string::npos) << wrong;
  }
  const auto in_toml = [](const std::string& text) {
    return read_text("[provider]\nname='p'\nguid='" + text + "'\n");
  };
  EXPECT_EQ(in_toml(guid).said(), "");
  EXPECT_EQ(in_toml(guid).manifest->provider.guid.value,
            in_toml("{" + guid + "}").manifest->provider.guid.value);
  EXPECT_NE(in_toml(guid + "0").said(), "");
}

TEST(ManifestWords, EveryOneIsTakenAndNoOther) {
  for (const auto& word : generator::kInstanceWords) {
    const auto xml =
        read_text(with(xml_counter(kPlainCounter),
                       "description=", "instances=\"" + std::string(word.xml) + "\" description="));
    EXPECT_EQ(xml.manifest->countersets[0].instances.value, word.value);
    const auto toml =
        read_text(with(toml_counter("id = 1"), "name = \"s\"",
                       "name = \"s\"\ninstances = \"" + std::string(word.toml) + "\""));
    EXPECT_EQ(toml.manifest->countersets[0].instances.value, word.value);
  }
  for (const auto& word : generator::kAggregateWords) {
    EXPECT_EQ(counter(xml_with("aggregate=\"" + std::string(word.xml) + "\"")).aggregate.value,
              word.value);
    EXPECT_EQ(counter(toml_with("aggregate = \"" + std::string(word.toml) + "\"")).aggregate.value,
              word.value);
  }
  EXPECT_EQ(xml_with(R"(aggregate="average")").said(),
            "m:7:88: error: aggregate cannot be 'average'\n"
            "m:7:88: hint: one of sum, avg, min, max, undefined\n");
  EXPECT_NE(toml_with("detail = \"Standard\"").said().find("did you mean 'standard'?"),
            std::string::npos);
  EXPECT_NE(toml_with("form = \"text\"").said().find("one of unsigned, signed, real"),
            std::string::npos);
}

TEST(ManifestWords, AllowEachCounterAttributeOnce) {
  const auto attributes = [](const std::string& words) {
    return read_text(
        xml_counter(kPlainCounter, "<counterAttributes>" + words + "</counterAttributes>"));
  };
  const std::string all =
      R"(<counterAttribute name="reference"/><counterAttribute name="noDisplay"/>)"
      R"(<counterAttribute name="noDigitGrouping"/><counterAttribute name="displayAsReal"/>)"
      R"(<counterAttribute name="displayAsHex"/>)";
  EXPECT_EQ(counter(attributes(all)).attributes.value, 31U);
  EXPECT_NE(attributes(all + all).said().find("attribute 'reference' is given twice"),
            std::string::npos);
  EXPECT_NE(attributes(R"(<counterAttribute name="nodisplay"/>)").said().find("'noDisplay'?"),
            std::string::npos);
  EXPECT_NE(attributes("<counterAttribute/>").said().find("<counterAttribute> without name"),
            std::string::npos);
  EXPECT_EQ(counter(toml_with(R"(attributes = ["no_display", "display_as_hex"])")).attributes.value,
            18U);
  EXPECT_EQ(toml_with(R"(attributes = ["reference", "hex", "reference", 1])").said(),
            "m:8:28: error: unknown attribute 'hex'\n"
            "m:8:28: hint: one of reference, no_display, no_digit_grouping, display_as_real, "
            "display_as_hex\n"
            "m:8:35: error: attribute 'reference' is given twice\n"
            "m:8:35: hint: once is enough\n"
            "m:8:48: error: attributes cannot be 1\n"
            "m:8:48: hint: a text in quotation marks\n");
  EXPECT_NE(toml_with("attributes = \"reference\"").said().find("attributes is a list"),
            std::string::npos);
}

TEST(ManifestWords, RefuseQuotedBooleans) {
  EXPECT_TRUE(counter(toml_with("timed = true")).timed.value);
  EXPECT_EQ(toml_with("timed = \"true\"").said(),
            "m:8:1: error: timed cannot be 'true'\n"
            "m:8:1: hint: write it without quotation marks\n");
  EXPECT_NE(toml_with("timed = 1").said(), "");
}

TEST(ManifestBuckets, AreATableOfNumbers) {
  const auto buckets = [](const std::string& text) {
    return toml_with("type = \"histogram\"\nbuckets = " + text);
  };
  EXPECT_EQ(buckets("{least = 1, most = 2.5}").said(), "");
  EXPECT_EQ(counter(buckets("{least = 1, most = 2.5}")).buckets.value.most, 2.5);
  EXPECT_NE(buckets("3").said().find("buckets is not a table"), std::string::npos);
  EXPECT_NE(buckets("[{least = 1, most = 2}]").said().find("buckets is a table, not a list"),
            std::string::npos);
  EXPECT_NE(buckets("{least = 1}").said().find("buckets without most"), std::string::npos);
  for (const char* const wrong : {"nan", "inf", "-inf", "\"1\"", "true"}) {
    EXPECT_NE(buckets("{least = 1, most = " + std::string(wrong) + "}").said(), "") << wrong;
  }
}

TEST(ManifestValues, AreRepeatedInPartWhereTheyAreLong) {
  const std::string said = xml_id(std::string(63, 'x') + "\u20ac" + std::string(1000, 'x')).said();
  EXPECT_NE(said.find("id cannot be '" + std::string(63, 'x') + "...'"), std::string::npos) << said;
}

}  // namespace
}  // namespace meterbank::test
