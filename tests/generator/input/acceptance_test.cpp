// SPDX-License-Identifier: Apache-2.0
//
// M81: what a good manifest says is all in the model, whichever language it is written in.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "generator/manifest/check.hpp"
#include "generator/manifest/vocabulary.hpp"
#include "read_text.hpp"

namespace meterbank::test {
namespace {

using generator::Counter;
using generator::Counterset;
using generator::Language;
using generator::Manifest;
using generator::Place;
using generator::ProviderMode;

Manifest good(const std::string& name) {
  const ReadText read = read_text(good_manifest(name));
  EXPECT_EQ(read.said(), "");
  return read.manifest.value_or(Manifest());
}

const Counter& counter_of(const Counterset& set, std::uint32_t id) {
  for (const Counter& counter : set.counters) {
    if (counter.id.value == id) return counter;
  }
  static const Counter kNone;
  ADD_FAILURE() << "no counter " << id;
  return kNone;
}

TEST(ManifestAcceptance, EveryGoodManifestIsReadAndBreaksNoRule) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(METERBANK_GOOD_MANIFESTS)) {
    const ReadText read = read_text(good_manifest(file.path().filename().string()));
    ASSERT_TRUE(read.manifest.has_value()) << file.path() << read.said();
    EXPECT_EQ(read.said(), "") << file.path();
    generator::Problems broken;
    generator::check(*read.manifest, broken);
    EXPECT_EQ(broken.text("m"), "") << file.path();
    ++count;
  }
  EXPECT_GE(count, 7);
}

TEST(ManifestAcceptance, AKernelModeManifestKeepsItsTwoSetsOfWaves) {
  const Manifest manifest = good("geometric_waves.man");
  EXPECT_EQ(manifest.language, Language::kXml);
  EXPECT_EQ(manifest.schema_version.value, 11U);
  EXPECT_EQ(manifest.provider.name.value, "Waves");
  EXPECT_EQ(manifest.provider.mode.value, ProviderMode::kKernel);
  EXPECT_TRUE(manifest.provider.custom_callback.value);
  EXPECT_EQ(manifest.provider.application.value, "Waves.sys");
  ASSERT_EQ(manifest.countersets.size(), 2U);
  const Counterset& geometric = manifest.countersets[0];
  EXPECT_EQ(geometric.symbol.value, "GeometricWave");
  EXPECT_EQ(geometric.word, "geometric_wave");
  EXPECT_EQ(geometric.instances.value, InstanceKind::kMultipleAggregate);
  ASSERT_EQ(geometric.structs.size(), 1U);
  EXPECT_EQ(geometric.structs[0].type.value, "GEOMETRIC_WAVE_VALUES");
  ASSERT_EQ(geometric.counters.size(), 2U);
  EXPECT_EQ(geometric.counters[0].field.value, "Triangle");
  EXPECT_EQ(geometric.counters[0].aggregate.value, kAggregateAverage);
  EXPECT_EQ(geometric.counters[1].word, "square_wave");
  ASSERT_EQ(manifest.countersets[1].counters.size(), 3U);
  EXPECT_EQ(manifest.countersets[1].instances.value, InstanceKind::kSingle);
  EXPECT_EQ(manifest.countersets[1].counters[2].attributes.value, 1U);
}

TEST(ManifestAcceptance, AUserModeManifestKeepsItsSymbolsAndDefaults) {
  const Manifest manifest = good("user_mode.man");
  EXPECT_EQ(manifest.provider.mode.value, ProviderMode::kUser);
  EXPECT_FALSE(manifest.provider.custom_callback.value);
  EXPECT_EQ(manifest.provider.symbol.value, "BakeryProvider");
  EXPECT_EQ(manifest.provider.resource_base.value, 100U);
  ASSERT_EQ(manifest.countersets.size(), 2U);
  const Counter& time = counter_of(manifest.countersets[0], 3);
  EXPECT_EQ(time.symbol.value, "OvenBakingTime");
  EXPECT_EQ(time.type.value, CounterType::kAverageTimer);
  EXPECT_EQ(time.base.value, 4U);
  EXPECT_EQ(time.detail.value, 200U);
  EXPECT_EQ(counter_of(manifest.countersets[0], 4).attributes.value, generator::kNoDisplay);
  EXPECT_EQ(counter_of(manifest.countersets[0], 4).word, "");
  EXPECT_EQ(manifest.countersets[1].instances.value, InstanceKind::kSingle);
  EXPECT_EQ(manifest.countersets[1].counters[0].id.value, 16U);
}

TEST(ManifestAcceptance, ALibraryOfWindowsMayHaveAPathAndCountersOfAllSorts) {
  const Manifest manifest = good("ferry_library.man");
  EXPECT_EQ(manifest.provider.application.value, R"(%SystemRoot%\System32\ferry.dll)");
  ASSERT_EQ(manifest.countersets.size(), 2U);
  const Counterset& line = manifest.countersets[0];
  EXPECT_EQ(line.instances.value, InstanceKind::kGlobalAggregate);
  EXPECT_EQ(counter_of(line, 3).aggregate.value, kAggregateUndefined);
  EXPECT_EQ(counter_of(line, 4).base.value, 3U);
  const Counterset& engines = manifest.countersets[1];
  EXPECT_EQ(counter_of(engines, 16).uri.value, counter_of(line, 1).uri.value);
  EXPECT_EQ(counter_of(engines, 16).type.value, CounterType::kMultiTimerInverse);
  EXPECT_EQ(counter_of(engines, 16).base.value, 17U);
  EXPECT_EQ(counter_of(engines, 16).multi.value, kNoCounter);
  EXPECT_EQ(counter_of(engines, 18).base.value, 17U);
  EXPECT_EQ(counter_of(engines, 18).multi.value, 19U);
  EXPECT_EQ(counter_of(engines, 20).type.value, CounterType::kComposite);
}

TEST(ManifestAcceptance, ADriverMayFillInStructAndRepeatUris) {
  const Manifest manifest = good("ferry_driver.man");
  EXPECT_EQ(manifest.provider.application.value, R"(..\bin\ferry.sys)");
  ASSERT_EQ(manifest.countersets.size(), 2U);
  const Counter& cars = counter_of(manifest.countersets[0], 1);
  EXPECT_EQ(cars.structure.value, "cars");
  EXPECT_EQ(manifest.countersets[0].structs[0].name.value, "RampValues");
  EXPECT_EQ(cars.uri.value, counter_of(manifest.countersets[1], 1).uri.value);
}

TEST(ManifestAcceptance, EveryElementAndAttributeOfXmlIsKept) {
  const Manifest manifest = good("everything.man");
  EXPECT_EQ(manifest.schema_version.value, 20U);
  EXPECT_EQ(manifest.provider.guid.value.text(), "{b7d4f2e0-3c69-4a18-95fd-08e1c6a2b743}");
  EXPECT_TRUE(manifest.provider.custom_callback.is_said());
  ASSERT_EQ(manifest.countersets.size(), 1U);
  const Counterset& set = manifest.countersets[0];
  EXPECT_EQ(set.name.value, "Everything & More");
  EXPECT_EQ(set.help.value, "Z\u00e4hler \u2014 \"all\" of them <here>.");
  EXPECT_EQ(set.guid.value.text(), "{2e61a9c8-7f05-4db3-a1e4-5c9b8d3f7061}");
  EXPECT_EQ(set.uri.value, "Meterbank.Tests.Everything");
  EXPECT_EQ(set.name_id.value, 1000U);
  EXPECT_EQ(set.description_id.value, 1002U);
  EXPECT_EQ(set.instances.value, InstanceKind::kGlobalAggregateHistory);
  ASSERT_EQ(set.structs.size(), 2U);
  EXPECT_EQ(set.structs[1].name.value, "Clock");
  const Counter& answered = counter_of(set, 1);
  EXPECT_EQ(answered.uri.value, "Meterbank.Tests.Everything.Answered");
  EXPECT_EQ(answered.help.value, "Requests that were answered.");
  EXPECT_EQ(answered.type.value, CounterType::kBulkCount);
  EXPECT_EQ(answered.scale.value, -3);
  EXPECT_EQ(answered.attributes.value, 1U | 4U | 8U);
  EXPECT_EQ(answered.structure.value, "Work");
  EXPECT_EQ(answered.name_id.value, 1004U);
  EXPECT_EQ(answered.description_id.value, 1006U);
  const Counter& busy = counter_of(set, 4);
  EXPECT_EQ(busy.time.value, 5U);
  EXPECT_EQ(busy.frequency.value, 6U);
  EXPECT_EQ(busy.name_id.value, 0x3F4U);
  EXPECT_EQ(busy.base.value, kNoCounter);
  EXPECT_EQ(counter_of(set, 7).multi.value, 8U);
}

TEST(ManifestAcceptance, EveryKeyOfTomlIsKept) {
  const Manifest manifest = good("everything.toml");
  EXPECT_EQ(manifest.language, Language::kToml);
  EXPECT_EQ(manifest.schema_version.value, 20U);
  EXPECT_EQ(manifest.provider.symbol.value, "everything_provider");
  EXPECT_EQ(manifest.provider.guid.value.part1, 0x93b1a0f5U);
  EXPECT_EQ(manifest.provider.application.value, "everything");
  EXPECT_TRUE(manifest.provider.custom_callback.value);
  EXPECT_EQ(manifest.provider.resource_base.value, 256U);
  ASSERT_EQ(manifest.countersets.size(), 5U);
  const Counterset& set = manifest.countersets[0];
  EXPECT_EQ(set.label.value, "row");
  EXPECT_EQ(set.guid.value.part1, 0x0c1d7c55U);
  EXPECT_EQ(set.instances.value, InstanceKind::kMultipleAggregate);
  EXPECT_EQ(set.name_id.value, 2U);
  EXPECT_TRUE(set.stamped.value && set.cuts.value && set.checkpoint.value);
  EXPECT_EQ(set.identity.value, InstanceIdentity::kNameAndId);
  EXPECT_TRUE(set.consistency.is_said() && set.many.is_said() && set.shards.is_said());
  const Counter& answered = counter_of(set, 1);
  EXPECT_EQ(answered.unit.value, "{request}");
  EXPECT_EQ(answered.scale.value, -2);
  EXPECT_EQ(answered.attributes.value, 1U | 4U);
  EXPECT_EQ(answered.form.value, ValueForm::kUnsigned);
  EXPECT_EQ(counter_of(set, 4).frequency.value, 6U);
  EXPECT_EQ(counter_of(set, 7).multi.value, 8U);
}

TEST(ManifestAcceptance, EveryKeyOfKernelModeIsKept) {
  const Manifest manifest = good("kernel_mode.toml");
  EXPECT_EQ(manifest.provider.mode.value, ProviderMode::kKernel);
  ASSERT_EQ(manifest.countersets.size(), 1U);
  const Counterset& set = manifest.countersets[0];
  ASSERT_EQ(set.structs.size(), 1U);
  EXPECT_EQ(set.structs[0].name.value, "Queue");
  EXPECT_EQ(set.structs[0].type.value, "QUEUE_COUNTERS");
  EXPECT_EQ(counter_of(set, 1).structure.value, "Queue");
  EXPECT_EQ(counter_of(set, 1).field.value, "Packets");
  EXPECT_FALSE(counter_of(set, 2).structure.is_said());
}

TEST(ManifestAcceptance, KeepsKeysThatOnlyTomlHas) {
  const Manifest manifest = good("everything.toml");
  ASSERT_EQ(manifest.countersets.size(), 5U);
  const Counterset& own = manifest.countersets[1];
  EXPECT_FALSE(own.checkpoint.value);
  EXPECT_EQ(counter_of(own, 1).form.value, ValueForm::kReal);
  EXPECT_TRUE(counter_of(own, 1).timed.value);
  EXPECT_EQ(counter_of(own, 3).type.value, CounterType::kText);
  EXPECT_EQ(counter_of(own, 3).form.value, ValueForm::kText);
  EXPECT_EQ(counter_of(own, 3).text_bytes.value, 32U);
  const Counter& latency = counter_of(own, 4);
  EXPECT_EQ(latency.type.value, CounterType::kBulkCount);
  EXPECT_EQ(latency.form.value, ValueForm::kDistribution);
  EXPECT_EQ(latency.buckets.value.scale, 6);
  EXPECT_EQ(latency.buckets.value.least, 1e-6);
  EXPECT_EQ(latency.buckets.value.most, 100);
  EXPECT_EQ(counter_of(own, 5).buckets.value.scale, 3);
  EXPECT_EQ(counter_of(own, 5).buckets.value.least, 1);
  EXPECT_EQ(manifest.countersets[2].consistency.value, Consistency::kIndependent);
  EXPECT_TRUE(manifest.countersets[2].many.value);
  EXPECT_TRUE(manifest.countersets[2].counters[0].any_thread.value);
  EXPECT_TRUE(manifest.countersets[3].sharded.value && manifest.countersets[3].by_processor.value);
  EXPECT_EQ(manifest.countersets[3].shards.value, 4U);
}

TEST(ManifestAcceptance, GivesOmittedKeysTheirDefaultsAndNoPlace) {
  const Manifest manifest = good("minimal.toml");
  EXPECT_TRUE(manifest.provider.guid.value.is_zero());
  EXPECT_FALSE(manifest.provider.symbol.is_said());
  ASSERT_EQ(manifest.countersets.size(), 1U);
  const Counterset& set = manifest.countersets[0];
  EXPECT_EQ(set.word, "minimal");
  EXPECT_TRUE(set.guid.value.is_zero() && !set.guid.is_said());
  EXPECT_TRUE(set.checkpoint.value && !set.checkpoint.is_said());
  ASSERT_EQ(set.counters.size(), 1U);
  EXPECT_EQ(set.counters[0].type.value, CounterType::kBulkCount);
  EXPECT_FALSE(set.counters[0].type.is_said());
  EXPECT_EQ(set.counters[0].base.value, kNoCounter);
  EXPECT_EQ(set.counters[0].detail.value, 100U);
}

TEST(ManifestAcceptance, AProviderWithoutANameHasTheOneOfWindows) {
  const ReadText read = read_text(with(xml_counter(kPlainCounter), R"(providerName="p")", ""));
  EXPECT_EQ(read.said(), "");
  ASSERT_TRUE(read.manifest.has_value());
  EXPECT_EQ(read.manifest->provider.name.value, "Counters");
  EXPECT_FALSE(read.manifest->provider.name.is_said());
}

TEST(ManifestAcceptance, ATextOfXmlHasRoomForTheLongestOne) {
  const ReadText read = read_text(
      xml_counter(R"(id="1" uri="u" name="n" type="perf_counter_text" detailLevel="standard")"));
  ASSERT_TRUE(read.manifest.has_value());
  EXPECT_EQ(read.manifest->countersets[0].counters[0].form.value, ValueForm::kText);
  EXPECT_EQ(read.manifest->countersets[0].counters[0].text_bytes.value, kTextBytesMax);
}

TEST(ManifestAcceptance, EveryBytePartakesInTheHash) {
  const std::string text = good_manifest("minimal.toml");
  const auto hash = [](const std::string& of) { return read_text(of).manifest.value().hash; };
  EXPECT_EQ(hash(text), hash(text));
  EXPECT_NE(hash(text), hash(text + "\n"));
  EXPECT_EQ(read_text("").manifest.value().hash, 0xcbf29ce484222325U);
}

}  // namespace
}  // namespace meterbank::test
