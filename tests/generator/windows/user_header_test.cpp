// SPDX-License-Identifier: Apache-2.0
//
// User-mode headers: rows M88 and M90 of the checklist.
#include <gtest/gtest.h>

#include "written_files.hpp"

namespace meterbank::generator {
namespace {

// A program with two providers of one manifest, which also consumes what they publish: nothing that
// has the prefix meets anything else.
constexpr std::string_view kProgram = R"(#include "plain.h"
#include "symbols.h"
#include "heard.h"
ULONG (*initialize)(VOID) = MyCounterInitialize;
ULONG (*initialize_heard)(PERFLIBREQUEST, PERF_MEM_ALLOC, PERF_MEM_FREE, PVOID) =
    CounterInitialize;
ULONG (*cleanup)(VOID) = MyCounterCleanup;
ULONG (*cleanup_heard)(VOID) = CounterCleanup;
HANDLE* handle = &MyBakeryProvider;
HANDLE* handle_heard = &BakeryProvider;
const GUID* guids[] = {&MyOvensGuid, &MyOvensGUID, &OvensGuid, &OvensGUID};
const WCHAR* name = MyOvensName;
static_assert(OvenLoaves == 1 && OvenTemperature == 2 && OvenBakingTime == 3, "ids");
static_assert(ShopCustomers == 16, "id");
)";

std::string without(std::string text, std::string_view part) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, part.size(), part) == 0) {
      at += part.size();
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

// M88
TEST(UserHeader, HasTheNamesAndParametersThatProvidersExpect) {
  const Manifest manifest = good_manifest("user_mode.man");
  WrittenFiles files;
  files.write("plain.h", text_of(code_header(manifest, with_prefix("My"))));
  files.write("heard.h", text_of(code_header(manifest, with_callback())));
  files.write("symbols.h", text_of(symbol_header(manifest, with_prefix("My"))));
  files.write("program.c", kProgram);
  for (const Outcome& outcome : files.compile("program.c")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
}

// M83: no header of Windows has a name for the last type.
TEST(UserHeader, CompilesWithEveryTypeThatAManifestMayName) {
  WrittenFiles files;
  files.write("ferry.h", text_of(code_header(good_manifest("ferry_library.man"), {})));
  files.write("ferry.c", "#include \"ferry.h\"\n");
  for (const Outcome& outcome : files.compile("ferry.c")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
}

// M88
TEST(UserHeader, TakesACallbackWhereTheManifestSaysCustom) {
  Manifest manifest = good_manifest("user_mode.man");
  manifest.provider.custom_callback.value = true;
  EXPECT_EQ(text_of(code_header(manifest, {})),
            text_of(code_header(good_manifest("user_mode.man"), with_callback())));
}

// M90: without the prefix, both are the same; with it, no name is left without.
TEST(Prefix, IsAppliedToEveryFunctionAndVariable) {
  for (const char* const file : {"user_mode.man", "kernel_mode.toml"}) {
    const Manifest manifest = good_manifest(file);
    const std::string prefixed = text_of(code_header(manifest, with_prefix("Zed")));
    EXPECT_EQ(without(prefixed, "Zed"), without(text_of(code_header(manifest, {})), "Zed"));
    for (const char* const symbol :
         {"CounterInitialize", "CounterCleanup", "BakeryProvider", "OvensGuid", "OvensGUID",
          "OvensInfo", "OvensDescription", "RegisterQueues", "UnregisterQueues", "CreateQueues",
          "CloseQueues", "AddQueues", "InitRegistrationInformationQueues", "QueuesCounters"}) {
      for (std::size_t at = prefixed.find(symbol); at != std::string::npos;
           at = prefixed.find(symbol, at + 1)) {
        const char before = prefixed[at - 1];
        const bool is_inside_a_name = before >= 'a' && before <= 'z';
        EXPECT_TRUE(is_inside_a_name) << symbol << " at " << at;
      }
    }
  }
}

TEST(WindowsSymbol, IsThatOfTheManifestUnlessItIsAPlainWord) {
  const Manifest manifest = manifest_of(R"([provider]
name = "p"
symbol = "my_provider"
[[counterset]]
name = "Demo Orders"
symbol = "demo_orders"
[[counterset.counter]]
id = 1
name = "Bytes"
symbol = "bytes"
[[counterset.counter]]
id = 2
name = "Size"
symbol = "OrdersSize"
)");
  const std::string text = text_of(code_header(manifest, with_prefix("X")));
  for (const char* const part : {"HANDLE XMyProvider = NULL;", "XDemoOrdersGuid",
                                 "#define DEMO_ORDERS_BYTES 1\n", "#define OrdersSize 2\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace meterbank::generator
