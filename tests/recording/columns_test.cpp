// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {
namespace {

CounterView counter_of(ValueForm form, std::uint32_t word, std::uint32_t more = 0,
                       std::uint32_t more_words = 0) {
  CounterView counter;
  counter.form = form;
  counter.word = word;
  counter.more = more;
  counter.more_words = more_words;
  return counter;
}

TEST(Columns, FollowTheFormsOfTheCounters) {
  Counterset set;
  set.form.words = 16;
  set.stamp_word = 15;
  set.counters = {counter_of(ValueForm::kUnsigned, 0), counter_of(ValueForm::kReal, 1),
                  counter_of(ValueForm::kText, 2, 4, 3),
                  counter_of(ValueForm::kDistribution, 3, 7, 8)};
  set.counters[2].timed = true;
  using enum Column;
  EXPECT_EQ(columns_of(set),
            (std::vector{kInteger, kReal, kInteger, kInteger, kText, kText, kTime, kReal, kReal,
                         kReal, kBucket, kBucket, kBucket, kBucket, kBucket, kTime}));
}

TEST(Columns, IgnoreWordsBeyondTheBlock) {
  Counterset set;
  set.form.words = 2;
  set.stamp_word = 9;
  set.counters = {counter_of(ValueForm::kReal, 7, 2, 50)};
  EXPECT_EQ(columns_of(set), (std::vector{Column::kInteger, Column::kInteger}));
}

}  // namespace
}  // namespace meterbank::recording
