// SPDX-License-Identifier: Apache-2.0
//
// Counters that a thread reads from the registers itself, where the kernel lets it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "kernel_counter.hpp"
#include "meterbank/pmu/local_counter.hpp"

namespace meterbank::emulated {
namespace {

class LocalCounterTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  LocalCounterTest()
      : event_({.event = GetParam(), .cpu = -1, .task = 0, .is_readable = true}),
        local_(pmu::LocalCounter::open(UniqueFd(dup(event_.descriptor())),
                                       static_cast<std::uint32_t>(gettid()))) {}

  KernelCounter event_;
  Result<pmu::LocalCounter> local_;
};

TEST_P(LocalCounterTest, AgreesWithTheKernelWithoutAskingIt) {
  ASSERT_TRUE(local_) << local_.error().message();
  for (int turn = 0; turn < 100; ++turn) {
    const auto before = event_.read();
    const auto value = local_->read();
    const auto after = event_.read();
    ASSERT_TRUE(before && value && after);
    ASSERT_TRUE(value->is_direct);
    ASSERT_LE(before->value, value->value);
    ASSERT_LE(value->value, after->value);
    work(10'000);
  }
}

TEST_P(LocalCounterTest, CostsAFewInstructions) {
  ASSERT_TRUE(local_);
  const std::uint64_t first = local_->read()->value;
  const std::uint64_t direct = local_->read()->value - first;
  const std::uint64_t asked = event_.read()->value;
  const std::uint64_t call = event_.read()->value - asked;
  EXPECT_LT(direct * 3, call);
}

TEST_P(LocalCounterTest, AsksTheKernelOnceItWasStopped) {
  ASSERT_TRUE(local_);
  event_.disable();
  const auto stopped = local_->read();
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(stopped->is_direct);
  work(10'000);
  EXPECT_EQ(local_->read()->value, stopped->value);
  EXPECT_EQ(event_.read()->value, stopped->value);
}

TEST_P(LocalCounterTest, AsksTheKernelFromOtherThreads) {
  ASSERT_TRUE(local_);
  std::thread([this] {
    const auto value = local_->read();
    ASSERT_TRUE(value);
    EXPECT_FALSE(value->is_direct);
  }).join();
}

INSTANTIATE_TEST_SUITE_P(Of, LocalCounterTest, ::testing::Values(kInstructions, kCycles));

}  // namespace
}  // namespace meterbank::emulated
