// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/latency.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

constexpr std::array kCounters{CounterSpec{.id = 1,
                                           .name = "Latency",
                                           .symbol = "latency",
                                           .unit = "s",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 4, .least = 1e-8, .most = 100}}};
constexpr CountersetSpec kSet{.name = "Calls", .symbol = "calls", .counters = kCounters};

class LatencyTest : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t count() const { return instance_.value(0); }
  [[nodiscard]] double sum(const Recorder& recorder) const {
    return std::bit_cast<double>(
        instance_.value(recorder.distribution().more + DistributionShape::kSum));
  }
  [[nodiscard]] std::uint64_t below(const Recorder& recorder) const {
    return instance_.value(recorder.distribution().more + DistributionShape::kBelow);
  }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "calls", .directory = directory_.path()});
  Instance instance_ = *provider_.add(kSet)->create_instance("one");
  const Recorder recorder_ = instance_.recorder(0);
};

TEST_F(LatencyTest, AScopeRecordsHowLongItLived) {
  for (const TickClock& clock : {TickClock::of_this_machine(), TickClock::monotonic()}) {
    LatencyRecorder latency(recorder_, clock);
    const double sum_before = sum(recorder_);
    const std::uint64_t count_before = count();
    const timespec pause{0, 20'000'000};
    {
      const LatencyScope scope(latency);
      ::nanosleep(&pause, nullptr);
    }
    EXPECT_EQ(count(), count_before + 1);
    EXPECT_GE(sum(recorder_) - sum_before, 0.0199) << "clock " << static_cast<int>(clock.kind());
  }
}

TEST_F(LatencyTest, AScopeThatIsLeftByAnExceptionIsRecorded) {
  LatencyRecorder latency(recorder_);
  EXPECT_THROW(
      {
        const LatencyScope scope(latency);
        throw std::runtime_error("");
      },
      std::runtime_error);
  EXPECT_EQ(count(), 1U);
}

TEST_F(LatencyTest, ADiscardedScopeIsNotRecorded) {
  LatencyRecorder latency(recorder_);
  {
    LatencyScope scope(latency);
    scope.discard();
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(LatencyTest, AChainRecordsRegionsThatFollowEachOtherWithoutAGap) {
  for (const TickClock& clock : {TickClock::of_this_machine(), TickClock::monotonic()}) {
    LatencyRecorder latency(recorder_, clock);
    const double sum_before = sum(recorder_);
    const std::uint64_t count_before = count();
    const timespec pause{0, 10'000'000};
    const std::uint64_t before = clock.begin();
    LatencyChain chain(clock);
    for (int region = 0; region < 3; ++region) {
      ::nanosleep(&pause, nullptr);
      chain.record(latency);
    }
    const double all = clock.seconds(clock.end() - before);
    const double recorded = sum(recorder_) - sum_before;
    EXPECT_EQ(count(), count_before + 3);
    EXPECT_GE(recorded, 0.0299) << "clock " << static_cast<int>(clock.kind());
    EXPECT_LE(recorded, all) << "no time is in two regions";
  }
}

TEST_F(LatencyTest, AChainLeavesOutTheTimeThatItSkips) {
  LatencyRecorder latency(recorder_);
  const timespec pause{0, 20'000'000};
  LatencyChain chain(latency.clock());
  const std::uint64_t before = latency.clock().begin();
  ::nanosleep(&pause, nullptr);
  const std::uint64_t between = latency.clock().end();
  chain.skip();
  chain.record(latency);
  const double since = latency.clock().seconds(latency.clock().end() - before);
  EXPECT_EQ(count(), 1U);
  EXPECT_LE(sum(recorder_), since - latency.clock().seconds(between - before));
}

TEST_F(LatencyTest, TimeThatRunsBackwardsIsCountedAsBelow) {
  LatencyRecorder latency(recorder_);
  latency.record_ticks(100, 99);
  latency.record_ticks(UINT64_MAX, 0);
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(below(recorder_), 2U);
  EXPECT_EQ(sum(recorder_), 0);
}

// Against the kernel's clock over a tenth of a second, to one part in a hundred: a rate that was
// measured while the machine was busy would be off by more.
TEST(TickClocks, AgreeWithTheKernel) {
  const TickClock& clock = TickClock::of_this_machine();
  const std::uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t begin = clock.begin();
  const timespec pause{0, 100'000'000};
  ::nanosleep(&pause, nullptr);
  const std::uint64_t end = clock.end();
  const std::uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
  const double kernel = 1e-9 * static_cast<double>(end_ns - begin_ns);
  const double ours = clock.seconds(end - begin);
  EXPECT_LE(ours, kernel * 1.01);
  EXPECT_GE(ours, 0.1 * 0.99);
}

}  // namespace
}  // namespace meterbank
