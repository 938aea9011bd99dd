// SPDX-License-Identifier: Apache-2.0
//
// Iterating over samples: rows, their values, and the memory that it takes.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../support/allocation_count.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::iteration_test {
namespace {

enum Stage : std::uint32_t { kServed, kLatency, kState };
constexpr std::array kCounters{CounterSpec{.id = 1,
                                           .name = "Served/sec",
                                           .symbol = "served",
                                           .unit = "{order}",
                                           .help = "Orders served.",
                                           .aggregate = kAggregateSum},
                               CounterSpec{.id = 2,
                                           .name = "Latency",
                                           .symbol = "latency",
                                           .unit = "s",
                                           .aggregate = kAggregateSum,
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 4, .least = 1e-6, .most = 10}},
                               CounterSpec{.id = 3,
                                           .name = "State",
                                           .symbol = "state",
                                           .type = CounterType::kText,
                                           .form = ValueForm::kText,
                                           .timed = true,
                                           .text_bytes = 64}};
constexpr Guid kStages{0x12345678, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
constexpr const char* kLongText = "a text that is longer than a string holds without memory";

class SampleIteration : public testing::TestWithParam<InstanceKind> {
 protected:
  struct Share {
    Provider provider;
    Registration set;
    Instance instance;
  };
  Share start(const std::string& name) {
    Provider provider = *Provider::create({.name = name, .directory = directory_.path()});
    Registration set = *provider.add({.name = "Stages",
                                      .symbol = "stages",
                                      .label = "stage",
                                      .guid = kStages,
                                      .instances = GetParam(),
                                      .counters = kCounters});
    const bool has_name = has_instance_names(GetParam());
    Instance instance = *set.create_instance(has_name ? "soup of " + name : "");
    Share share{std::move(provider), std::move(set), std::move(instance)};
    work(share);
    return share;
  }
  static void work(Share& share) {
    share.instance.add(kServed, 3);
    share.instance.recorder(kLatency).record(0.25);
    share.instance.text(kState).set(kLongText);
  }
  [[nodiscard]] Catalog open() const { return *Catalog::open({.directory = directory_.path()}); }

  test::TemporaryDirectory directory_;
};

struct Seen {
  std::size_t rows = 0, totals = 0, values = 0, texts = 0;
  std::uint64_t recorded = 0;  // in all distributions

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen look(const Rows& rows) {
  Seen seen;
  for (const Row& row : rows) {
    ++seen.rows;
    seen.totals += row.is_total ? 1U : 0U;
    for (const Value& value : row) {
      ++seen.values;
      if (value.text && *value.text == kLongText) ++seen.texts;
      if (value.distribution != nullptr) seen.recorded += value.distribution->count;
    }
  }
  return seen;
}

template <typename AnyQuery>
void expect_no_allocation(AnyQuery& query, auto&& work, bool has_rows) {
  const std::size_t recorded_each = has_rows ? 4 : 2;  // of two instances, and in their total
  std::array<Sample, 2> samples;
  query.collect(samples[0]);
  for (std::size_t round = 0; round < 6; ++round) {
    work();
    const Sample& older = samples[round % 2];
    Sample& newer = samples[1 - round % 2];
    query.prepare(newer);
    const std::size_t before = test::allocations_made();
    query.collect(newer);
    const Seen seen = look(newer.since(older));
    const std::size_t made = test::allocations_made() - before;
    EXPECT_EQ(seen.recorded, recorded_each);
    EXPECT_GT(seen.totals, 0U);
    EXPECT_EQ(seen.texts > 0, has_rows);  // a total has no text
    if (round == 0) {
      EXPECT_GT(made, 0U) << "nothing counts allocations";
    } else {
      EXPECT_EQ(made, 0U) << round;
    }
  }
}

TEST_P(SampleIteration, AllocatesNothingFromTheSecondRoundOn) {
  Share first = start("first"), second = start("second");
  std::optional<Share> third = start("third");
  Catalog catalog = open();
  Query paths = *Query::compile(catalog, {"stages/*/*", "stages/_Total/*"});
  ItemQuery items = ItemQuery::compile(
      catalog, {{.set = kStages, .instances = has_instance_names(GetParam()) ? "*" : ""}});
  third.reset();  // where the set keeps a history, totals go on counting it
  catalog.refresh();
  paths.update(catalog);
  items.update(catalog);
  const auto work_both = [&] {
    work(first);
    work(second);
  };
  const bool has_rows = has_instance_names(GetParam());
  expect_no_allocation(paths, work_both, has_rows);
  expect_no_allocation(items, work_both, has_rows);
}

INSTANTIATE_TEST_SUITE_P(OfTotals, SampleIteration,
                         testing::Values(InstanceKind::kMultipleAggregate,
                                         InstanceKind::kGlobalAggregateHistory));

class SampleRows : public SampleIteration {};

TEST_P(SampleRows, SayWhatTheyAreAndGiveTheirValuesAsOftenAsAsked) {
  const Share first = start("first");
  const Catalog catalog = open();
  Query query = *Query::compile(catalog, {"stages/soup*/*"});
  Sample sample;
  EXPECT_TRUE(sample.empty());
  EXPECT_EQ(look(sample.rows()), Seen());
  query.collect(sample);
  std::vector<Row> copies;
  for (const Row& row : sample) {
    EXPECT_EQ(row.name(), "soup of first");
    EXPECT_EQ(row.set_label(), "stage");
    EXPECT_EQ(row.provider_label(), row.provider->label());
    EXPECT_EQ(row.status, RowStatus::kFresh);
    EXPECT_EQ(row.time_ns, sample.time.monotonic_ns);
    std::vector<std::string> symbols;
    for (int turn = 0; turn < 2; ++turn) {
      for (const Value& value : row) symbols.push_back(value.symbol() + " " + value.unit());
    }
    EXPECT_EQ(symbols, (std::vector<std::string>{"served {order}", "latency s", "state ",
                                                 "served {order}", "latency s", "state "}));
    EXPECT_EQ((*row.begin()).help(), "Orders served.");
    EXPECT_EQ(row.begin()->cooked.status, CookStatus::kFirstSample);
    // An iteration inside another one does not disturb it.
    EXPECT_EQ(look(sample.rows()), (Seen{1, 0, 3, 1, 1}));
    copies.push_back(row);
  }
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].name(), "soup of first");
  EXPECT_TRUE(copies[0].begin() == Row::end());
  sample.clear();
  EXPECT_TRUE(sample.begin() == Sample::end());
}

INSTANTIATE_TEST_SUITE_P(OfNamedInstances, SampleRows,
                         testing::Values(InstanceKind::kMultipleAggregate));

}  // namespace
}  // namespace meterbank::iteration_test
