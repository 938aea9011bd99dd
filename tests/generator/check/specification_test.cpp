// SPDX-License-Identifier: Apache-2.0
//
// A manifest and a declaration by hand are the same counterset.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/orders_schema.hpp"
#include "../../support/wave_schema.hpp"
#include "parsed.hpp"

namespace meterbank::generator {
namespace {

std::vector<std::byte> schema_of(const Manifest& manifest, std::size_t set = 0) {
  EXPECT_EQ(faults_of(manifest), "");
  if (manifest.countersets.size() <= set) return {};
  std::vector<CounterSpec> counters;
  auto schema = encode_schema(spec_of(manifest, manifest.countersets[set], counters),
                              manifest.provider.name.value);
  EXPECT_TRUE(schema) << (schema ? "" : schema.error().message());
  return schema ? *schema : std::vector<std::byte>{};
}

std::vector<std::byte> schema_of(const CountersetSpec& spec, std::string_view provider) {
  return encode_schema(spec, provider).value();
}

constexpr std::string_view kOrders = R"(
[provider]
name = "orders"

[[counterset]]
name = "Demo Orders"
symbol = "demo_orders"
help = "Order gateway, one instance per venue."
label = "venue"
guid = "{5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42}"
instances = "multiple"

[[counterset.counter]]
id = 1
name = "Accepted/sec"
symbol = "accepted"
unit = "{order}"
help = "Orders accepted."

[[counterset.counter]]
id = 2
name = "Bytes/sec"
symbol = "bytes"
type = "bulk_count"
unit = "By"
help = "Bytes of orders accepted."

[[counterset.counter]]
id = 5
name = "Queue Depth"
type = "perf_counter_large_rawcount"
unit = "{order}"
help = "Orders waiting."
)";

TEST(Specification, FromATomlManifestEqualsTheOneWrittenByHand) {
  EXPECT_EQ(schema_of(parsed(kOrders)), schema_of(meterbank::test::kOrders, "orders"));
}

TEST(Specification, DiffersWhereTheManifestDiffers) {
  Manifest manifest = parsed(kOrders);
  manifest.countersets[0].counters[2].unit.value = "1";
  EXPECT_NE(schema_of(manifest), schema_of(meterbank::test::kOrders, "orders"));
}

TEST(Specification, DerivesTheGuidThatAProviderDerives) {
  Manifest manifest = parsed(kOrders);
  manifest.countersets[0].guid = {};
  CountersetSpec spec = meterbank::test::kOrders;
  spec.guid = {};
  EXPECT_EQ(schema_of(manifest), schema_of(spec, "orders"));
  EXPECT_EQ(guid_of(manifest, manifest.countersets[0]), Guid::from_name("orders", "Demo Orders"));
}

constexpr std::string_view kWaves = R"(<?xml version="1.0"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation>
<counters xmlns="http://schemas.microsoft.com/win/2005/12/counters" schemaVersion="1.1">
<provider providerName="sea" providerGuid="{92a43b33-5cfd-4842-8d49-37d98cf2716e}"
          applicationIdentity="sea" symbol="Sea">
 <counterSet name="Waves" symbol="Waves" guid="{0b1d9f44-7c5e-4f0a-9a3d-5a3c1f0e6d21}"
             uri="Sea.Waves" description="What the sea does." instances="multiple">
  <counter id="1" name="Height" uri="Sea.Waves.Height" type="perf_counter_large_rawcount"
           detailLevel="standard" description="Of the last one." defaultScale="-2"/>
  <counter id="0x2" name="Crests/sec" symbol="Crests" uri="Sea.Waves.Crests"
           type="perf_counter_bulk_count" detailLevel="advanced" aggregate="sum">
   <counterAttributes>
    <counterAttribute name="reference"/><counterAttribute name="displayAsHex"/>
   </counterAttributes>
  </counter>
  <counter id="7" name="Time per Crest" uri="Sea.Waves.Time" type="perf_average_timer"
           detailLevel="standard" baseID="70"/>
  <counter id="70" uri="Sea.Waves.Base" type="perf_average_base" detailLevel="standard"/>
  <counter id="8" symbol="HiddenCount" uri="Sea.Waves.Hidden" type="perf_counter_rawcount"
           detailLevel="standard">
   <counterAttributes><counterAttribute name="noDisplay"/></counterAttributes>
  </counter>
  <counter id="9" uri="Sea.Waves.Unnamed" type="perf_counter_rawcount" detailLevel="standard">
   <counterAttributes><counterAttribute name="noDisplay"/></counterAttributes>
  </counter>
 </counterSet>
</provider>
</counters>
</instrumentation>
</instrumentationManifest>
)";

constexpr std::array kSeaCounters{
    CounterSpec{.id = 1,
                .name = "Height",
                .symbol = "height",
                .type = CounterType::kLargeRawCount,
                .help = "Of the last one.",
                .scale = -2},
    CounterSpec{.id = 2,
                .name = "Crests/sec",
                .symbol = "crests",
                .type = CounterType::kBulkCount,
                .detail = 200,
                .aggregate = kAggregateSum,
                .attributes = 1 | 16},
    CounterSpec{.id = 7,
                .name = "Time per Crest",
                .symbol = "time_per_crest",
                .type = CounterType::kAverageTimer,
                .base = 70},
    CounterSpec{.id = 70, .type = CounterType::kAverageBase},
    CounterSpec{.id = 8,
                .name = "hidden_count",
                .symbol = "hidden_count",
                .type = CounterType::kRawCount,
                .attributes = 2},
    CounterSpec{.id = 9,
                .name = "counter_9",
                .symbol = "counter_9",
                .type = CounterType::kRawCount,
                .attributes = 2},
};

constexpr CountersetSpec kSea{.name = "Waves",
                              .symbol = "waves",
                              .help = "What the sea does.",
                              .guid = "{0b1d9f44-7c5e-4f0a-9a3d-5a3c1f0e6d21}"_guid,
                              .provider_guid = "{92a43b33-5cfd-4842-8d49-37d98cf2716e}"_guid,
                              .counters = kSeaCounters};

// M81: all attributes are kept.
TEST(Specification, FromAnXmlManifestEqualsTheOneWrittenByHand) {
  EXPECT_EQ(schema_of(parsed(kWaves, "sea.man")), schema_of(kSea, "sea"));
}

constexpr std::string_view kKinds = R"(
[provider]
name = "kinds"

[[counterset]]
name = "Kinds"
stamped = true
cuts = true

[[counterset.counter]]
id = 1
name = "Latency"
type = "histogram"
buckets = {scale = 4, least = 1e-6, most = 10}

[[counterset.counter]]
id = 2
name = "State"
type = "text"
text_bytes = 16
timed = true

[[counterset.counter]]
id = 3
name = "Offset"
type = "large_rawcount"
form = "signed"

[[counterset]]
name = "Counts"
consistency = "independent"

[[counterset.counter]]
id = 1
name = "Errors"
any_thread = true
)";

constexpr std::array kKindCounters{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .form = ValueForm::kDistribution,
                .buckets = {4, 1e-6, 10}},
    CounterSpec{.id = 2,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 16},
    CounterSpec{.id = 3,
                .name = "Offset",
                .symbol = "offset",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
};
constexpr CountersetSpec kKindSet{.name = "Kinds",
                                  .symbol = "kinds",
                                  .instances = InstanceKind::kSingle,
                                  .stamped = true,
                                  .cuts = true,
                                  .counters = kKindCounters};
constexpr std::array kErrorCounters{
    CounterSpec{.id = 1, .name = "Errors", .symbol = "errors", .any_thread = true}};
constexpr CountersetSpec kErrorSet{.name = "Counts",
                                   .symbol = "counts",
                                   .instances = InstanceKind::kSingle,
                                   .consistency = Consistency::kIndependent,
                                   .counters = kErrorCounters};

TEST(Specification, KnowsAllKindsOfValuesAndSets) {
  const Manifest manifest = parsed(kKinds);
  EXPECT_EQ(schema_of(manifest, 0), schema_of(kKindSet, "kinds"));
  EXPECT_EQ(schema_of(manifest, 1), schema_of(kErrorSet, "kinds"));
  std::vector<CounterSpec> counters;
  for (const std::size_t set : {std::size_t{0}, std::size_t{1}}) {
    const CountersetSpec& by_hand = set == 0 ? kKindSet : kErrorSet;
    EXPECT_EQ(form_of(spec_of(manifest, manifest.countersets[set], counters)), form_of(by_hand));
  }
}

// M85: what is refused one step further lies in ../manifests/bad.
TEST(Specification, HasRoomUpToItsLimits) {
  Manifest manifest = parsed(kOrders);
  Counterset& set = manifest.countersets[0];
  set.name.value = std::string(1023, 'n');
  set.counters[0].name.value = std::string(1023, 'c');
  set.counters[0].help.value = std::string(1023, 'h');
  set.counters[0].scale.value = -10;
  set.counters[1].scale.value = 10;
  set.counters[1].id.value = 0;
  set.counters[2].id.value = kNoCounter - 1;
  manifest.provider.name.value = std::string(63, 'p');
  EXPECT_FALSE(schema_of(manifest).empty());
}

void expect_sound(const std::filesystem::path& path) {
  const std::string file = path.filename().string();
  const Manifest manifest = parsed(text_of_file(path.string()), file);
  EXPECT_FALSE(manifest.countersets.empty()) << file;
  for (std::size_t set = 0; set < manifest.countersets.size(); ++set) {
    EXPECT_FALSE(schema_of(manifest, set).empty()) << file;
  }
}

// M81.
TEST(Specification, FromEveryGoodManifestIsSound) {
  const std::filesystem::path source = METERBANK_SOURCE;
  for (const char* const name :
       {"docs/examples/geometric_waves.man", "docs/examples/request_server/request_server.toml",
        "tools/cli/publish/demo_orders.toml", "tools/host/host.toml",
        "tools/host/logical_disk.toml", "tools/host/process.toml", "tools/host/processor.toml",
        "tools/host/processor_information.toml", "tools/host/transport.toml"}) {
    expect_sound(source / name);
  }
  const auto good = std::filesystem::directory_iterator(source / "tests/generator/manifests/good");
  for (const auto& entry : good) expect_sound(entry.path());
}

}  // namespace
}  // namespace meterbank::generator
