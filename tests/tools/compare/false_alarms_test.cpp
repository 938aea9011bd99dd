// SPDX-License-Identifier: Apache-2.0
//
// How often a comparison says that something changed: where nothing did, and where something did.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "compare/comparison.hpp"
#include "made_load.hpp"

namespace meterbank::test {
namespace {

class ComparedLoads : public ::testing::Test {
 protected:
  compare::Observation observed(const LoadPlan& plan) {
    const std::string path = directory_.path() + "/made.mbr";
    std::ofstream(path, std::ios::binary) << made_load(plan);
    return observe(path);
  }

  // Pairs in which anything is called changed.
  std::uint64_t alarms(std::uint64_t pairs, LoadPlan plan, bool corrects) {
    std::uint64_t alarms = 0, tested = 0, changes = 0, slow = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      plan.seed = 2 * pair + 1000;
      const auto a = observed(plan);
      ++plan.seed;
      const auto b = observed(plan);
      auto found = compare::compare(a, b, {});
      // As if it were the only one.
      if (!corrects) {
        found = compare::compare(a, b, {.false_alarms = 0.005 * static_cast<double>(found.tested)});
      }
      if (found.changed() != 0) ++alarms;
      changes += found.changed();
      tested += found.tested;
      slow += found.count(compare::NotCompared::kWanders);
    }
    RecordProperty("pairs", static_cast<int>(pairs));
    RecordProperty("alarms", static_cast<int>(alarms));
    std::cout << alarms << " of " << pairs << " pairs with an alarm, " << changes << " of "
              << tested << " tests; too slow: " << slow << "\n";
    EXPECT_GT(tested, pairs * 150);
    return alarms;
  }

  // Pairs in which the percentile that has a step is found.
  std::uint64_t finds(std::uint64_t pairs, LoadPlan plan, double step) {
    std::uint64_t finds = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      plan.seed = 2 * pair + 500'000;
      plan.p99_step = 1;
      const auto a = observed(plan);
      ++plan.seed;
      plan.p99_step = step;
      const auto b = observed(plan);
      const auto found = compare::compare(a, b, {});
      const auto is_it = [](const compare::Finding& one) {
        return one.is_changed && one.path.ends_with("timing/i0/latency.p99") && one.change.low > 0;
      };
      if (std::any_of(found.findings.begin(), found.findings.end(), is_it)) ++finds;
    }
    std::cout << finds << " of " << pairs << " steps found\n";
    return finds;
  }

  // Per cent. Twenty pairs cannot tell 90 from 95.
  static std::uint64_t found_at_least() { return runs_long() ? 95 : 85; }

  TemporaryDirectory directory_;
};

TEST_F(ComparedLoads, RaiseNoAlarmInNinetyNineOfAHundredPairsWhereNothingChanged) {
  const std::uint64_t pairs = depth(30, 1000);
  EXPECT_LE(alarms(pairs, {}, true) * 100, pairs);
}

TEST_F(ComparedLoads, RaiseNoMoreAlarmsAtShorterIntervals) {
  const std::uint64_t pairs = depth(4, 200);
  EXPECT_LE(alarms(pairs, {.ticks = 241, .interval_ns = 250'000'000}, true) * 100, pairs);
}

TEST_F(ComparedLoads, RaiseAlarmsAllTheTimeIfEachSeriesIsTestedByItself) {
  const std::uint64_t pairs = depth(10, 100);
  EXPECT_GT(alarms(pairs, {}, false) * 10, pairs);
}

TEST_F(ComparedLoads, ShowAStepOfFivePercentInThe99thPercentile) {
  const std::uint64_t pairs = depth(20, 1000);
  EXPECT_GE(finds(pairs, {}, 1.05) * 100, pairs * found_at_least());
}

TEST_F(ComparedLoads, ShowTheStepAtShorterIntervals) {
  const std::uint64_t pairs = depth(20, 200);
  EXPECT_GE(finds(pairs, {.ticks = 241, .interval_ns = 250'000'000}, 1.05) * 100,
            pairs * found_at_least());
}

TEST_F(ComparedLoads, ShowNoStepWhereThereIsNone) {
  const std::uint64_t pairs = depth(10, 100);
  EXPECT_EQ(finds(pairs, {}, 1), 0U);
}

}  // namespace
}  // namespace meterbank::test
