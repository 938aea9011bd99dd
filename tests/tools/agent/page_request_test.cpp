// SPDX-License-Identifier: Apache-2.0
#include "agent/http/page_request.hpp"

#include <gtest/gtest.h>

namespace meterbank::agent {
namespace {

std::string refusal(const Parameters& parameters) {
  const auto options = parse_page_request(parameters);
  return options ? std::string() : options.error().message();
}

TEST(PageRequest, UnderstandsEachParameter) {
  const auto options = parse_page_request({{"set", "demo*"},
                                           {"set", "host"},
                                           {"instance", "eu"},
                                           {"provider", "orders"},
                                           {"name[]", "x_*"},
                                           {"shard", "2/5"},
                                           {"buckets", "0.001,1,2.5e1"}});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->sets.size(), 2U);
  EXPECT_EQ(options->instances.size(), 1U);
  EXPECT_EQ(options->providers.size(), 1U);
  EXPECT_EQ(options->names.size(), 1U);
  EXPECT_EQ(options->shard, 2U);
  EXPECT_EQ(options->shards, 5U);
  EXPECT_EQ(options->buckets, (std::vector<double>{0.001, 1, 25}));
}

TEST(PageRequest, SaysWhatIsWrongAndWhatToTry) {
  EXPECT_EQ(refusal({{"sets", "x"}}),
            "unknown parameter sets; try: set, instance, provider, name[], shard or buckets");
  for (const std::string shard : {"", "1", "1/", "/2", "2/2", "-1/2", "0/0", "1/2/3", "0/10001"}) {
    EXPECT_EQ(refusal({{"shard", shard}}),
              "invalid shard: " + shard + "; try: I/N, with I from 0 to N-1: shard=0/4");
  }
  for (const std::string buckets : {"", "x", "1,1", "2,1", "0", "-1", "inf", "nan", "1,"}) {
    EXPECT_EQ(refusal({{"buckets", buckets}}),
              "invalid buckets: " + buckets +
                  "; try: ascending positive numbers: buckets=0.001,0.01,0.1");
  }
}

TEST(SetRequest, TakesSetsAndProvidersOnly) {
  const auto options = parse_set_request({{"set", "demo*"}, {"provider", "orders"}, {"set", "x"}});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->sets.size(), 2U);
  EXPECT_EQ(options->providers.size(), 1U);
  for (const std::string name : {"instance", "name[]", "shard", "buckets", "sets"}) {
    const auto refused = parse_set_request({{name, "1"}});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message(), "unknown parameter " + name + "; try: set or provider");
  }
  EXPECT_FALSE(parse_set_request(Parameters(257, {"set", "x"})));
}

TEST(PageRequest, LimitsWhatARequestCosts) {
  EXPECT_NE(refusal({{"set", std::string(1025, 'x')}}), "");
  EXPECT_NE(refusal(Parameters(257, {"set", "x"})), "");
  std::string buckets = "1";
  for (int bound = 2; bound <= 513; ++bound) buckets += "," + std::to_string(bound);
  EXPECT_NE(refusal({{"buckets", buckets}}), "");
}

}  // namespace
}  // namespace meterbank::agent
