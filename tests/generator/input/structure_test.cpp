// SPDX-License-Identifier: Apache-2.0
//
// What must be there, what may be, and what is said of the rest.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "read_text.hpp"

namespace meterbank::test {
namespace {

std::string without(std::string_view attribute) {
  return read_text(with(xml_counter(kPlainCounter), attribute, "")).said();
}

TEST(ManifestStructure, EachNecessaryAttributeIsMissed) {
  EXPECT_EQ(
      without(R"(schemaVersion="1.1")"),
      "m:3:1: error: <counters> without schemaVersion\nm:3:1: hint: add schemaVersion=\"...\"\n");
  EXPECT_EQ(
      without(R"(providerGuid="{00000000-0000-0000-0000-000000000001}")"),
      "m:4:2: error: a provider without providerGuid\nm:4:2: hint: add providerGuid=\"...\"\n");
  EXPECT_EQ(without(R"(applicationIdentity="p.exe")"),
            "m:4:2: error: a provider without applicationIdentity\n"
            "m:4:2: hint: add applicationIdentity=\"...\"\n");
  EXPECT_EQ(without(R"(symbol="S")"),
            "m:6:2: error: a counterset without symbol\nm:6:2: hint: add symbol=\"...\"\n");
  for (const char* const attribute :
       {R"(name="s")", R"(guid="{00000000-0000-0000-0000-000000000002}")", R"(uri="s")",
        R"(description="d")"}) {
    EXPECT_EQ(without(attribute).substr(0, 37),
              "m:6:2: error: a counterset without " + std::string(attribute).substr(0, 2));
  }
  for (const char* const attribute : {R"(id="1")", R"(uri="u")", R"(type="perf_counter_rawcount")",
                                      R"(detailLevel="standard")"}) {
    EXPECT_EQ(without(attribute).substr(0, 34),
              "m:7:3: error: a counter without " + std::string(attribute).substr(0, 2));
  }
  EXPECT_EQ(read_text("[provider]\n[[counterset]]\n[[counterset.counter]]\n").said(),
            "m:1:1: error: a provider without name\nm:1:1: hint: add name = ...\n"
            "m:2:1: error: a counterset without name\nm:2:1: hint: add name = ...\n"
            "m:3:1: error: a counter without id\nm:3:1: hint: add id = ...\n");
}

TEST(ManifestStructure, UnknownNamesAreRefusedWithTheNearestOne) {
  const auto xml = [](const std::string& from, const std::string& to) {
    return read_text(with(xml_counter(kPlainCounter), from, to)).said();
  };
  EXPECT_EQ(xml("detailLevel=", "help='x' detailLevel="),
            "m:7:65: error: a counter has no attribute 'help'\n"
            "m:7:65: hint: did you mean 'description'?\n");
  EXPECT_EQ(xml("detailLevel=", "Aggregate='avg' detailLevel="),
            "m:7:65: error: a counter has no attribute 'Aggregate'\n"
            "m:7:65: hint: did you mean 'aggregate'?\n");
  EXPECT_EQ(xml("</counterSet>", "<Counter/></counterSet>"),
            "m:8:2: error: a counterset has no element <Counter>\n"
            "m:8:2: hint: did you mean 'counter'?\n");
  EXPECT_EQ(xml("</counter>", "<x/></counter>"),
            "m:7:88: error: a counter has no element <x>\n"
            "m:7:88: hint: it can have counterAttributes\n");
  const auto toml = [](const std::string& keys) {
    return read_text(toml_counter("id = 1\n" + keys)).said();
  };
  EXPECT_EQ(toml("detailLevel = 'standard'"),
            "m:7:1: error: a counter has no key 'detailLevel'\n"
            "m:7:1: hint: did you mean 'detail'?\n");
  EXPECT_EQ(toml("unti = 's'"),
            "m:7:1: error: a counter has no key 'unti'\nm:7:1: hint: did you mean 'unit'?\n");
  EXPECT_EQ(toml("[counter_set]"),
            "m:7:1: error: a manifest has no table 'counter_set'\n"
            "m:7:1: hint: did you mean 'counterset'?\n");
}

TEST(ManifestStructure, ThereIsExactlyOneProvider) {
  EXPECT_EQ(read_text("").said(),
            "m:1:1: error: there is no provider\n"
            "m:1:1: hint: a manifest begins with [provider] and its name\n");
  const std::string second =
      read_text(with(xml_counter(kPlainCounter), "</counters>", "<provider/></counters>")).said();
  EXPECT_EQ(second,
            "m:10:1: error: a second provider\n"
            "m:10:1: hint: the first is in line 4; there is one at most\n");
  EXPECT_NE(
      read_text("[[provider]]\nname='a'\n[[provider]]\nname='b'").said().find("a second provider"),
      std::string::npos);
}

TEST(ManifestStructure, TablesAndListsAreNotTakenForEachOther) {
  EXPECT_EQ(read_text("[[provider]]\nname='a'\n").said(),
            "m:1:1: error: provider is a table, not a list\nm:1:1: hint: write [provider]\n");
  EXPECT_EQ(read_text("[provider]\nname='a'\n[counterset]\nname='b'").said(),
            "m:3:1: error: counterset is a list of tables\nm:3:1: hint: write [[counterset]]\n");
  EXPECT_EQ(read_text("counterset=1\n[provider]\nname='a'\n").said(),
            "m:1:1: error: counterset is not a table\n"
            "m:1:1: hint: write [[counterset]] with keys of its own\n");
}

TEST(ManifestStructure, AnythingElseOfInstrumentationIsPassedOver) {
  EXPECT_EQ(
      read_text(with(xml_counter(kPlainCounter), "<counters",
                     "<events><provider name='x'/><nonsense>text</nonsense></events><counters"))
          .said(),
      "");
}

TEST(ManifestStructure, OnlyCountersInTheirNamespaceAreTaken) {
  const std::string text = xml_counter(kPlainCounter);
  EXPECT_EQ(read_text(with(text, "2005/12", "2006/12")).said(),
            "m:3:1: error: <counters> is in another namespace\nm:3:1: hint: it belongs to "
            "xmlns=\"http://schemas.microsoft.com/win/2005/12/counters\"\n");
  EXPECT_NE(read_text(with(text, "2004/08", "2004/09")).said().find("in another namespace"),
            std::string::npos);
  EXPECT_NE(read_text(with(text, "</counterSet>", "<x:counter/></counterSet>"))
                .said()
                .find("<x:counter> is in another namespace"),
            std::string::npos);
  EXPECT_EQ(read_text("<html/>").said().substr(0, 61),
            "m:1:1: error: there is no <instrumentationManifest> here\nm:1:");
}

TEST(ManifestStructure, ForeignAttributesAreNoneOfOurs) {
  EXPECT_EQ(read_text(xml_counter(std::string(kPlainCounter) +
                                  R"( xmlns:note="urn:note" note:owner="someone")"))
                .said(),
            "");
}

TEST(ManifestStructure, SchemaVersionIsOneOfTwo) {
  EXPECT_EQ(read_text(xml_counter(kPlainCounter, "", "1.0")).said(),
            "m:3:69: error: schemaVersion cannot be '1.0'\n"
            "m:3:69: hint: 1.1, or 2.0 where resources have ids\n");
  EXPECT_EQ(read_text(xml_counter(kPlainCounter, "", "2.0")).manifest->schema_version.value, 20U);
}

TEST(ManifestStructure, ADocumentHasAFewThousandCountersAtMost) {
  std::string keys = "id = 1";
  for (int i = 0; i < 5000; ++i) keys += "\n[[counterset.counter]]\nid = 1";
  const ReadText read = read_text(toml_counter(keys));
  EXPECT_NE(read.said().find("more than 4096 counters"), std::string::npos);
  EXPECT_EQ(read.problems.all().size(), 1U);
  EXPECT_EQ(read.manifest->countersets[0].counters.size(), 4096U);
}

}  // namespace
}  // namespace meterbank::test
