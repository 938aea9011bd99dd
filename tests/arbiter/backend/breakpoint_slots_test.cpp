// SPDX-License-Identifier: Apache-2.0
//
// True scarcity: a breakpoint is refused when it is opened, here and now, by this machine's kernel.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "../../support/descriptors.hpp"
#include "breakpoint_fixture.hpp"

namespace meterbank::arbiter {
namespace {

// A kernel that refuses one call of open.
class FailingOpen : public PerfCalls {
 public:
  int open(const perf_event_attr& attributes, pid_t task, int cpu) override {
    if (--left == 0) return -error;
    return PerfCalls::open(attributes, task, cpu);
  }
  int left = -1;
  int error = EMFILE;
};

TEST_F(BreakpointTest, OneMoreThanThereAreIsRefusedOnEachCpu) {
  CarrierNumber carrier = 1;
  for (const std::uint32_t cpu : cpus_) {
    for (std::uint32_t i = 0; i < slots_; ++i) {
      ASSERT_EQ(open(carrier++, {on(cpu)}), OpenFault::kNone) << cpu << ' ' << i;
    }
    const OpenOutcome refused = backend_->open(carrier++, std::vector{on(cpu)});
    EXPECT_EQ(refused.fault, OpenFault::kNoCounter);
    EXPECT_EQ(refused.system_error, ENOSPC);
    EXPECT_EQ(free_on(cpu), 0U);
  }
  for (CarrierNumber i = 1; i < carrier; ++i) backend_->close(i);
  for (const std::uint32_t cpu : cpus_) EXPECT_EQ(free_on(cpu), slots_);
}

TEST_F(BreakpointTest, WritesAndExecutionShareTheSlotsOfX86) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "two sorts of slots here";
#endif
  ASSERT_EQ(open(1, std::vector(slots_ - 1, on(cpus_.front()))), OpenFault::kNone);
  EXPECT_EQ(open(2, {on(cpus_.front(), HW_BREAKPOINT_X)}), OpenFault::kNone);
  EXPECT_EQ(open(3, {on(cpus_.front(), HW_BREAKPOINT_X)}), OpenFault::kNoCounter);
  EXPECT_EQ(open(3, {on(cpus_.front())}), OpenFault::kNoCounter);
}

TEST_F(BreakpointTest, FullCpuRefusesATaskThatMayRunThere) {
  ASSERT_EQ(open(1, std::vector(slots_, on(cpus_.front()))), OpenFault::kNone);
  EXPECT_EQ(open(2, {of_task(::getpid())}), OpenFault::kNoCounter);
  backend_->close(1);
  EXPECT_EQ(open(2, {of_task(::getpid())}), OpenFault::kNone);
}

TEST_F(BreakpointTest, TasksTakeTheMostThatOneOfThemHas) {
  if (slots_ < 4) GTEST_SKIP() << slots_ << " slots";
  const OtherProcess other;
  ASSERT_EQ(open(1, std::vector(slots_ - 2, on(cpus_.front()))), OpenFault::kNone);
  EXPECT_EQ(open(2, std::vector(2, of_task(::getpid()))), OpenFault::kNone);
  // Only one of the two tasks runs on a CPU.
  EXPECT_EQ(open(3, std::vector(2, of_task(other.pid()))), OpenFault::kNone);
  EXPECT_EQ(open(4, {of_task(other.pid())}), OpenFault::kNoCounter);
  EXPECT_EQ(free_on(cpus_.front()), 0U);
  backend_->close(2);
  EXPECT_EQ(free_on(cpus_.front()), 0U) << "the other task has as many";
  backend_->close(3);
  EXPECT_EQ(free_on(cpus_.front()), 2U);
}

TEST_F(BreakpointTest, TaskThatDiedKeepsItsSlotUntilItIsClosed) {
  OtherProcess other;
  ASSERT_EQ(open(1, {of_task(other.pid())}), OpenFault::kNone);
  other.end();
  EXPECT_EQ(free_on(cpus_.front()), slots_ - 1);
  backend_->close(1);
  EXPECT_TRUE(backend_->has_let_go(1));
  EXPECT_EQ(free_on(cpus_.front()), slots_);
}

TEST_F(BreakpointTest, AllOfACarrierIsOpenedOrNothing) {
  const auto before = test::open_descriptors();
  std::vector<Opening> openings(slots_, on(cpus_.front()));
  openings.insert(openings.end(), slots_ + 1, on(cpus_.back()));
  if (cpus_.front() == cpus_.back()) openings.resize(slots_ + 1);
  const OpenOutcome outcome = backend_->open(1, openings);
  EXPECT_EQ(outcome.fault, OpenFault::kNoCounter);
  EXPECT_EQ(outcome.opening, openings.size() - 1);
  EXPECT_TRUE(outcome.kernel_ids.empty());
  EXPECT_EQ(test::open_descriptors(), before);
  for (const std::uint32_t cpu : cpus_) EXPECT_EQ(free_on(cpu), slots_);
  EXPECT_TRUE(backend_->read(1).empty());
}

TEST_F(BreakpointTest, HoldsNothingAfterAnyFailedOpen) {
  const auto calls = std::make_shared<FailingOpen>();
  auto opened = PerfBackend::open({.calls = calls});
  ASSERT_TRUE(opened.has_value());
  PerfBackend& backend = **opened;
  const auto before = test::open_descriptors();
  const std::vector<Opening> openings(3, on(cpus_.front()));
  for (const auto& [error, fault] :
       {std::pair{EMFILE, OpenFault::kNoDescriptors}, std::pair{EACCES, OpenFault::kDenied},
        std::pair{ENOSPC, OpenFault::kNoCounter}, std::pair{ENOMEM, OpenFault::kOther},
        std::pair{ENOENT, OpenFault::kNotSupported}, std::pair{ESRCH, OpenFault::kNoTask}}) {
    for (int n = 1; n <= 3; ++n) {
      calls->error = error;
      calls->left = n;
      const OpenOutcome outcome = backend.open(1, openings);
      EXPECT_EQ(outcome.fault, fault) << error;
      EXPECT_EQ(outcome.opening + 1, static_cast<std::uint32_t>(n));
      EXPECT_EQ(outcome.system_error, error);
      EXPECT_EQ(test::open_descriptors(), before);
      EXPECT_EQ(free_on(cpus_.front()), slots_);
    }
  }
  // The control: without a fault it holds three.
  calls->left = -1;
  EXPECT_EQ(backend.open(1, openings).fault, OpenFault::kNone);
  EXPECT_EQ(free_on(cpus_.front()), slots_ - 3);
}

TEST_F(BreakpointTest, RefusalsSayWhatIsWrong) {
  Opening odd = on(cpus_.front());
  odd.event.unit_mask = 3;
  EXPECT_EQ(open(1, {odd}), OpenFault::kNotSupported) << "no breakpoint has three bytes";
  Opening unknown = on(cpus_.front());
  unknown.event.code = 7;
  EXPECT_EQ(open(1, {unknown}), OpenFault::kNotSupported);
  Opening nowhere = on(pmu::kNoCpu);
  EXPECT_EQ(open(1, {nowhere}), OpenFault::kNotSupported);
  EXPECT_EQ(open(1, {on(cpus_.back() + 1)}), OpenFault::kOffline);
  OtherProcess other;
  const pid_t gone = other.pid();
  other.end();
  EXPECT_EQ(open(1, {of_task(gone)}), OpenFault::kNoTask);
  Opening elsewhere = on(cpus_.front());
  elsewhere.pmu = 1000;
  EXPECT_EQ(open(1, {elsewhere}), OpenFault::kNotSupported);
}

TEST_F(BreakpointTest, GuardsHoldExactlySoManySlots) {
  const std::uint32_t cpu = cpus_.front();
  EXPECT_EQ(backend_->guard(pmu_, cpu, slots_ - 1), slots_ - 1);
  EXPECT_EQ(free_on(cpu), 1U);
  EXPECT_EQ(backend_->guard(pmu_, cpu, slots_ + 2), slots_) << "as many as there are";
  EXPECT_EQ(free_on(cpu), 0U);
  EXPECT_EQ(backend_->guard(pmu_, cpu, 1), 1U);
  EXPECT_EQ(free_on(cpu), slots_ - 1);
  EXPECT_EQ(backend_->guard(pmu_, cpu, 0), 0U);
  EXPECT_EQ(free_on(cpu), slots_);
}

TEST_F(BreakpointTest, ProbeSaysWhatTheWorstCpuHas) {
  CpuSet all;
  for (const std::uint32_t cpu : cpus_) all.add(cpu);
  EXPECT_EQ(backend_->probe(pmu_, all, {}, kAll), slots_);
  EXPECT_EQ(backend_->probe(pmu_, all, {}, 2), 2U);
  ASSERT_EQ(open(1, {on(cpus_.back())}), OpenFault::kNone);
  EXPECT_EQ(backend_->probe(pmu_, all, {}, kAll), slots_ - 1);
  EXPECT_EQ(backend_->probe(pmu_, {}, {}, kAll), 0U) << "no CPUs, no counters";
}

TEST_F(BreakpointTest, MachineWithoutPmuOfCoresSaysSo) {
  const Topology& topology = backend_->machine().topology;
  EXPECT_TRUE(topology.pmus[pmu_].is_named_only);
  EXPECT_TRUE(topology.pmus[pmu_].is_closed);
  const bool has_other = std::any_of(topology.pmus.begin(), topology.pmus.end(),
                                     [](const Pmu& pmu) { return !pmu.is_named_only; });
  EXPECT_EQ(backend_->why_no_pmu().empty(), has_other) << backend_->why_no_pmu();
  PerfCalls calls;
  perf_event_attr cycles = attributes_of({.type = PERF_TYPE_HARDWARE});
  const EventFile event(calls, std::max(-1, calls.open(cycles, -1, 0)));
  EXPECT_EQ(static_cast<bool>(event), has_other) << "what the kernel says when it is asked";
}

}  // namespace
}  // namespace meterbank::arbiter
