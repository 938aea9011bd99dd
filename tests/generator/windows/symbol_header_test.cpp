// SPDX-License-Identifier: Apache-2.0
//
// Symbol headers: row M89 of the checklist.
#include <gtest/gtest.h>

#include "written_files.hpp"

namespace meterbank::generator {
namespace {

constexpr std::string_view kConsumer = R"(#include "symbols.h"
#define MY_LOAVES 1
#define MY_BAKING_TIME 3
#define MY_CUSTOMERS 16
static_assert(OvenLoaves == MY_LOAVES && OvenBakingTime == MY_BAKING_TIME, "hard-coded");
static_assert(ShopCustomers == MY_CUSTOMERS, "hard-coded");
static_assert(sizeof(OvensName) == sizeof(L"Bakery Ovens"), "hard-coded");
#if defined(__cplusplus)
static_assert(OvensGuid.Data1 == 0xe8a1c4d7 && OvensGuid.Data4[7] == 0x58, "hard-coded");
#endif
const GUID* used[] = {&OvensGuid, &ShopGUID};
)";

// M89
TEST(SymbolHeader, CompilesAloneAndHasTheIdsThatConsumersHardCoded) {
  WrittenFiles files;
  files.write("symbols.h", text_of(symbol_header(good_manifest("user_mode.man"), {})));
  files.write("consumer.c", kConsumer);
  for (const Outcome& outcome : files.compile("consumer.c")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
}

TEST(SymbolHeader, WithAnotherIdDoesNotCompileForConsumers) {
  Manifest manifest = good_manifest("user_mode.man");
  manifest.countersets.at(1).counters.at(0).id.value = 17;
  WrittenFiles files;
  files.write("symbols.h", text_of(symbol_header(manifest, {})));
  files.write("consumer.c", kConsumer);
  for (const Outcome& outcome : files.compile("consumer.c", {}, "c")) {
    EXPECT_FALSE(outcome.is_good);
  }
}

TEST(SymbolHeader, IsMadeOfEveryGoodManifest) {
  WrittenFiles files;
  std::string all;
  for (const char* const file : {"everything.man", "everything.toml", "geometric_waves.man",
                                 "kernel_mode.toml", "minimal.toml", "orders.toml"}) {
    const std::string prefix(1, static_cast<char>('A' + all.size() % 26));
    const std::string name = std::string(file) + ".h";
    files.write(name, text_of(symbol_header(good_manifest(file), with_prefix(prefix))));
    all += "#include \"" + name + "\"\n";
  }
  files.write("all.c", all);
  for (const Outcome& outcome : files.compile("all.c")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
}

}  // namespace
}  // namespace meterbank::generator
