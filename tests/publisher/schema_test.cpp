// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/schema.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

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

}  // namespace
}  // namespace meterbank
