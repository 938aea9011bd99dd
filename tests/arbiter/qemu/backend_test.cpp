// SPDX-License-Identifier: Apache-2.0
//
// The backend on a PMU that is really scarce, beside competitors without leases.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "arbiter/backend/perf/perf_backend.hpp"
#include "competitor.hpp"
#include "kernel_counter.hpp"

namespace meterbank::emulated {
namespace {

using arbiter::CpuSet;
using arbiter::OpenFault;
using arbiter::Opening;
using arbiter::PerfBackend;
using arbiter::PmuIndex;

class EmulatedBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    move_to(0);
    auto opened = PerfBackend::open({});
    ASSERT_TRUE(opened) << opened.error().message();
    backend_ = std::move(*opened);
    const auto found = backend_->machine().topology.find_pmu("armv8_pmuv3");
    ASSERT_TRUE(found) << backend_->why_no_pmu();
    pmu_ = *found;
  }
  void TearDown() override {
    backend_.reset();
    EXPECT_EQ(probe_by_opening(0), kGeneral) << "a counter was not given back";
    EXPECT_EQ(probe_by_opening(1), kGeneral) << "a counter was not given back";
  }

  [[nodiscard]] Opening opening(std::uint32_t cpu, std::uint32_t event = kInstructions) const {
    return {.pmu = pmu_, .cpu = cpu, .event = {.code = event}};
  }
  [[nodiscard]] std::vector<Opening> openings(std::size_t count, std::uint32_t cpu) const {
    return std::vector<Opening>(count, opening(cpu));
  }
  OpenFault open(arbiter::CarrierNumber carrier, const std::vector<Opening>& openings) {
    return backend_->open(carrier, openings).fault;
  }
  [[nodiscard]] std::uint32_t probe(const CpuSet& cpus, std::uint32_t event = kInstructions) {
    return backend_->probe(pmu_, cpus, {.code = event}, 64);
  }

  std::unique_ptr<PerfBackend> backend_;
  PmuIndex pmu_ = 0;
};

TEST_F(EmulatedBackend, FindsTheMachineThatItsTopologyFileDescribes) {
  std::ifstream file("/data/qemu_cortex_a57.toml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto described = arbiter::parse_topology(text, "qemu_cortex_a57.toml");
  ASSERT_TRUE(described) << described.error().message();
  const auto& found = backend_->machine().topology;
  const auto& ours = found.pmus[pmu_];
  const auto& theirs = described->pmus.front();
  EXPECT_EQ(ours.cpus, theirs.cpus);
  EXPECT_EQ(ours.general, theirs.general);
  EXPECT_EQ(ours.fixed, theirs.fixed);
  for (const std::uint32_t event : {kCycles, kInstructions}) {
    EXPECT_EQ(found.counters_for(pmu_, event, 0), described->counters_for(0, event, 0)) << event;
  }
  EXPECT_EQ(backend_->why_no_pmu(), "");
}

// An arbiter may be started, or go on in a new image, while all counters are taken.
TEST_F(EmulatedBackend, FindsCountersThatOthersHave) {
  const Competitor here(kGeneral, 0);
  const Competitor there(2, 1);
  const auto other = PerfBackend::open({});
  ASSERT_TRUE(other) << other.error().message();
  const auto& topology = (*other)->machine().topology;
  const auto found = topology.find_pmu("armv8_pmuv3");
  ASSERT_TRUE(found) << (*other)->why_no_pmu();
  EXPECT_EQ(topology.pmus[*found].general, kGeneral);
  EXPECT_EQ(topology.pmus[*found].fixed, 1U);
}

TEST_F(EmulatedBackend, HoldsAllThereIsAndNoMore) {
  EXPECT_EQ(open(1, openings(kGeneral, 0)), OpenFault::kNone);
  EXPECT_EQ(open(2, openings(1, 0)), OpenFault::kNoCounter);
  EXPECT_EQ(open(3, {opening(0, kCycles)}), OpenFault::kNone);
  EXPECT_EQ(open(4, {opening(0, kCycles)}), OpenFault::kNoCounter);
  EXPECT_EQ(probe_by_opening(0), 0U);
  backend_->close(1);
  EXPECT_TRUE(backend_->has_let_go(1));
  EXPECT_EQ(probe_by_opening(0), kGeneral);
}

TEST_F(EmulatedBackend, HoldsAllOrNothing) {
  const Competitor competitor(kGeneral - 1, 1);
  std::vector<Opening> wanted = openings(2, 0);
  wanted.push_back(opening(1));
  wanted.push_back(opening(1));
  const auto outcome = backend_->open(1, wanted);
  EXPECT_EQ(outcome.fault, OpenFault::kNoCounter);
  EXPECT_EQ(outcome.opening, 3U);
  EXPECT_EQ(probe_by_opening(0), kGeneral);
  EXPECT_EQ(probe_by_opening(1), 1U);
}

TEST_F(EmulatedBackend, ProbesWhatACompetitorLeaves) {
  for (std::uint32_t held = 0; held <= kGeneral; ++held) {
    const Competitor competitor(held, 1);
    ASSERT_EQ(competitor.answering(), held);
    EXPECT_EQ(probe(CpuSet::range(1, 1)), kGeneral - held);
    EXPECT_EQ(probe(CpuSet::range(0, 1)), kGeneral - held) << "the worst CPU decides";
    EXPECT_EQ(probe(CpuSet::range(1, 1), kCycles), kGeneral + 1 - held);
    EXPECT_EQ(probe(CpuSet::range(0, 0)), kGeneral);
  }
}

TEST_F(EmulatedBackend, HandsGuardedCountersOverPastThoseWhoWait) {
  ASSERT_EQ(backend_->guard(pmu_, 0, kGeneral), kGeneral);
  EXPECT_EQ(probe_by_opening(0), 0U);
  const KernelCounter flexible({.is_pinned = false});
  const KernelCounter pinned({});
  ASSERT_EQ(backend_->guard(pmu_, 0, kGeneral - 2), kGeneral - 2);
  EXPECT_EQ(open(1, openings(2, 0)), OpenFault::kNone);
  const std::uint64_t ran_between = flexible.read()->running_ns;
  work(1'000'000);
  for (const auto& reading : backend_->read(1)) EXPECT_TRUE(reading.has_counter);
  EXPECT_FALSE(pinned.has_counter());
  EXPECT_EQ(flexible.read()->running_ns, ran_between);
  backend_->close(1);
  EXPECT_EQ(backend_->guard(pmu_, 0, 0), 0U);
}

TEST_F(EmulatedBackend, CountsWhatAReferenceCounts) {
  ASSERT_EQ(open(1, openings(1, 0)), OpenFault::kNone);
  const KernelCounter reference({});
  const auto both = [&] {
    const std::uint64_t theirs = reference.read()->value;
    return std::pair(backend_->read(1).front().value, theirs);
  };
  const auto before = both();
  work(5'000'000);
  const auto after = both();
  const std::uint64_t ours = after.first - before.first;
  const std::uint64_t theirs = after.second - before.second;
  EXPECT_GT(theirs, 5'000'000U);
  // What differs are instructions between the two reads.
  EXPECT_LT(std::max(ours, theirs) - std::min(ours, theirs), theirs / 50);
}

TEST_F(EmulatedBackend, HoldsNothingInAPauseAndCountsOnAfterIt) {
  ASSERT_EQ(open(1, openings(kGeneral, 0)), OpenFault::kNone);
  work(1'000'000);
  backend_->pause(1);
  EXPECT_EQ(probe_by_opening(0), kGeneral);
  const auto paused = backend_->read(1);
  EXPECT_GE(paused.front().value, 1'000'000U);
  work(1'000'000);
  EXPECT_EQ(backend_->read(1).front().value, paused.front().value);
  ASSERT_EQ(backend_->resume(1).fault, OpenFault::kNone);
  work(1'000'000);
  const auto after = backend_->read(1).front();
  EXPECT_GE(after.value, paused.front().value + 1'000'000);
}

TEST_F(EmulatedBackend, NoticesACounterThatWasTaken) {
  const auto task = static_cast<std::uint32_t>(gettid());
  ASSERT_EQ(open(1, {{.pmu = pmu_, .task = task, .event = {.code = kInstructions}}}),
            OpenFault::kNone);
  work(100'000);
  EXPECT_TRUE(backend_->read(1).front().has_counter);
  const Competitor competitor(kGeneral, 0);
  work(100'000);
  const auto lost = backend_->read(1).front();
  EXPECT_FALSE(lost.has_counter);
  EXPECT_GT(lost.value, 100'000U) << "what was counted before is kept";
}

TEST_F(EmulatedBackend, NamesWhoDidNotAsk) {
  ASSERT_EQ(open(1, openings(2, 1)), OpenFault::kNone);
  const Competitor competitor(3, 1);
  const auto outsiders = backend_->survey();
  const auto found = std::find_if(outsiders.begin(), outsiders.end(), [&](const auto& outsider) {
    return outsider.pid == static_cast<std::uint32_t>(competitor.pid());
  });
  ASSERT_NE(found, outsiders.end());
  EXPECT_EQ(outsiders.size(), 1U) << "our own counters are no outsider's";
  EXPECT_EQ(found->name, "meterbank_emula");
}

TEST_F(EmulatedBackend, StillSeesTheCounterOfWhoKeepsItsDescriptor) {
  ASSERT_EQ(open(1, openings(1, 0)), OpenFault::kNone);
  const int theirs = dup(backend_->descriptor(1, 0));
  ASSERT_GE(theirs, 0);
  backend_->close(1);
  EXPECT_FALSE(backend_->has_let_go(1));
  ::close(theirs);
  EXPECT_TRUE(backend_->has_let_go(1) || backend_->has_let_go(1)) << "at the second look";
}

TEST_F(EmulatedBackend, CountsOnInANewImage) {
  const auto opened = backend_->open(1, openings(3, 0));
  ASSERT_EQ(opened.fault, OpenFault::kNone);
  work(1'000'000);
  const std::uint64_t before = backend_->read(1).front().value;
  auto next = PerfBackend::open({});
  ASSERT_TRUE(next);
  auto saved = backend_->save();
  for (auto& carrier : saved) {
    // The new image would have the same descriptors; here the old one closes them below.
    for (int& descriptor : carrier.descriptors) descriptor = dup(descriptor);
  }
  (*next)->adopt(std::move(saved));
  backend_ = std::move(*next);
  EXPECT_EQ(probe_by_opening(0), kGeneral - 3);
  work(1'000'000);
  EXPECT_GE(backend_->read(1).front().value, before + 1'000'000);
  backend_->close(1);
}

TEST_F(EmulatedBackend, LosesNoCounterInTenThousandGrants) {
  constexpr arbiter::CarrierNumber kGrants = 10'000;
  for (arbiter::CarrierNumber carrier = 1; carrier <= kGrants; ++carrier) {
    const auto cpu = static_cast<std::uint32_t>(carrier % 2);
    ASSERT_EQ(open(carrier, openings(1 + carrier % 2, cpu)), OpenFault::kNone) << carrier;
    backend_->close(carrier);
    ASSERT_TRUE(backend_->has_let_go(carrier)) << carrier;
  }
  EXPECT_EQ(probe(CpuSet::range(0, 1)), kGeneral);
}

}  // namespace
}  // namespace meterbank::emulated
