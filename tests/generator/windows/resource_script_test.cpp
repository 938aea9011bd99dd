// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "written_files.hpp"

namespace meterbank::generator {
namespace {

Manifest small_manifest() {
  return manifest_of(R"([provider]
name = "p"
[[counterset]]
name = "Set"
help = "It has \"quotes\", a \\ and ü, \u202E turned."
[[counterset.counter]]
id = 1
name = "One"
[[counterset.counter]]
id = 2
name = "Two"
help = "Help."
)");
}

std::string table_of(const std::string& script) {
  const std::size_t begin = script.find("BEGIN\n") + 6;
  return script.substr(begin, script.find("END\n") - begin);
}

TEST(ResourceScript, CountsFromOneAndEscapesWhatItsLanguageWouldTakeForItsOwn) {
  EXPECT_EQ(table_of(text_of(resource_script(small_manifest(), {}))),
            R"(  1, L"Set"
  2, L"It has ""quotes"", a \\ and ü, \x202e turned."
  3, L"One"
  4, L"Two"
  5, L"Help."
)");
}

TEST(ResourceScript, CountsFromTheResourceBase) {
  Manifest manifest = small_manifest();
  manifest.provider.resource_base = {100, {1, 1}};
  EXPECT_EQ(table_of(text_of(resource_script(manifest, {}))).substr(0, 13), "  100, L\"Set\"");
}

TEST(ResourceScript, KeepsTheIdsThatTheManifestSaysAndCountsAroundThem) {
  Manifest manifest = small_manifest();
  manifest.countersets[0].counters[0].name_id = {2, {1, 1}};
  manifest.countersets[0].counters[1].name_id = {3000, {1, 1}};
  manifest.countersets[0].help.value = "Help of the set.";
  EXPECT_EQ(table_of(text_of(resource_script(manifest, {}))),
            "  1, L\"Set\"\n  2, L\"One\"\n  3, L\"Help of the set.\"\n  4, L\"Help.\"\n"
            "  3000, L\"Two\"\n");
}

TEST(ResourceScript, GivesOneIdOneText) {
  Manifest manifest = small_manifest();
  manifest.countersets[0].counters[0].name_id = {7, {1, 1}};
  manifest.countersets[0].counters[1].name_id = {7, {1, 1}};
  const auto refused = resource_script(manifest, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "resource 7 is two texts: 'One' and 'Two'");
  manifest.countersets[0].counters[1].name.value = "One";
  EXPECT_TRUE(resource_script(manifest, {}));
}

TEST(ResourceScript, RefusesIdsOfMoreThanSixteenBits) {
  Manifest manifest = small_manifest();
  manifest.provider.resource_base = {0xfffe, {1, 1}};
  EXPECT_FALSE(resource_script(manifest, {}));
  manifest.provider.resource_base = {0xfffb, {1, 1}};
  EXPECT_TRUE(resource_script(manifest, {}));
  manifest.provider.resource_base = {0xffffffff, {1, 1}};
  EXPECT_FALSE(resource_script(manifest, {}));
}

TEST(ResourceScript, IsTakenByAResourceCompiler) {
  if (*METERBANK_RESOURCE_COMPILER == '\0') GTEST_SKIP() << "no llvm-rc";
  WrittenFiles files;
  files.write("small.rc", text_of(resource_script(small_manifest(), {})));
  files.write("every.rc", text_of(resource_script(good_manifest("everything.man"), {})));
  files.write("broken.rc", "STRINGTABLE\nBEGIN\n  1, L\"\n");
  for (const char* const name : {"small.rc", "every.rc"}) {
    const Outcome outcome = files.compile_resources(name);
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
  EXPECT_FALSE(files.compile_resources("broken.rc").is_good);
}

}  // namespace
}  // namespace meterbank::generator
