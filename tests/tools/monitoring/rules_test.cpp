// SPDX-License-Identifier: Apache-2.0
#include "monitoring/rules/rules.hpp"

#include "monitored_fixture.hpp"

namespace meterbank::monitoring {
namespace {

using test::contains;
using test::monitored;
using test::set_of;

TEST(PrometheusRules, RecordRatesByProviderAndBySet) {
  const std::string rules = prometheus_rules(monitored({set_of("shop", {{"sold"}}, "aisle")}));
  EXPECT_TRUE(contains(rules, R"(      - record: provider:meterbank_shop_sold:rate5m
        expr: |-
          sum by (job, instance, provider) (rate(meterbank_shop_sold_total[5m]))
      - record: set:meterbank_shop_sold:rate5m
        expr: |-
          sum by (job) (rate(meterbank_shop_sold_total[5m]))
)")) << rules;
}

TEST(PrometheusRules, RecordPercentilesOfNativeHistograms) {
  const std::string rules = prometheus_rules(monitored(
      {set_of("shop", {{"time", CounterType::kBulkCount, "s", ValueForm::kDistribution}})}));
  for (const std::string_view percent : {"50", "90", "99"}) {
    EXPECT_TRUE(contains(rules, "record: provider:meterbank_shop_time_seconds:p" +
                                    std::string(percent) + "_5m\n        expr: |-\n          " +
                                    "histogram_quantile(0." + std::string(percent) +
                                    ", sum by (job, instance, provider) "
                                    "(rate(meterbank_shop_time_seconds[5m])))\n"))
        << rules;
  }
  EXPECT_FALSE(contains(rules, "_bucket"));
}

TEST(PrometheusRules, RecordRatiosAndMeansOverTheirBases) {
  const std::string rules =
      prometheus_rules(monitored({set_of("shop", {{"hits", CounterType::kSampleFraction},
                                                  {"looks", CounterType::kSampleBase}}),
                                  set_of("till", {{"items", CounterType::kAverageBulk},
                                                  {"customers", CounterType::kAverageBase}})}));
  EXPECT_TRUE(contains(rules,
                       "record: set:meterbank_shop_hits:ratio_rate5m\n"
                       "        expr: |-\n"
                       "          sum by (job) (rate(meterbank_shop_hits_total[5m])) / "
                       "sum by (job) (rate(meterbank_shop_looks_total[5m]))\n"))
      << rules;
  EXPECT_TRUE(contains(rules,
                       "record: set:meterbank_till_items:mean5m\n"
                       "        expr: |-\n"
                       "          sum by (job) (rate(meterbank_till_items_sum[5m])) / "
                       "sum by (job) (rate(meterbank_till_items_count[5m]))\n"))
      << rules;
}

TEST(PrometheusRules, JoinLevelsOnlyAsTheSchemaSays) {
  Counterset shop = set_of("shop", {{"stock", CounterType::kLargeRawCount},
                                    {"warmth", CounterType::kLargeRawCount},
                                    {"place", CounterType::kLargeRawCount}});
  shop.counters[0].aggregate = kAggregateSum;
  shop.counters[1].aggregate = kAggregateMaximum;
  const std::string rules = prometheus_rules(monitored({shop}));
  EXPECT_TRUE(contains(rules,
                       "record: set:meterbank_shop_stock:sum\n        expr: |-\n"
                       "          sum by (job) (meterbank_shop_stock)\n"));
  EXPECT_TRUE(contains(rules, "record: set:meterbank_shop_warmth:max\n"));
  EXPECT_FALSE(contains(rules, "meterbank_shop_place:")) << rules;
}

TEST(PrometheusRules, UseThePrefixOfThePages) {
  const std::string rules = prometheus_rules(monitored({set_of("shop", {{"sold"}})}, "acme_"));
  EXPECT_FALSE(contains(rules, " meterbank_")) << rules;
  EXPECT_TRUE(contains(rules, "acme_provider_info{state=\"dead\"}"));
  EXPECT_TRUE(contains(rules, "provider:acme_shop:rows"));
}

TEST(PrometheusRules, TellTheKindOfEachAlertAndWaitBeforeItFires) {
  const std::string rules = prometheus_rules(monitored({set_of("shop", {{"sold"}})}));
  std::size_t alerts = 0;
  for (std::size_t at = rules.find("- alert: "); at != std::string::npos;
       at = rules.find("- alert: ", at + 1), ++alerts) {
    const std::string rule = rules.substr(at, rules.find("      - ", at + 1) - at);
    for (const std::string_view key : {"expr:", "for:", "severity:", "summary:", "description:"}) {
      EXPECT_TRUE(contains(rule, key)) << rule;
    }
  }
  EXPECT_EQ(alerts, 9U);
  EXPECT_FALSE(contains(rules, "critical"));
}

}  // namespace
}  // namespace meterbank::monitoring
