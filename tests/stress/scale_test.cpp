// SPDX-License-Identifier: Apache-2.0
//
// Very many instances of one set: all of them are listed, selected and read, with the limits that a
// reader has by default.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <vector>

#include "../support/depth.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "numbered_rows.hpp"

namespace meterbank {
namespace {

using test::runs_long;

// Prints what a step took and passes its result on; for people, nothing is asserted about it.
template <typename F>
auto timed(const char* step, std::uint64_t rows, F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = work();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  std::cout << "  " << rows << " instances, " << step << ": " << took.count() / 1000 << " ms, "
            << took.count() * 1000 / static_cast<double>(rows) << " ns each\n";
  return result;
}

void expect_all_listed(const Catalog& catalog, std::uint64_t rows) {
  ASSERT_EQ(catalog.providers().size(), 1U);
  const ProviderView& provider = *catalog.providers().front();
  EXPECT_EQ(provider.errors.size(), 0U);
  ASSERT_EQ(provider.sets.size(), 1U);
  std::vector<bool> seen(rows, false);
  for (const InstanceView& instance : provider.sets.front().instances) {
    const auto number = test::number_of_row(instance.name);
    ASSERT_TRUE(number && *number < rows) << instance.name;
    EXPECT_FALSE(seen[*number]) << instance.name << " is listed twice";
    seen[*number] = true;
  }
  EXPECT_EQ(provider.sets.front().instances.size(), rows);
}

void expect_all_fresh(const Sample& sample, const CollectSummary& summary, std::uint64_t rows) {
  EXPECT_EQ(summary.rows, rows);
  EXPECT_EQ(summary.not_fresh, 0U);
  EXPECT_EQ(summary.failed_attempts, 0U);
  EXPECT_FALSE(summary.stale);
  std::uint64_t right = 0;
  for (const QueryPlan::Selection& selection : content_of(sample).plan->selections) {
    for (std::size_t index = selection.first_row; index < selection.first_row + selection.rows;
         ++index) {
      const InstanceView& instance = test::instance_of(*content_of(sample).plan, index);
      const auto number = test::number_of_row(instance.name);
      const bool is_right = number && content_of(sample).row(index)[0] == *number &&
                            content_of(sample).row(index)[1] == *number * 3 &&
                            content_of(sample).row(index)[2] == ~*number;
      right += is_right ? 1U : 0U;
    }
  }
  EXPECT_EQ(right, rows);
}

void live_with(std::uint64_t rows, bool many) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "scale",
                                     .directory = directory.path(),
                                     .instances_max = static_cast<std::uint32_t>(rows)});
  CountersetSpec spec = test::kOrders;
  spec.many = many;
  const Registration set = *provider.add(spec);
  std::vector<Instance> instances;
  instances.reserve(rows);
  timed("create and fill", rows, [&] {
    for (std::uint64_t row = 0; row < rows; ++row) {
      auto instance = set.create_instance(test::name_of_row(row));
      if (!instance) return ADD_FAILURE() << instance.error().message(), false;
      instances.push_back(std::move(*instance));
      test::fill_row(instances.back(), row);
    }
    return true;
  });
  ASSERT_EQ(instances.size(), rows);
  EXPECT_EQ(set.create_instance("one too many").error().code, ErrorCode::kLimit);

  Catalog catalog =
      timed("list", rows, [&] { return *Catalog::open({.directory = directory.path()}); });
  expect_all_listed(catalog, rows);
  Query query =
      timed("select", rows, [&] { return *Query::compile(catalog, {"demo_orders/*/accepted"}); });
  EXPECT_TRUE(query.unmatched().empty());
  Sample sample;
  query.prepare(sample);
  expect_all_fresh(
      sample, timed("collect", rows, [&] { return query.collect(sample, Timestamp{}); }), rows);

  const std::string last = test::name_of_row(rows - 1);
  Query one = timed("select one", rows, [&] {
    return *Query::compile(catalog, {"demo_orders/" + last + "/accepted"});
  });
  ASSERT_EQ(plan_of(one)->rows, 1U);
  Sample sample_of_one;
  EXPECT_EQ(one.collect(sample_of_one, Timestamp{}).rows, 1U);
  EXPECT_EQ(content_of(sample_of_one).row(0)[0], rows - 1);

  instances.clear();
  timed("list after all closed", rows, [&] { return catalog.refresh(), true; });
  EXPECT_TRUE(query.update(catalog));
  EXPECT_EQ(plan_of(query)->rows, 0U);
}

std::vector<std::uint64_t> sizes() {
  return runs_long() ? std::vector<std::uint64_t>{1'000, 10'000, 100'000}
                     : std::vector<std::uint64_t>{1'000, 10'000};
}

TEST(Scale, AllInstancesOfALineSetAreListedSelectedAndRead) {
  for (const std::uint64_t rows : sizes()) live_with(rows, false);
}

TEST(Scale, AllInstancesOfATileSetAreListedSelectedAndRead) {
  for (const std::uint64_t rows : sizes()) live_with(rows, true);
}

}  // namespace
}  // namespace meterbank
