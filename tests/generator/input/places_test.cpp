// SPDX-License-Identifier: Apache-2.0
//
// Where things stand: an element at its bracket, a value at the name it is said by.
#include <gtest/gtest.h>

#include <string>

#include "read_text.hpp"

namespace meterbank::test {
namespace {

using generator::Manifest;
using generator::Place;

TEST(ManifestPlaces, PointAtTagsAndAttributeNamesInXml) {
  const ReadText read = read_text(
      xml_counter("\n    id=\"1\"\tname='a&amp;b' uri=\"u\"\n\n  type=\"perf_counter_rawcount\" "
                  "detailLevel=\"standard\""));
  EXPECT_EQ(read.said(), "");
  const Manifest& manifest = read.manifest.value();
  EXPECT_EQ(manifest.schema_version.place, (Place{3, 69}));
  EXPECT_EQ(manifest.provider.place, (Place{4, 2}));
  EXPECT_EQ(manifest.provider.name.place, (Place{4, 12}));
  EXPECT_EQ(manifest.provider.application.place, (Place{5, 3}));
  EXPECT_EQ(manifest.countersets[0].place, (Place{6, 2}));
  const generator::Counter& counter = manifest.countersets[0].counters[0];
  EXPECT_EQ(counter.place, (Place{7, 3}));
  EXPECT_EQ(counter.id.place, (Place{8, 5}));
  EXPECT_EQ(counter.name.place, (Place{8, 12}));
  EXPECT_EQ(counter.uri.place, (Place{8, 27}));
  EXPECT_EQ(counter.type.place, (Place{10, 3}));
}

TEST(ManifestPlaces, PointAtBracketsAndKeysInToml) {
  const ReadText read = read_text(
      "\n[provider]\r\n  name = \"p\" # \u00e4\n[[counterset]]\nname = 's'\n  "
      "[[counterset.counter]]\n"
      "  \"id\" = 1\n  name = \"n\"\n  attributes = [ \"reference\" ]\n"
      "  buckets = {scale = 1, least = 1, most = 2}\n");
  EXPECT_EQ(read.said(), "");
  const Manifest& manifest = read.manifest.value();
  EXPECT_EQ(manifest.provider.place, (Place{2, 1}));
  EXPECT_EQ(manifest.provider.name.place, (Place{3, 3}));
  EXPECT_EQ(manifest.countersets[0].place, (Place{4, 1}));
  const generator::Counter& counter = manifest.countersets[0].counters[0];
  EXPECT_EQ(counter.place, (Place{6, 3}));
  EXPECT_EQ(counter.id.place, (Place{7, 3}));
  EXPECT_EQ(counter.attributes.place, (Place{9, 3}));
  EXPECT_EQ(counter.buckets.place, (Place{10, 3}));
}

TEST(ManifestPlaces, CountColumnsInBytes) {
  EXPECT_EQ(read_text("a = \"\u00e4\u20ac\" x\n").said().substr(0, 7), "m:1:13:");
  const ReadText read =
      read_text(xml_counter("name=\"\u00e4\u20ac\" id=\"x\" uri=\"u\" detailLevel=\"standard\" "
                            "type=\"perf_counter_rawcount\""));
  EXPECT_EQ(read.said().substr(0, 7), "m:7:25:");
}

TEST(ManifestPlaces, CountInTheConvertedTextOfUtf16) {
  std::string wide = "\xFF\xFE";
  for (const char c : xml_counter("id=\"x\" uri=\"u\" name=\"n\" detailLevel=\"standard\" "
                                  "type=\"perf_counter_rawcount\"")) {
    wide.push_back(c);
    wide.push_back('\0');
  }
  EXPECT_EQ(read_text(wide).said().substr(0, 21), "m:7:12: error: id can");
}

}  // namespace
}  // namespace meterbank::test
