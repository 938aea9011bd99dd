// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "pcp/metrics/set_metrics.hpp"

namespace meterbank::pcp {
namespace {

CounterView counter(std::uint32_t id, const std::string& symbol, CounterType type,
                    const std::string& unit = "") {
  CounterView made;
  made.id = id;
  made.word = id - 1;
  made.type = type;
  made.symbol = symbol;
  made.name = symbol;
  made.unit = unit;
  return made;
}

// Path, type, semantics and units, as pminfo prints them.
std::vector<std::string> lines_of(const Counterset& set) {
  std::vector<std::uint32_t> all(set.counters.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::map<int, std::string> semantics = {
      {PM_SEM_COUNTER, "counter"}, {PM_SEM_INSTANT, "instant"}, {PM_SEM_DISCRETE, "discrete"}};
  const auto units_of = [](const pmUnits& units) {
    const std::string text = pmUnitsStr(&units);
    return text.empty() ? std::string("none") : text;
  };
  std::vector<std::string> lines;
  for (const SetMetric& metric : metrics_of(set, all)) {
    lines.push_back(metric.path + ": " + pmTypeStr(metric.type) + ", " +
                    semantics.at(metric.semantics) + ", " + units_of(metric.units));
    if (!metric.ucum.empty()) lines.back() += ", " + metric.ucum;
    if (metric.source.multiple != 1) {
      lines.back() += ", times " + std::to_string(metric.source.multiple);
    }
  }
  return lines;
}

Counterset set_of(std::vector<CounterView> counters) {
  Counterset set;
  set.name = set.symbol = "shop";
  set.counters = std::move(counters);
  return set;
}

using Lines = std::vector<std::string>;

TEST(PcpMetrics, OfNumbersHaveTheTypesOfPcp) {
  std::vector<CounterView> counters = {counter(1, "sold", CounterType::kBulkCount),
                                       counter(2, "stock", CounterType::kLargeRawCount, "{item}"),
                                       counter(3, "volts", CounterType::kLargeRawCount, "V"),
                                       counter(4, "balance", CounterType::kLargeRawCount),
                                       counter(5, "load", CounterType::kLargeRawCount),
                                       counter(6, "share", CounterType::kLargeRawCount, "10*-2")};
  counters[3].form = ValueForm::kSigned;
  counters[4].form = ValueForm::kReal;

  EXPECT_EQ(lines_of(set_of(std::move(counters))),
            (Lines{"sold: U64, counter, count", "stock: U64, instant, count",
                   "volts: U64, instant, none, V", "balance: 64, instant, none",
                   "load: DOUBLE, instant, none", "share: DOUBLE, instant, none"}));
}

TEST(PcpMetrics, HaveTheFirstLineOfTheHelpAndAllOfIt) {
  Counterset set = set_of({counter(1, "sold", CounterType::kBulkCount)});
  set.counters[0].help = "Items sold.\nAll\x1b of them.";
  const std::vector<std::uint32_t> all = {0};

  const SetMetric metric = metrics_of(set, all)[0];

  EXPECT_EQ(metric.oneline, "Items sold.");
  EXPECT_EQ(metric.help, "Items sold.\nAll\xef\xbf\xbd of them.");
}

TEST(PcpMetrics, OfTimersAreNanoseconds) {
  EXPECT_EQ(lines_of(set_of({counter(1, "busy", CounterType::kTimer100Ns),
                             counter(2, "cpu", CounterType::kTimer),
                             counter(3, "free", CounterType::kTimer100NsInverse)})),
            (Lines{"busy: U64, counter, nanosec, times 100", "cpu: U64, counter, nanosec",
                   "free_idle: U64, counter, nanosec, times 100"}));
}

TEST(PcpMetrics, OfAveragesAreASumAndACount) {
  std::vector<CounterView> counters = {counter(1, "bytes_each", CounterType::kAverageBulk, "By"),
                                       counter(2, "orders", CounterType::kAverageBase)};
  counters[0].base = 1;

  EXPECT_EQ(lines_of(set_of(std::move(counters))),
            (Lines{"bytes_each.sum: U64, counter, byte", "bytes_each.count: U64, counter, count"}));
}

TEST(PcpMetrics, OfDistributionsAndTexts) {
  std::vector<CounterView> counters = {counter(1, "latency", CounterType::kBulkCount, "ms"),
                                       counter(2, "state", CounterType::kText)};
  counters[0].form = ValueForm::kDistribution;
  counters[1].form = ValueForm::kText;

  EXPECT_EQ(
      lines_of(set_of(std::move(counters))),
      (Lines{"latency.count: U64, counter, count", "latency.sum: DOUBLE, counter, millisec",
             "latency.p50: DOUBLE, instant, millisec", "latency.p90: DOUBLE, instant, millisec",
             "latency.p99: DOUBLE, instant, millisec", "latency.p99_9: DOUBLE, instant, millisec",
             "latency.max: DOUBLE, instant, millisec", "state: STRING, discrete, none"}));
}

TEST(PcpMetrics, OfCountersWhoseNamesBecomeOneHaveTheirIds) {
  EXPECT_EQ(lines_of(set_of({counter(1, "a_b", CounterType::kBulkCount),
                             counter(2, "A__B", CounterType::kBulkCount),
                             counter(3, "a_b_2", CounterType::kBulkCount),
                             counter(9, "_", CounterType::kBulkCount)})),
            (Lines{"a_b: U64, counter, count", "a_b_2: U64, counter, count",
                   "a_b_2_3: U64, counter, count", "counter_9: U64, counter, count"}));
}

}  // namespace
}  // namespace meterbank::pcp
