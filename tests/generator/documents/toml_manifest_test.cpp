// SPDX-License-Identifier: Apache-2.0
//
// --migrate: the same manifest in TOML.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "generator/input/load.hpp"
#include "generator/output/output.hpp"
#include "model_text.hpp"
#include "samples.hpp"

namespace meterbank::generator::test {
namespace {

std::string migrated(const Manifest& manifest) {
  return toml_manifest(manifest, {}).value_or("nothing");
}

TEST(TomlManifest, SaysAllThatTheOriginalSaid) {
  for (const auto& name : good_manifests()) {
    const auto original = good_manifest(name);

    EXPECT_EQ(model_text(manifest_of(migrated(original))), model_text(original)) << name;
  }
}

// The control of the test above: were a key not written, or not compared, its line would change
// nothing.
TEST(TomlManifest, HasNoLineThatSaysNothing) {
  for (const std::string name : {"everything.toml", "everything.man"}) {
    const auto whole = migrated(good_manifest(name));
    const auto meaning = model_text(manifest_of(whole));
    std::size_t begin = 0, lines = 0;
    while (begin < whole.size()) {
      const auto end = whole.find('\n', begin) + 1;
      const auto line = whole.substr(begin, end - begin);
      if (line != "\n") {
        auto without = whole;
        without.erase(begin, end - begin);
        Problems problems;
        const auto manifest = parse_manifest(without, "without.toml", problems);
        EXPECT_TRUE(!manifest || !problems.empty() || model_text(*manifest) != meaning) << line;
        ++lines;
      }
      begin = end;
    }
    EXPECT_GT(lines, 50U);
  }
}

TEST(TomlManifest, KeepsEveryTextAsItIs) {
  for (const auto& text : odd_texts()) {
    const auto again = manifest_of(migrated(manifest_about(text)));

    EXPECT_EQ(again.countersets[0].name.value, text);
    EXPECT_EQ(again.countersets[0].counters[0].help.value, text);
  }
}

TEST(TomlManifest, KeepsNumbersToTheLastBit) {
  const auto manifest = manifest_of(R"([provider]
name = "numbers"
[[counterset]]
name = "Numbers"
  [[counterset.counter]]
  id = 1
  name = "Latency"
  type = "histogram"
  buckets = { scale = 8, least = 0.1000000000000000055, most = 1e+1 }
)");

  const auto text = migrated(manifest);

  EXPECT_NE(text.find("buckets = { scale = 8, least = 0.1, most = 10.0 }"), std::string::npos);
  EXPECT_EQ(model_text(manifest_of(text)), model_text(manifest));
}

TEST(TomlManifest, ChangesNothingTheSecondTime) {
  for (const auto& name : good_manifests()) {
    const auto once = migrated(good_manifest(name));

    EXPECT_EQ(migrated(manifest_of(once)), once) << name;
  }
}

TEST(TomlManifest, IsWhatAPersonWouldHaveWritten) {
  expect_golden("geometric_waves.toml", migrated(good_manifest("geometric_waves.man")));
}

}  // namespace
}  // namespace meterbank::generator::test
