// SPDX-License-Identifier: Apache-2.0
//
// The publishing half of the C interface, as a reader sees what it did.
#include "meterbank/c/publisher.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "orders.hpp"

namespace meterbank::test {
namespace {

TEST(ProviderInC, LeavesItsRecordBehindIfItIsToKeepIt) {
  for (const std::uint32_t keep : {0U, 1U}) {
    const TemporaryDirectory directory;
    mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
    options.name = "orders";
    options.directory = directory.path().c_str();
    options.heartbeat_ms = 0;
    options.keep_record = keep;
    mb_provider* provider = nullptr;
    ASSERT_EQ(mb_provider_create(&options, &provider, nullptr), MB_OK);
    mb_provider_close(provider);
    EXPECT_EQ(directory.files(), keep);
  }
}

TEST(ReadersInC, AreWhomTheProviderNames) {
  const TemporaryDirectory directory;
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  options.name = "orders";
  options.directory = directory.path().c_str();
  options.readers = "everyone";
  mb_provider* provider = nullptr;
  mb_error error;
  ASSERT_EQ(mb_provider_create(&options, &provider, &error), MB_OK) << error.what;
  mb_provider_close(provider);

  options.readers = "every one";
  EXPECT_EQ(mb_provider_create(&options, &provider, &error), MB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.what).find("every one"), std::string::npos) << error.what;

  // A caller that was compiled before the struct had this member.
  options.size = offsetof(mb_provider_options, readers);
  ASSERT_EQ(mb_provider_create(&options, &provider, &error), MB_OK) << error.what;
  mb_provider_close(provider);
}

class EverySort : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EverySort, ShowsWhatWasCounted) {
  const OrdersProvider provider;
  OrdersSpec spec(GetParam());
  mb_set* const set = provider.add(spec.get());
  const mb_instance eu = create_instance(set, "eu");
  const mb_instance us = create_instance(set, "us");

  mb_instance_add(&eu, kAccepted, 5);
  mb_instance_increment(&eu, kAccepted);
  mb_instance_set(&eu, kDepth, 77);
  const mb_counter bytes = mb_instance_counter(&us, kBytes);
  mb_counter_add(&bytes, 10);
  mb_counter_increment(&bytes);
  const mb_counter depth = mb_instance_counter(&us, kDepth);
  mb_counter_set(&depth, 8);

  EXPECT_EQ(mb_instance_value(&eu, kAccepted), 6U);
  EXPECT_EQ(mb_counter_value(&bytes), 11U);
  const auto seen = read_all(provider);
  EXPECT_EQ(seen.at("eu/accepted").raw.value, 6U);
  EXPECT_EQ(seen.at("eu/bytes").raw.value, 0U);
  EXPECT_EQ(seen.at("eu/depth").raw.value, 77U);
  EXPECT_EQ(seen.at("us/bytes").raw.value, 11U);
  EXPECT_EQ(seen.at("us/depth").raw.value, 8U);
}

TEST_P(EverySort, ShowsSeveralChangesAfterTheirCommit) {
  const OrdersProvider provider;
  OrdersSpec spec(GetParam());
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  mb_update update = mb_update_begin(&eu);
  mb_update_add(&update, kAccepted, 1);
  mb_update_add(&update, kBytes, 100);
  mb_update_set(&update, kDepth, mb_update_value(&update, kBytes) / 2);
  mb_update_commit(&update);
  mb_update_add(&update, kAccepted, 1);  // the same struct, another update
  mb_update_commit(&update);

  auto seen = read_all(provider);
  EXPECT_EQ(seen.at("eu/accepted").raw.value, 2U);
  EXPECT_EQ(seen.at("eu/bytes").raw.value, 100U);
  EXPECT_EQ(seen.at("eu/depth").raw.value, 50U);
}

TEST_P(EverySort, CountsOnThroughManyCheckpoints) {
  const OrdersProvider provider;
  OrdersSpec spec(GetParam());
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    mb_instance_add(&eu, kAccepted, 1);
    mb_update update = mb_update_begin(&eu);
    mb_update_add(&update, kBytes, 2);
    mb_update_commit(&update);
  }
  auto seen = read_all(provider);
  EXPECT_EQ(seen.at("eu/accepted").raw.value, 10'000U);
  EXPECT_EQ(seen.at("eu/bytes").raw.value, 20'000U);
}

INSTANTIATE_TEST_SUITE_P(Counting, EverySort,
                         testing::Values(0U, MB_SET_MANY, MB_SET_NO_CHECKPOINT, MB_SET_CUTS,
                                         MB_SET_INDEPENDENT, MB_SET_INDEPENDENT | MB_SET_MANY));

TEST(UpdateOfC, IsInvisibleUntilItsCommitAndGoneAfterItsAbort) {
  const OrdersProvider provider;
  OrdersSpec spec;
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  mb_instance_set(&eu, kBytes, 5);
  mb_update update = mb_update_begin(&eu);
  mb_update_add(&update, kBytes, 1);
  EXPECT_EQ(read_all(provider).at("eu/bytes").raw.value, 5U);
  mb_update_abort(&update);
  mb_instance_add(&eu, kAccepted, 1);
  EXPECT_EQ(read_all(provider).at("eu/bytes").raw.value, 5U);
  EXPECT_EQ(mb_instance_value(&eu, kBytes), 5U);
}

TEST(UpdateOfC, KeepsTheTimeOfAStampedSet) {
  const OrdersProvider provider;
  OrdersSpec spec(MB_SET_STAMPED);
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  mb_update update = mb_update_begin(&eu);
  mb_update_set(&update, kDepth, 4);
  mb_update_stamp(&update, 123'456);
  mb_update_commit(&update);
  const auto seen = read_all(provider);
  EXPECT_EQ(seen.at("eu/depth").raw.value, 4U);
  EXPECT_TRUE(seen.at("eu/depth").raw.stamped);
  EXPECT_EQ(seen.at("eu/depth").raw.time_ns, 123'456U);
}

TEST(CounterOfC, AddsFromAnyThreadOnlyInAnIndependentSet) {
  for (const bool independent : {true, false}) {
    const OrdersProvider provider;
    OrdersSpec spec(independent ? MB_SET_INDEPENDENT : 0U);
    const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
    const mb_counter accepted = mb_instance_counter(&eu, kAccepted);
    mb_counter_add_from_any_thread(&accepted, 3);
    EXPECT_EQ(mb_counter_value(&accepted), independent ? 3U : 0U);
  }
}

TEST(CounterOfC, IgnoresPositionsThatTheSchemaDoesNotHave) {
  const OrdersProvider provider;
  OrdersSpec spec;
  const mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  for (const std::uint32_t position : {3U, 4096U, 0xffffffffU}) {
    mb_instance_add(&eu, position, 1);
    mb_instance_set(&eu, position, 1);
    mb_update update = mb_update_begin(&eu);
    mb_update_set(&update, position, 1);
    mb_update_add(&update, kAccepted, 1);
    mb_update_commit(&update);
    const mb_counter counter = mb_instance_counter(&eu, position);
    mb_counter_add(&counter, 1);
    EXPECT_EQ(mb_counter_value(&counter), 0U);
    EXPECT_EQ(mb_instance_value(&eu, position), 0U);
  }
  EXPECT_EQ(read_all(provider).at("eu/accepted").raw.value, 3U);
}

// A distribution, gauges of three forms with and without time, and a text.
struct ValuesSpec : OrdersSpec {
  explicit ValuesSpec(std::uint32_t flags = 0) : OrdersSpec(flags) {
    counters = {counter_spec(1, "Latency", "latency", MB_TYPE_BULK_COUNT),
                counter_spec(2, "Real", "real"),
                counter_spec(3, "Signed", "signed"),
                counter_spec(4, "Timed", "timed"),
                counter_spec(5, "State", "state", MB_TYPE_TEXT),
                counter_spec(6, "Plain", "plain")};
    counters[0].form = MB_FORM_DISTRIBUTION;
    counters[0].bucket_least = 1e-6;
    counters[0].bucket_most = 100;
    counters[0].bucket_scale = 3;
    counters[1].form = MB_FORM_REAL;
    counters[2].form = MB_FORM_SIGNED;
    counters[3].flags = MB_COUNTER_TIMED;
    counters[4].form = MB_FORM_TEXT;
    counters[4].text_bytes = 16;
    counters[4].flags = MB_COUNTER_TIMED;
  }
};

class Values : public testing::TestWithParam<std::uint32_t> {
 protected:
  mb_gauge gauge(std::uint32_t counter) {
    mb_gauge made;
    EXPECT_EQ(mb_instance_gauge(&eu_, counter, &made, nullptr), MB_OK);
    return made;
  }
  mb_recorder recorder() {
    mb_recorder made;
    EXPECT_EQ(mb_instance_recorder(&eu_, 0, &made, nullptr), MB_OK);
    return made;
  }
  mb_text text() {
    mb_text made;
    EXPECT_EQ(mb_instance_text(&eu_, 4, &made, nullptr), MB_OK);
    return made;
  }

  OrdersProvider provider_;
  ValuesSpec spec_{GetParam()};
  mb_set* set_ = provider_.add(spec_.get());
  mb_instance eu_ = create_instance(set_, "eu");
};

TEST_P(Values, AreShownAsTheyWereSet) {
  const mb_recorder latency = recorder();
  for (const double seconds : {0.001, 0.002, 0.004, 0.0, 1000.0, std::nan("")}) {
    mb_recorder_record(&latency, seconds);
  }
  const mb_gauge real = gauge(1), whole = gauge(2), timed = gauge(3), plain = gauge(5);
  mb_gauge_set(&real, 2.25);
  mb_gauge_add(&real, -1);
  mb_gauge_set_signed(&whole, -7);
  mb_gauge_set_unsigned(&timed, 99);
  mb_gauge_set(&plain, 6.6);
  const mb_text state = text();
  mb_text_set(&state, "draining\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x", 17);

  const auto seen = read_all(provider_);
  const Distribution& distribution = *seen.at("eu/latency").distribution;
  EXPECT_EQ(distribution.count, 5U);
  EXPECT_EQ(distribution.below, 1U);
  EXPECT_EQ(distribution.above, 1U);
  EXPECT_EQ(distribution.refused, 1U);
  EXPECT_EQ(distribution.least, 0.0);
  EXPECT_EQ(distribution.most, 1000.0);
  EXPECT_DOUBLE_EQ(distribution.sum, 1000.007);
  EXPECT_EQ(std::bit_cast<double>(seen.at("eu/real").raw.value), 1.25);
  EXPECT_EQ(mb_gauge_value(&real), 1.25);
  EXPECT_EQ(std::bit_cast<std::int64_t>(seen.at("eu/signed").raw.value), -7);
  EXPECT_EQ(mb_gauge_value(&whole), -7);
  EXPECT_EQ(seen.at("eu/timed").raw.value, 99U);
  EXPECT_GT(seen.at("eu/timed").set_ns, 0U);
  EXPECT_EQ(seen.at("eu/plain").raw.value, 7U);
  EXPECT_EQ(seen.at("eu/state").text, "draining\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
  EXPECT_GT(seen.at("eu/state").set_ns, 0U);
}

TEST_P(Values, ChangeTogetherInAnUpdate) {
  const mb_recorder latency = recorder();
  const mb_gauge real = gauge(1), whole = gauge(2), timed = gauge(3);
  const mb_text state = text();
  mb_update update = mb_update_begin(&eu_);
  mb_update_record(&update, &latency, 0.5);
  mb_update_record(&update, &latency, 0.25);
  mb_update_set_gauge(&update, &real, 1.5);
  mb_update_set_gauge_signed(&update, &whole, INT64_MIN);
  mb_update_set_gauge_unsigned(&update, &timed, UINT64_MAX);
  mb_update_set_text(&update, &state, "up", 2);
  EXPECT_EQ(read_all(provider_).at("eu/timed").raw.value, 0U);
  mb_update_commit(&update);

  const auto seen = read_all(provider_);
  EXPECT_EQ(seen.at("eu/latency").distribution->count, 2U);
  EXPECT_EQ(seen.at("eu/latency").distribution->sum, 0.75);
  EXPECT_EQ(std::bit_cast<double>(seen.at("eu/real").raw.value), 1.5);
  EXPECT_EQ(std::bit_cast<std::int64_t>(seen.at("eu/signed").raw.value), INT64_MIN);
  EXPECT_EQ(seen.at("eu/timed").raw.value, UINT64_MAX);
  EXPECT_GT(seen.at("eu/timed").set_ns, 0U);
  EXPECT_EQ(seen.at("eu/state").text, "up");
}

TEST_P(Values, KeepToTheRangeOfTheirForm) {
  const mb_gauge whole = gauge(2), plain = gauge(5);
  mb_gauge_set(&whole, -1e300);
  mb_gauge_set(&plain, -5);
  auto seen = read_all(provider_);
  EXPECT_EQ(std::bit_cast<std::int64_t>(seen.at("eu/signed").raw.value), INT64_MIN);
  EXPECT_EQ(seen.at("eu/plain").raw.value, 0U);
  mb_gauge_set(&whole, std::nan(""));
  mb_gauge_set(&plain, std::numeric_limits<double>::infinity());
  seen = read_all(provider_);
  EXPECT_EQ(seen.at("eu/signed").raw.value, 0U);
  EXPECT_EQ(seen.at("eu/plain").raw.value, UINT64_MAX);
}

TEST_P(Values, MayBeEmptyOrNotUtf8) {
  const mb_text state = text();
  mb_text_set(&state, "\xff\xfe", 2);
  EXPECT_EQ(read_all(provider_).at("eu/state").text, "\xef\xbf\xbd\xef\xbf\xbd");
  mb_text_set(&state, nullptr, 5);
  EXPECT_EQ(read_all(provider_).at("eu/state").text, "");
  mb_text_set(&state, "a\0b", 3);
  EXPECT_EQ(read_all(provider_).at("eu/state").text, std::string_view("a\0b", 3));
}

INSTANTIATE_TEST_SUITE_P(OfC, Values, testing::Values(0U, MB_SET_MANY, MB_SET_CUTS));

TEST(SpecificationOfC, BecomesTheSameSchemaAsThatOfCpp) {
  const OrdersProvider provider;
  OrdersSpec spec;
  spec.set.help = "Gateway.";
  spec.set.label = "venue";
  spec.set.guid = {0x5f0c1e2a, 0x3d6b, 0x4a57, {0x9a, 0x51, 0x6c, 0x1d, 0x0e, 0x8f, 0x7b, 0x42}};
  spec.set.instances = MB_INSTANCES_MULTIPLE_AGGREGATE;
  spec.counters[0].unit = "{order}";
  spec.counters[0].help = "Accepted orders.";
  spec.counters[0].aggregate = MB_AGGREGATE_MAXIMUM;
  spec.counters[0].scale = -3;
  spec.counters[0].detail = 200;
  spec.counters[0].attributes = 9;
  spec.counters[1].base = MB_LINK(5);
  ASSERT_NE(provider.add(spec.get()), nullptr);

  auto catalog = *Catalog::open({.directory = provider.directory().path()});
  ASSERT_TRUE(catalog.refresh());
  ASSERT_EQ(catalog.providers().size(), 1U);
  const Counterset& set = *catalog.providers()[0]->sets.at(0).set;
  EXPECT_EQ(set.name, "Orders");
  EXPECT_EQ(set.help, "Gateway.");
  EXPECT_EQ(set.label, "venue");
  EXPECT_EQ(set.guid.text(), "{5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42}");
  EXPECT_EQ(set.instances, InstanceKind::kMultipleAggregate);
  ASSERT_EQ(set.counters.size(), 3U);
  EXPECT_EQ(set.counters[0].unit, "{order}");
  EXPECT_EQ(set.counters[0].help, "Accepted orders.");
  EXPECT_EQ(set.counters[0].aggregate, kAggregateMaximum);
  EXPECT_EQ(set.counters[0].scale, -3);
  EXPECT_EQ(set.counters[0].detail, 200U);
  EXPECT_EQ(set.counters[0].base, kNoCounter);
  EXPECT_EQ(set.counters[1].base, 2U);  // the position of counter 5
  EXPECT_EQ(set.counters[1].detail, 100U);
}

TEST(InstanceOfC, HasTheIdThatItAskedFor) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance_options options = MB_INSTANCE_OPTIONS_INIT;
  options.id = MB_LINK(0);
  mb_instance eu;
  ASSERT_EQ(mb_set_create_instance(set, "eu", &options, &eu, nullptr), MB_OK);
  EXPECT_EQ(mb_instance_id(&eu), 0U);
  const mb_instance us = create_instance(set, "us");
  EXPECT_NE(mb_instance_id(&us), 0U);
}

TEST(InstanceOfC, IsFoundByNameWhileItLives) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  mb_instance found;
  ASSERT_EQ(mb_set_find_instance(set, "EU", &found, nullptr), MB_OK);
  mb_instance_add(&found, kAccepted, 2);
  EXPECT_EQ(mb_instance_value(&eu, kAccepted), 2U);
  mb_instance_close(&found);
  mb_instance_free(&found);
  EXPECT_EQ(read_all(provider).count("eu/accepted"), 1U);
  mb_instance_close(&eu);
  EXPECT_EQ(mb_set_find_instance(set, "eu", &found, nullptr), MB_NOT_FOUND);
  EXPECT_EQ(found.block.words, 0U);
}

TEST(InstanceOfC, MayShareItsNameOrItsIdWhereTheSetSaysSo) {
  const OrdersProvider provider;
  OrdersSpec spec(MB_SET_NAME_AND_ID);
  mb_set* const set = provider.add(spec.get());
  const auto create = [set](const char* name, std::uint32_t id, mb_instance& instance) {
    mb_instance_options options = MB_INSTANCE_OPTIONS_INIT;
    options.id = MB_LINK(id);
    return mb_set_create_instance(set, name, &options, &instance, nullptr);
  };
  mb_instance nine, four, other, again, found;
  ASSERT_EQ(create("eu", 9, nine), MB_OK);
  ASSERT_EQ(create("eu", 4, four), MB_OK);
  ASSERT_EQ(create("us", 9, other), MB_OK);
  EXPECT_EQ(create("EU", 9, again), MB_EXISTS);
  EXPECT_EQ(mb_instance_id(&nine), 9U);
  EXPECT_EQ(mb_instance_id(&other), 9U);
  ASSERT_EQ(mb_set_find_instance(set, "eu", &found, nullptr), MB_OK);
  mb_instance_add(&found, kAccepted, 2);  // the one with the smallest id
  EXPECT_EQ(mb_instance_value(&four, kAccepted), 2U);
}

TEST(InstanceOfC, GoesAtCloseAndItsMemoryAtFree) {
  const OrdersProvider provider(0);
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  const uint64_t* const memory = eu.block.seq;
  mb_instance_close(&eu);
  EXPECT_TRUE(read_all(provider).empty());
  for (int i = 0; i < 100; ++i) {
    mb_instance other = create_instance(set, "us");
    EXPECT_NE(other.block.seq, memory) << "a copy may still count";
    mb_instance_free(&other);
  }
  mb_instance_free(&eu);
  bool is_used_again = false;
  for (int i = 0; i < 100 && !is_used_again; ++i) {
    const mb_instance other = create_instance(set, std::to_string(i).c_str());
    is_used_again = other.block.seq == memory;
  }
  EXPECT_TRUE(is_used_again);
}

TEST(ProviderOfC, SaysWhereItsRecordIs) {
  const OrdersProvider provider;
  char path[4096];
  ASSERT_EQ(mb_provider_record(provider.get(), path, sizeof path, nullptr), MB_OK);
  EXPECT_EQ(std::string(path).find(provider.directory().path()), 0U);
  EXPECT_EQ(provider.directory().files(), 2U);
  mb_error error;
  EXPECT_EQ(mb_provider_record(provider.get(), path, 5, &error), MB_LIMIT);
  EXPECT_STREQ(path, "");
  mb_provider_close(provider.get());
  EXPECT_EQ(provider.directory().files(), 0U);
}

TEST(SetOfC, CanBeAddedAgainAfterItWasClosed) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_set* again = nullptr;
  EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &again, nullptr), MB_EXISTS);
  EXPECT_EQ(again, nullptr);
  mb_set_close(set);
  again = provider.add(spec.get());
  EXPECT_NE(again, nullptr);
  EXPECT_NE(again, set);
}

}  // namespace
}  // namespace meterbank::test
