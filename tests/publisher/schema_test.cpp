// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/schema.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "../support/orders_schema.hpp"

namespace meterbank {
namespace {

TEST(Schema, DescribesItselfCompletely) {
  const auto bytes = encode_schema(test::kOrders, "orders");
  ASSERT_TRUE(bytes) << bytes.error().message();
  SchemaHeader header{};
  std::memcpy(&header, bytes->data(), sizeof header);
  EXPECT_EQ(header.bytes, bytes->size());
  EXPECT_EQ(header.counters, 3U);
  EXPECT_EQ(header.guid, test::kOrders.guid);
  const auto text = [&](TextRef ref) {
    return std::string(reinterpret_cast<const char*>(bytes->data()) + ref.offset, ref.bytes);
  };
  EXPECT_EQ(text(header.name), "Demo Orders");
  CounterRecord last{};
  std::memcpy(&last, bytes->data() + sizeof header + 2 * sizeof last, sizeof last);
  EXPECT_EQ(last.id, 5U);
  EXPECT_EQ(text(last.symbol), "queue_depth");
  EXPECT_EQ(text(last.help), "Orders waiting.");
}

TEST(Schema, DerivesAStableGuidWhereNoneIsGiven) {
  CountersetSpec spec = test::kOrders;
  spec.guid = {};
  const auto first = encode_schema(spec, "orders");
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, *encode_schema(spec, "orders"));
  EXPECT_NE(*first, *encode_schema(spec, "other"));
}

TEST(Schema, RefusesEachBrokenRuleWithAReason) {
  std::array<CounterSpec, 3> counters = test::kVenueCounters;
  CountersetSpec spec = test::kOrders;
  spec.counters = counters;
  const auto refused = [&] {
    const auto result = encode_schema(spec, "orders");
    EXPECT_FALSE(result);
    counters = test::kVenueCounters;
    const bool named = !result && result.error().what.find("Demo Orders") != std::string::npos;
    EXPECT_TRUE(named);
  };
  ASSERT_TRUE(encode_schema(spec, "orders"));
  counters[1].id = 1;
  refused();
  counters[1].name = "aCCepted/SEC";
  refused();
  counters[1].symbol = "accepted";
  refused();
  counters[1].symbol = "no spaces";
  refused();
  counters[1].symbol = "";
  refused();
  counters[1].base = 9;
  refused();
  counters[1].scale = 11;
  refused();
  counters[1].type = CounterType::kNoData;
  refused();
  counters[1].id = kNoCounter;
  refused();
  spec.counters = {};
  refused();
}

TEST(Schema, RefusesEmptyOverLongAndUndecodableNames) {
  CountersetSpec spec = test::kOrders;
  const std::string long_name(1024, 'x');
  for (const std::string_view name : {std::string_view(""), std::string_view(long_name),
                                      std::string_view("\xff\xfe"), std::string_view("a\nb")}) {
    spec.name = name;
    EXPECT_FALSE(encode_schema(spec, "orders"));
  }
}

// What the words of a counter are has to fit its type and its set; each rule is said by name.
TEST(Schema, RefusesFormsThatDoNotFit) {
  const auto refusal = [](CounterSpec counter, CountersetSpec spec = test::kOrders) {
    counter.id = 1;
    counter.name = "X";
    counter.symbol = "x";
    spec.counters = {&counter, 1};
    const auto result = encode_schema(spec, "orders");
    return result ? std::string("taken") : result.error().what;
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  constexpr auto kRaw = CounterType::kLargeRawCount;
  CountersetSpec apart = test::kOrders;
  apart.consistency = Consistency::kIndependent;
  EXPECT_EQ(refusal({.type = kRaw, .form = ValueForm::kReal, .timed = true}), "taken");
  EXPECT_TRUE(has(refusal({.form = ValueForm::kReal}), "kLargeRawCount"));
  EXPECT_TRUE(has(refusal({.form = ValueForm::kSigned}), "kLargeRawCount"));
  EXPECT_TRUE(has(refusal({.timed = true}), "timed"));
  EXPECT_TRUE(has(refusal({.type = kRaw, .timed = true}, apart), "kBlock"));
  EXPECT_TRUE(has(refusal({.any_thread = true}), "kIndependent"));
  EXPECT_EQ(refusal({.any_thread = true}, apart), "taken");

  constexpr auto kText = CounterType::kText;
  EXPECT_EQ(refusal({.type = kText, .form = ValueForm::kText, .text_bytes = 256}), "taken");
  EXPECT_TRUE(has(refusal({.type = kText, .form = ValueForm::kText}), "1..256"));
  EXPECT_TRUE(has(refusal({.type = kText, .form = ValueForm::kText, .text_bytes = 257}), "1..256"));
  EXPECT_TRUE(has(refusal({.type = kText}), "go together"));
  EXPECT_TRUE(has(refusal({.form = ValueForm::kText, .text_bytes = 8}), "go together"));
  EXPECT_TRUE(has(refusal({.text_bytes = 8}), "text_bytes"));
  EXPECT_TRUE(
      has(refusal({.type = kText, .form = ValueForm::kText, .text_bytes = 8}, apart), "kBlock"));

  const auto buckets = [&](BucketSpec spec) {
    return refusal({.form = ValueForm::kDistribution, .buckets = spec});
  };
  EXPECT_EQ(buckets({.scale = 3, .least = 1e-6, .most = 10}), "taken");
  for (const BucketSpec bad :
       {BucketSpec{}, BucketSpec{3, 0, 1}, BucketSpec{3, -1, 1}, BucketSpec{3, 2, 1},
        BucketSpec{9, 1, 2}, BucketSpec{-5, 1, 2}, BucketSpec{8, 1e-9, 1e9},
        BucketSpec{3, 1, std::numeric_limits<double>::infinity()},
        BucketSpec{3, std::numeric_limits<double>::quiet_NaN(), 1}}) {
    EXPECT_TRUE(has(buckets(bad), "buckets:")) << bad.scale << " " << bad.least << " " << bad.most;
  }
  EXPECT_TRUE(has(refusal({.type = CounterType::kElapsedTime,
                           .form = ValueForm::kDistribution,
                           .buckets = {.scale = 3, .least = 1, .most = 2}}),
                  "kBulkCount"));
  EXPECT_TRUE(has(refusal({.type = kRaw,
                           .form = ValueForm::kDistribution,
                           .timed = true,
                           .buckets = {.scale = 3, .least = 1, .most = 2}}),
                  "timed"));
}

TEST(Schema, RefusesMoreWordsThanABlockHas) {
  std::array<CounterSpec, 3> counters = test::kVenueCounters;
  for (CounterSpec& counter : counters) {
    counter.type = CounterType::kBulkCount;
    counter.form = ValueForm::kDistribution;
    counter.buckets = {.scale = 5, .least = 1e-9, .most = 1e9};  // 1,914 buckets each
  }
  CountersetSpec spec = test::kOrders;
  spec.counters = counters;
  const auto result = encode_schema(spec, "orders");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().what.find("4096 are the most"), std::string::npos)
      << result.error().what;
  spec.counters = std::span(counters).first(2);
  EXPECT_TRUE(encode_schema(spec, "orders"));
}

}  // namespace
}  // namespace meterbank
