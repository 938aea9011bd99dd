// SPDX-License-Identifier: Apache-2.0
//
// What a comparison keeps of a recording: means that do not depend on when samples were taken.
#include "compare/observation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "../../reader/replay/hand_made.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank::compare {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// A counter of each way to weight its samples, in the order of the words.
Counterset weighted_counters() {
  constexpr std::array<std::pair<const char*, CounterType>, 5> kCounters{
      {{"rate", CounterType::kBulkCount},
       {"level", CounterType::kLargeRawCount},
       {"added", CounterType::kLargeDelta},
       {"average", CounterType::kAverageBulk},
       {"operations", CounterType::kAverageBase}}};
  Counterset set = test::two_counters();
  set.form.words = kCounters.size();
  set.counters.clear();
  for (const auto& [name, type] : kCounters) {
    CounterView counter;
    counter.word = static_cast<std::uint32_t>(set.counters.size());
    counter.id = counter.word + 1;
    counter.name = counter.symbol = name;
    counter.type = type;
    counter.more = set.form.words;
    if (type == CounterType::kAverageBulk) counter.base = counter.word + 1;
    set.counters.push_back(std::move(counter));
  }
  return set;
}

class Observed : public ::testing::Test {
 protected:
  Observed() {
    const auto provider = *replay_.add_provider(test::provider_called("shop"));
    set_ = *replay_.add_set(provider, test::registered(weighted_counters()));
    row_ = *replay_.begin_instance(set_, {.name = "eu", .generation = 1});
  }
  // What the row has `after_ns` later.
  void sample(std::uint64_t after_ns, const std::array<std::uint64_t, 5>& values,
              std::uint64_t window_ns = 0) {
    now_ns_ += after_ns;
    const auto words = replay_.words(set_, row_);
    std::copy(values.begin(), values.end(), words.begin());
    replay_.show({now_ns_, now_ns_});
    if (!query_) query_.emplace(*Query::compile(replay_.catalog(), {}));
    query_->update(replay_.catalog());
    std::swap(older_, newer_);
    query_->collect(newer_, replay_.time());
    observation_.take(newer_, older_, query_->version(), replay_.catalog(), {window_ns});
  }
  [[nodiscard]] double mean_of(const std::string& counter) const {
    for (const Series& series : observation_.series()) {
      if (series.counter.symbol == counter) return series.numbers.mean();
    }
    ADD_FAILURE() << counter;
    return 0;
  }

  Observation observation_;

 private:
  Replay replay_;
  ReplaySetId set_{};
  ReplayRowId row_{};
  std::optional<Query> query_;
  Sample older_, newer_;
  std::uint64_t now_ns_ = 100 * kSecond;
};

TEST_F(Observed, MeansAreWhatTwoSamplesAtTheEndsWouldShowHoweverUnevenTheyAre) {
  sample(0, {1'000, 5, 70, 300, 10});
  sample(kSecond / 2, {1'100, 6, 80, 400, 11});
  sample(3 * kSecond, {1'100, 7, 90, 400, 11});
  sample(kSecond / 4, {4'000, 10, 95, 7'300, 33});
  // 3,000 in 3.75 s, not the mean of 200, 0 and 11,600.
  EXPECT_DOUBLE_EQ(mean_of("rate"), 3'000 / 3.75);
  EXPECT_DOUBLE_EQ(mean_of("added"), 25 / 3.75);
  // 7,000 in 23 operations, not the mean of 100 and 313.6.
  EXPECT_DOUBLE_EQ(mean_of("average"), 7'000.0 / 23);
  // A level has no more at a sample that was long in coming.
  EXPECT_DOUBLE_EQ(mean_of("level"), 28.0 / 4);
  EXPECT_EQ(observation_.samples(), 4U);
  EXPECT_DOUBLE_EQ(observation_.seconds(), 3.75);
}

TEST_F(Observed, RatesMayBeWrongByTheTimeThatTheSamplesAtTheEndsTook) {
  sample(0, {}, kSecond / 100);
  sample(kSecond, {}, kSecond);  // one between them does not matter
  EXPECT_DOUBLE_EQ(observation_.slack(), 1.01);
  sample(3 * kSecond, {}, 3 * kSecond / 100);
  EXPECT_DOUBLE_EQ(observation_.slack(), 0.04 / 4);
}

}  // namespace
}  // namespace meterbank::compare
