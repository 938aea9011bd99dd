// SPDX-License-Identifier: Apache-2.0
//
// Rows made of others where counters are more than plain numbers.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "../../support/cooked_values.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::total_form_test {
namespace {

constexpr Timestamp kStart{1'000'000'000, 0};

constexpr CounterSpec gauge(std::uint32_t id, std::string_view symbol, ValueForm form,
                            std::uint32_t aggregate) {
  return {.id = id,
          .name = symbol,
          .symbol = symbol,
          .type = CounterType::kLargeRawCount,
          .aggregate = aggregate,
          .form = form};
}
constexpr std::array kCounters{gauge(1, "signed_sum", ValueForm::kSigned, kAggregateSum),
                               gauge(2, "signed_least", ValueForm::kSigned, kAggregateMinimum),
                               gauge(3, "signed_most", ValueForm::kSigned, kAggregateMaximum),
                               gauge(4, "signed_mean", ValueForm::kSigned, kAggregateAverage),
                               gauge(5, "real_sum", ValueForm::kReal, kAggregateSum),
                               gauge(6, "real_least", ValueForm::kReal, kAggregateMinimum),
                               gauge(7, "real_mean", ValueForm::kReal, kAggregateAverage),
                               CounterSpec{.id = 8,
                                           .name = "sizes",
                                           .symbol = "sizes",
                                           .type = CounterType::kLargeRawCount,
                                           .aggregate = kAggregateSum,
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 4, .least = 1, .most = 1000}}};
constexpr std::uint32_t kGauges = 7;

class TotalFormTest : public testing::TestWithParam<InstanceKind> {
 protected:
  struct Share {
    Provider provider;
    Registration set;
    Instance instance;
  };
  Share start(const std::string& name, double value) {
    Provider provider = *Provider::create({.name = name, .directory = directory_.path()});
    Registration set = *provider.add({.name = "Sites",
                                      .symbol = "sites",
                                      .guid = {0x87654321, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}},
                                      .instances = GetParam(),
                                      .counters = kCounters});
    Instance instance = *set.create_instance("");
    Share share{std::move(provider), std::move(set), std::move(instance)};
    for (std::uint32_t i = 0; i < kGauges; ++i) share.instance.gauge(i).set(value);
    share.instance.recorder(kGauges).record(100 + value);
    return share;
  }
  // Of one sample, by symbol.
  [[nodiscard]] static std::map<std::string, test::KeptValue> look(const Sample& sample) {
    std::map<std::string, test::KeptValue> rows;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
      rows[row.counter->symbol] = row;
    return rows;
  }
  static void expect_both(std::map<std::string, test::KeptValue> rows) {
    const auto value = [&rows](const char* name) { return rows[name].cooked.value; };
    const auto real = [&rows](const char* name) {
      return std::bit_cast<double>(rows[name].raw.value);
    };
    EXPECT_EQ(value("signed_sum"), -6);
    EXPECT_EQ(value("signed_least"), -10);
    EXPECT_EQ(value("signed_most"), 4);
    EXPECT_EQ(value("signed_mean"), -3);
    EXPECT_EQ(value("real_sum"), -6);
    EXPECT_EQ(value("real_least"), -10);
    EXPECT_EQ(value("real_mean"), -3);
    // Stored values are joined in the form in which they are stored.
    EXPECT_EQ(static_cast<std::int64_t>(rows["signed_least"].raw.value), -10);
    EXPECT_EQ(static_cast<std::int64_t>(rows["signed_most"].raw.value), 4);
    EXPECT_EQ(static_cast<std::int64_t>(rows["signed_mean"].raw.value), -3);
    EXPECT_EQ(real("real_sum"), -6);
    EXPECT_EQ(real("real_mean"), -3);
    ASSERT_NE(rows["sizes"].distribution, nullptr);
    EXPECT_EQ(rows["sizes"].distribution->count, 2U);
    EXPECT_EQ(rows["sizes"].distribution->sum, 194);
  }

  test::TemporaryDirectory directory_;
};

TEST_P(TotalFormTest, JoinsValuesInTheFormTheyAreStoredIn) {
  const Share one = start("a", 4);
  const Share two = start("b", -10);
  Query query = *Query::compile(*Catalog::open({.directory = directory_.path()}), {"sites"});
  Sample sample;
  query.collect(sample, kStart);

  expect_both(look(sample));
}

TEST_P(TotalFormTest, LeavesOutNonNumericValues) {
  const Share one = start("a", 4);
  Share two = start("b", -10);
  two.instance.gauge(4).set(std::numeric_limits<double>::quiet_NaN());
  Query query = *Query::compile(*Catalog::open({.directory = directory_.path()}), {"sites"});
  Sample sample;
  query.collect(sample, kStart);

  EXPECT_EQ(look(sample)["real_sum"].cooked.value, 4);
}

INSTANTIATE_TEST_SUITE_P(OfShares, TotalFormTest,
                         testing::Values(InstanceKind::kGlobalAggregate,
                                         InstanceKind::kGlobalAggregateHistory));

class TotalFormHistory : public TotalFormTest {};

TEST_P(TotalFormHistory, CountsEndedInstancesInTheirForm) {
  const Share one = start("a", 4);
  std::optional<Share> two = start("b", -10);
  Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query query = *Query::compile(catalog, {"sites"});
  Sample before;
  query.collect(before, kStart);
  two.reset();
  catalog.refresh();
  query.update(catalog);
  Sample sample;
  query.collect(sample, kStart);

  expect_both(look(sample));
  // Nothing was recorded between two samples of what is gone.
  for (const test::KeptValue& row : test::cooked_values(before, sample)) {
    if (row.counter->symbol != "sizes") continue;
    ASSERT_NE(row.distribution, nullptr);
    EXPECT_EQ(row.distribution->count, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(OfShares, TotalFormHistory,
                         testing::Values(InstanceKind::kGlobalAggregateHistory));

}  // namespace
}  // namespace meterbank::total_form_test
