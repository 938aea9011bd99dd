// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters, on a kernel that is a model of what Linux does with pinned events.
#include "arbiter/backend/perf/perf_backend.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "modelled_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class PerfBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folders_.add_core("cpu", "4");
    kernel_->pmus[4] = {.general = 6, .for_cycles = 1};
    kernel_->fault_of_tasks = 0;
    auto opened = PerfBackend::open(
        folders_.options(kernel_, {.vendor = "GenuineIntel", .general = 6, .fixed = 2}));
    ASSERT_TRUE(opened.has_value());
    backend_ = *std::move(opened);
    ASSERT_EQ(backend_->machine().topology.pmus.size(), 1U);
  }
  [[nodiscard]] static Opening on(std::uint32_t cpu) {
    Opening opening;
    opening.cpu = cpu;
    opening.event = {0xc4, 0, 0};
    return opening;
  }
  [[nodiscard]] OpenFault open(CarrierNumber carrier, std::vector<Opening> openings) {
    return backend_->open(carrier, openings).fault;
  }

  ModelledFolders folders_;
  std::shared_ptr<ModelledKernel> kernel_ = std::make_shared<ModelledKernel>();
  std::unique_ptr<PerfBackend> backend_;
};

TEST_F(PerfBackendTest, EventThatTheKernelOpenedWithoutACounterIsRefused) {
  for (CarrierNumber carrier = 1; carrier <= 6; ++carrier) {
    EXPECT_EQ(open(carrier, {on(0)}), OpenFault::kNone);
  }
  const OpenOutcome refused = backend_->open(7, std::vector{on(1), on(0)});
  EXPECT_EQ(refused.fault, OpenFault::kNoCounter);
  EXPECT_EQ(refused.opening, 1U);
  EXPECT_EQ(refused.system_error, 0) << "the kernel found no fault";
  EXPECT_EQ(kernel_->open_events(), 6U);
  EXPECT_EQ(open(7, {on(1)}), OpenFault::kNone) << "another CPU has its own";
}

TEST_F(PerfBackendTest, RefusedOpenLeavesNothingOpen) {
  for (int n = 1; n <= 4; ++n) {
    kernel_->failing_open = n;
    EXPECT_EQ(open(1, std::vector(4, on(0))), OpenFault::kNoDescriptors);
    EXPECT_EQ(kernel_->open_events(), 0U);
  }
  kernel_->failing_open = 5;
  EXPECT_EQ(open(1, std::vector(4, on(0))), OpenFault::kNone);
}

TEST_F(PerfBackendTest, ProbeSaysWhatIsLeftForEachNumberThatIsHeld) {
  for (std::uint32_t held = 0; held <= 6; ++held) {
    EXPECT_EQ(backend_->probe(0, CpuSet::range(0, 1), on(0).event, 16), 6 - held);
    EXPECT_EQ(backend_->probe(0, CpuSet::range(0, 1), {}, 16), 6 - held) << "any event";
    EXPECT_EQ(kernel_->open_events(), held);
    if (held == 6) break;
    ASSERT_EQ(open(held + 1, {on(1)}), OpenFault::kNone);
  }
  EXPECT_EQ(backend_->probe(0, CpuSet::range(0, 0), on(0).event, 4), 4U);
}

TEST_F(PerfBackendTest, PauseGivesCountersBackAndResumeVerifiesThemAgain) {
  ASSERT_EQ(open(1, std::vector(4, on(0))), OpenFault::kNone);
  const std::uint64_t before = backend_->read(1).at(0).value;
  backend_->pause(1);
  EXPECT_EQ(backend_->probe(0, CpuSet::range(0, 0), {}, 16), 6U);
  ASSERT_EQ(open(2, std::vector(4, on(0))), OpenFault::kNone);
  const OpenOutcome refused = backend_->resume(1);
  EXPECT_EQ(refused.fault, OpenFault::kNoCounter);
  EXPECT_EQ(refused.opening, 2U);
  EXPECT_EQ(backend_->probe(0, CpuSet::range(0, 0), {}, 16), 2U) << "all of it is paused";
  EXPECT_TRUE(backend_->read(1).at(3).has_counter) << "paused is not lost";
  backend_->close(2);
  EXPECT_EQ(backend_->resume(1).fault, OpenFault::kNone);
  EXPECT_GT(backend_->read(1).at(0).value, before);
}

TEST_F(PerfBackendTest, LostCounterIsToldWithTheLastValueItHad) {
  ASSERT_EQ(open(1, {on(0)}), OpenFault::kNone);
  const Reading before = backend_->read(1).at(0);
  EXPECT_TRUE(before.has_counter);
  kernel_->steal();
  const Reading after = backend_->read(1).at(0);
  EXPECT_FALSE(after.has_counter);
  EXPECT_EQ(after.value, before.value) << "never a zero";
  EXPECT_EQ(after.running_ns, before.running_ns);
  // Room alone does not heal it; being enabled anew does.
  EXPECT_FALSE(backend_->read(1).at(0).has_counter);
  backend_->pause(1);
  EXPECT_EQ(backend_->resume(1).fault, OpenFault::kNone);
  EXPECT_TRUE(backend_->read(1).at(0).has_counter);
}

TEST_F(PerfBackendTest, GuardsCountNothingAndTakeGeneralCounters) {
  EXPECT_EQ(backend_->guard(0, 0, 9), 6U);
  const perf_event_attr& guard = kernel_->newest();
  EXPECT_EQ(guard.pinned, 1U);
  EXPECT_EQ(guard.exclude_user + guard.exclude_kernel + guard.exclude_hv, 3U);
  EXPECT_NE(guard.config, static_cast<std::uint64_t>(PERF_COUNT_HW_CPU_CYCLES));
  EXPECT_EQ(open(1, {on(0)}), OpenFault::kNoCounter);
  EXPECT_EQ(backend_->guard(0, 0, 5), 5U);
  EXPECT_EQ(open(1, {on(0)}), OpenFault::kNone);
  EXPECT_EQ(backend_->guard(0, 0, 0), 0U);
  EXPECT_EQ(kernel_->open_events(), 1U);
}

TEST_F(PerfBackendTest, OpensWhatWasAskedFor) {
  Opening opening = on(3);
  opening.flags = pmu::kItemExcludesKernel;
  opening.event = {0xd1, 0x20, 0};
  ASSERT_EQ(open(1, {opening}), OpenFault::kNone);
  EXPECT_EQ(kernel_->newest().type, 4U);
  EXPECT_EQ(kernel_->newest().config, 0x20d1U);
  EXPECT_EQ(kernel_->newest().pinned, 1U);
  EXPECT_EQ(kernel_->newest().exclude_kernel, 1U);
  EXPECT_EQ(kernel_->newest().exclude_user, 0U);
  EXPECT_EQ(kernel_->newest().disabled, 0U);
  opening.event = {0xd1, 0x20, 0x1'4320d1};
  opening.flags = pmu::kItemExcludesUser;
  ASSERT_EQ(open(2, {opening}), OpenFault::kNone);
  EXPECT_EQ(kernel_->newest().config, 0x1'4320d1U) << "the whole configuration, if it was said";
  EXPECT_EQ(kernel_->newest().exclude_user, 1U);
  opening.event = {0x1000, 0, 0};
  EXPECT_EQ(open(3, {opening}), OpenFault::kNotSupported) << "the field has eight bits";
  opening.event = {0, 0, ~std::uint64_t{0}};
  EXPECT_EQ(open(3, {opening}), OpenFault::kNotSupported) << "the refusal was not remembered";
}

TEST_F(PerfBackendTest, TaskIsNotRefusedBeforeItRuns) {
  Opening opening = on(pmu::kNoCpu);
  opening.task = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(open(1, {opening}), OpenFault::kNone);
}

TEST_F(PerfBackendTest, WatchedCarrierIsSilentUntilSomethingHappens) {
  ASSERT_EQ(open(1, {on(0)}), OpenFault::kNone);
  const std::map<int, CarrierNumber> watched = backend_->watched();
  ASSERT_EQ(watched.size(), 1U);
  pollfd poll{watched.begin()->first, POLLIN, 0};
  EXPECT_EQ(watched.begin()->second, 1U);
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
  kernel_->steal();
  EXPECT_EQ(::poll(&poll, 1, 0), 1);
  EXPECT_FALSE(backend_->read(1).at(0).has_counter);
  EXPECT_EQ(::poll(&poll, 1, 0), 0) << "it is told once";
  backend_->close(1);
  EXPECT_TRUE(backend_->watched().empty());
}

TEST_F(PerfBackendTest, WatchdogOfTheKernelIsAnOutsiderWithACounter) {
  EXPECT_TRUE(backend_->survey().empty());
  folders_.write("proc/sys/kernel/nmi_watchdog", "1\n");
  folders_.write("proc/sys/kernel/watchdog_cpumask", "0-1\n");
  // The files were opened when the backend was made; one that was not there then is not known.
  std::vector<Outsider> found = backend_->survey();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "kernel watchdog");
  EXPECT_TRUE(found[0].is_kernel);
  EXPECT_EQ(found[0].counters, 1U);
  EXPECT_EQ(found[0].cpus.text(), "0-3");
  EXPECT_EQ(found[0].how, "nmi_watchdog");
  auto again = PerfBackend::open(folders_.options(kernel_));
  ASSERT_TRUE(again.has_value());
  found = (*again)->survey();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpus.text(), "0-1");
}

TEST_F(PerfBackendTest, OnlineIsReadAnew) {
  EXPECT_EQ(backend_->online().text(), "0-3");
  folders_.write("sys/devices/system/cpu/online", "0,2-3\n");
  EXPECT_EQ(backend_->online().text(), "0,2-3");
  kernel_->fault = ENODEV;
  EXPECT_EQ(open(1, {on(1)}), OpenFault::kOffline);
  EXPECT_EQ(open(1, {on(0)}), OpenFault::kNotSupported);
}

TEST_F(PerfBackendTest, UnknownCarriersDoNoHarm) {
  EXPECT_TRUE(backend_->read(9).empty());
  EXPECT_TRUE(backend_->has_let_go(9));
  backend_->close(9);
  backend_->pause(9);
  EXPECT_NE(backend_->resume(9).fault, OpenFault::kNone);
  EXPECT_EQ(backend_->guard(9, 0, 1), 0U);
  EXPECT_EQ(backend_->probe(9, CpuSet::range(0, 0), {}, 1), 0U);
}

}  // namespace
}  // namespace meterbank::arbiter
