// SPDX-License-Identifier: Apache-2.0
//
// What is more than a number, from a provider to a cooked row.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "../../support/cooked_values.hpp"
#include "../../support/sample_words.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

enum class Stage : std::uint32_t { kServed, kLatency, kTemperature, kBalance, kState, kSize };

constexpr std::array kStageCounters{
    CounterSpec{.id = 1, .name = "Served/sec", .symbol = "served"},
    CounterSpec{.id = 2,
                .name = "Latency",
                .symbol = "latency",
                .unit = "s",
                .aggregate = kAggregateSum,
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 4, .least = 1e-6, .most = 10}},
    CounterSpec{.id = 3,
                .name = "Temperature",
                .symbol = "temperature",
                .type = CounterType::kLargeRawCount,
                .unit = "Cel",
                .form = ValueForm::kReal,
                .timed = true},
    CounterSpec{.id = 4,
                .name = "Balance",
                .symbol = "balance",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
    CounterSpec{.id = 5,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 12},
    CounterSpec{.id = 6,
                .name = "Size",
                .symbol = "size",
                .unit = "By",
                .aggregate = kAggregateSum,
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 0, .least = 1, .most = 1 << 20}},
};
constexpr CountersetSpec kStages{.name = "Stages",
                                 .symbol = "stages",
                                 .label = "stage",
                                 .stamped = true,
                                 .counters = kStageCounters};

class ValueFormTest : public testing::Test {
 protected:
  ValueFormTest()
      : provider_(*Provider::create({.name = "kitchen", .directory = directory_.path()})),
        set_(*provider_.add(kStages)),
        soup_(*set_.create_instance("soup")),
        catalog_(*Catalog::open({.directory = directory_.path()})),
        query_(*Query::compile(catalog_, {})) {}

  std::map<std::string, test::KeptValue> cooked(const Sample* older, const Sample& newer) {
    std::map<std::string, test::KeptValue> rows;
    for (const test::KeptValue& row : test::cooked_values(older, newer))
      rows.emplace(row.counter->symbol, row);
    return rows;
  }
  std::map<std::string, test::KeptValue> now() {
    query_.collect(sample_);
    return cooked(nullptr, sample_);
  }

  test::TemporaryDirectory directory_;
  Provider provider_;
  Registration set_;
  Instance soup_;
  Catalog catalog_;
  Query query_;
  Sample sample_;
};

TEST_F(ValueFormTest, AFreshInstanceHasEmptyForms) {
  const auto rows = now();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows.at("latency").distribution->count, 0U);
  EXPECT_FALSE(rows.at("latency").distribution->quantile(0.5));
  EXPECT_EQ(*rows.at("state").text, "");
  EXPECT_EQ(rows.at("state").set_ns, 0U);
  EXPECT_EQ(rows.at("temperature").cooked.value, 0.0);
}

TEST_F(ValueFormTest, EachIsShownAsWhatItIs) {
  soup_.gauge(Stage::kTemperature).set(-17.25);
  soup_.gauge(Stage::kBalance).set_signed(-3);
  soup_.text(Stage::kState).set("boiling");
  Recorder latency = soup_.recorder(Stage::kLatency);
  for (int i = 1; i <= 100; ++i) latency.record(i * 0.001);
  const auto rows = now();
  EXPECT_EQ(rows.at("temperature").cooked.value, -17.25);
  EXPECT_GT(rows.at("temperature").set_ns, 0U);
  EXPECT_EQ(rows.at("balance").cooked.value, -3.0);
  EXPECT_EQ(rows.at("balance").set_ns, 0U);
  EXPECT_EQ(*rows.at("state").text, "boiling");
  EXPECT_GT(rows.at("state").set_ns, 0U);
  const Distribution& seen = *rows.at("latency").distribution;
  EXPECT_EQ(seen.count, 100U);
  EXPECT_NEAR(seen.sum, 5.05, 1e-9);
  EXPECT_EQ(seen.least, 0.001);
  EXPECT_EQ(seen.most, 0.1);
  EXPECT_NEAR(seen.quantile(0.5)->value, 0.05, 0.05 * seen.error_bound() * 1.000001);
  EXPECT_EQ(rows.at("latency").raw.value, 100U);
  EXPECT_EQ(rows.at("size").distribution->count, 0U);
}

TEST_F(ValueFormTest, TwoSamplesGiveWhatWasRecordedBetweenThem) {
  const Recorder latency = soup_.recorder(Stage::kLatency);
  const auto record_at = [&](std::uint64_t seconds, double value) {
    soup_.update([&](Values& values) {
      values.record(latency, value);
      values.stamp(seconds * 1'000'000'000);
    });
  };
  record_at(1, 1);
  Sample before, after;
  query_.collect(before);
  record_at(2, 2);
  record_at(3, 2);
  query_.collect(after);
  const auto row = cooked(&before, after).at("latency");
  EXPECT_EQ(row.distribution->count, 2U);
  EXPECT_EQ(row.distribution->sum, 4);
  EXPECT_EQ(row.cooked.value, 1.0);  // recorded in a second
  EXPECT_FALSE(row.distribution->least);
}

TEST_F(ValueFormTest, AnUpdateCommitsThemTogether) {
  const Recorder latency = soup_.recorder(Stage::kLatency), size = soup_.recorder(Stage::kSize);
  const Gauge temperature = soup_.gauge(Stage::kTemperature);
  const TextCounter state = soup_.text(Stage::kState);
  soup_.update([&](Values& values) {
    values.add(Stage::kServed, 7);
    values.record(latency, 0.5);
    values.record(latency, 0.25);
    values.record(size, 1000);
    values.set(temperature, 80.5);
    values.set(state, "ready");
    values.stamp(77);
  });
  const auto rows = now();
  EXPECT_EQ(rows.at("served").raw.value, 7U);
  EXPECT_EQ(rows.at("served").raw.time_ns, 77U);
  EXPECT_EQ(rows.at("latency").distribution->count, 2U);
  EXPECT_EQ(rows.at("size").distribution->count, 1U);
  EXPECT_EQ(rows.at("temperature").cooked.value, 80.5);
  EXPECT_EQ(*rows.at("state").text, "ready");
  EXPECT_THROW(soup_.update([&](Values& values) {
    values.record(latency, 1);
    values.set(state, "burnt");
    throw 1;
  }),
               int);
  const auto after = now();
  EXPECT_EQ(after.at("latency").distribution->count, 2U);
  EXPECT_EQ(*after.at("state").text, "ready");
}

TEST_F(ValueFormTest, TextsAreCutBetweenCharactersAndRepaired) {
  TextCounter state = soup_.text(Stage::kState);
  state.set("123456789012345678901");  // 12 bytes were asked for: two words of 8
  EXPECT_EQ(*now().at("state").text, "1234567890123456");
  state.set("123456789012345\u00e4");
  EXPECT_EQ(*now().at("state").text, "123456789012345");
  state.set(
      "a\xff"
      "b");
  EXPECT_EQ(*now().at("state").text,
            "a\ufffd"
            "b");
  state.set("");
  EXPECT_EQ(*now().at("state").text, "");
}

TEST_F(ValueFormTest, OddValuesHaveANamedOutcome) {
  Gauge temperature = soup_.gauge(Stage::kTemperature), balance = soup_.gauge(Stage::kBalance);
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    temperature.set(odd);
    EXPECT_EQ(now().at("temperature").cooked.status, CookStatus::kNotFinite);
  }
  balance.set(HUGE_VAL);
  EXPECT_EQ(now().at("balance").cooked.value, 0x1p63);
  balance.set(-1e300);
  EXPECT_EQ(now().at("balance").cooked.value, -0x1p63);
  balance.set(std::nan(""));
  EXPECT_EQ(now().at("balance").cooked.value, 0);
  Recorder latency = soup_.recorder(Stage::kLatency);
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL, 0.0, -1.0, 1e300, 5e-324, 1.0}) {
    latency.record(odd);
  }
  const Distribution seen = *now().at("latency").distribution;
  EXPECT_EQ(seen.count, 7U);
  EXPECT_EQ(seen.refused, 1U);
  EXPECT_EQ(seen.below, 4U);
  EXPECT_EQ(seen.above, 2U);
  EXPECT_EQ(seen.sum, 1e300);
}

TEST_F(ValueFormTest, HandlesOfAnotherFormCountIntoNothing) {
  soup_.recorder(Stage::kServed).record(1);
  soup_.gauge(Stage::kLatency).set(1);
  soup_.text(Stage::kTemperature).set("warm");
  soup_.recorder(99U).record(1);
  Recorder nowhere;
  nowhere.record(1);
  Instance().gauge(Stage::kBalance).set(1);
  soup_.update([&](Values& values) {
    values.record(nowhere, 1);
    values.set(Gauge(), 1);
    values.set(TextCounter(), "x");
  });
  for (const auto& [name, row] : now()) EXPECT_EQ(row.raw.value, 0U) << name;
}

TEST_F(ValueFormTest, OneRowOfManyProvidersMergesTheirDistributions) {
  CountersetSpec shared = kStages;
  shared.name = "All Stages";
  shared.symbol = "all_stages";
  shared.guid = "{0f7e3a50-9a4e-4c7b-8f58-6a3c1f1f2b11}"_guid;
  shared.instances = InstanceKind::kGlobalAggregate;
  Provider other = *Provider::create({.name = "annex", .directory = directory_.path()});
  Instance here = *provider_.add(shared)->create_instance("");
  Instance there = *other.add(shared)->create_instance("");
  here.recorder(Stage::kLatency).record(1);
  Recorder latency = there.recorder(Stage::kLatency);
  latency.record(2);
  latency.record(3);
  catalog_.refresh();
  Query query = *Query::compile(catalog_, {"all_stages/latency"});
  query.collect(sample_);
  const auto rows = test::cooked_values(nullptr, sample_);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_NE(rows[0].distribution, nullptr);
  EXPECT_EQ(rows[0].distribution->count, 3U);
  EXPECT_EQ(rows[0].distribution->sum, 6);
  EXPECT_EQ(rows[0].distribution->most, 3);
}

TEST_F(ValueFormTest, AFreshLifeBeginsWithEmptyForms) {
  soup_.recorder(Stage::kLatency).record(1);
  soup_.text(Stage::kState).set("old");
  Sample before;
  query_.collect(before);
  for (int life = 0; life < 2000; ++life) {  // until the slot has been used again
    soup_.close();
    soup_ = *set_.create_instance("soup");
  }
  catalog_.refresh();
  query_.update(catalog_);
  Sample after;
  query_.collect(after);
  const auto rows = cooked(&before, after);
  EXPECT_EQ(rows.at("latency").distribution->count, 0U);
  EXPECT_EQ(*rows.at("state").text, "");
}

// Count, sum and buckets of one moment, whatever the writer does meanwhile.
TEST_F(ValueFormTest, ASnapshotOfADistributionAlwaysAgrees) {
  constexpr std::uint64_t kSnapshots = 200'000;  // tests/distribution takes more
  std::atomic<bool> done{false};
  std::thread writer([&] {
    Recorder latency = soup_.recorder(Stage::kLatency);
    std::uint32_t state = 1;
    while (!done.load(std::memory_order_relaxed)) {  // relaxed: seen soon enough
      state = state * 1664525 + 1013904223;
      latency.record(1e-7 * (state >> 8));
    }
  });
  const CounterView& counter = *plan_of(query_)->selections[0].set->set->find("latency");
  const DistributionPlace place{counter.shape, counter.word, counter.more};
  const std::size_t words = test::block_of(*plan_of(query_), 0).words;
  std::uint64_t torn = 0, moved = 0, last = 0;
  // On a busy machine the writer may begin late.
  for (std::uint64_t i = 0; i < kSnapshots || moved <= 10; ++i) {
    query_.collect(sample_, Timestamp{});
    if (!holds_values(content_of(sample_).status[0])) continue;
    const std::uint64_t* const row = content_of(sample_).row(0);
    std::uint64_t parts = row[counter.more + DistributionShape::kBelow] +
                          row[counter.more + DistributionShape::kAbove];
    for (std::uint32_t bucket = 0; bucket < counter.shape.buckets; ++bucket) {
      parts += row[counter.more + DistributionShape::kBuckets + bucket];
    }
    if (parts != row[counter.word]) ++torn;
    if (row[counter.word] < last) ++torn;
    if (row[counter.word] != last) ++moved;
    last = row[counter.word];
  }
  done.store(true, std::memory_order_relaxed);  // relaxed: orders nothing
  writer.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_TRUE(Distribution::of(place, {content_of(sample_).row(0), words}));
}

}  // namespace
}  // namespace meterbank
