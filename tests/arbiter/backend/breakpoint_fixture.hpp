// SPDX-License-Identifier: Apache-2.0
//
// The breakpoints of this machine, for one test at a time: there are few, and all processes share
// them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <sys/file.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../support/comes_true.hpp"
#include "arbiter/backend/perf/perf_backend.hpp"

namespace meterbank::arbiter {

// Another process, in which something happens until it is told to go.
class OtherProcess {
 public:
  // `prepare` runs there first; the constructor returns when it has.
  explicit OtherProcess(const std::function<void()>& prepare = [] {}) {
    int go[2] = {-1, -1};
    int ready[2] = {-1, -1};
    EXPECT_EQ(::pipe(go), 0);
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(go[1]);
      prepare();
      char byte = 'r';
      if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
      static_cast<void>(::read(go[0], &byte, 1) == 0);
      ::_exit(0);
    }
    ::close(go[0]);
    ::close(ready[1]);
    go_ = UniqueFd(go[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() { end(); }
  void end() {
    if (pid_ <= 0) return;
    go_ = UniqueFd();
    EXPECT_EQ(::waitpid(pid_, nullptr, 0), pid_);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd go_;
};

using test::comes_true;

class BreakpointTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kAll = 16;

  void SetUp() override {
    lock_ = UniqueFd(::open("/tmp/meterbank-breakpoints.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    ASSERT_TRUE(lock_) << "the lock that tests with breakpoints share";
    ASSERT_EQ(::flock(lock_.get(), LOCK_EX), 0);
    auto opened = PerfBackend::open({});
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    backend_ = *std::move(opened);
    const auto found = backend_->machine().topology.find_pmu("breakpoint");
    if (!found.has_value()) GTEST_SKIP() << "no breakpoints here: " << backend_->why_no_pmu();
    pmu_ = *found;
    cpus_ = backend_->online().numbers();
    const auto outcome = backend_->open(1, std::vector{on(cpus_.front())});
    if (outcome.fault == OpenFault::kDenied) GTEST_SKIP() << "no right to count on CPUs";
    backend_->close(1);
    const CounterMask for_writes =
        backend_->machine().topology.counters_for(pmu_, HW_BREAKPOINT_W, 1);
    const bool are_free = comes_true([&] {
      slots_ = free_on(cpus_.front());
      return slots_ == static_cast<std::uint32_t>(std::popcount(for_writes));
    });
    ASSERT_TRUE(are_free) << "another process has breakpoints";
  }

  // Never met.
  [[nodiscard]] Opening on(std::uint32_t cpu, std::uint32_t access = HW_BREAKPOINT_W) const {
    Opening opening;
    opening.pmu = pmu_;
    opening.cpu = cpu;
    opening.event = {access, access == HW_BREAKPOINT_X ? 8U : 1U, 0x10};
    opening.flags = pmu::kItemExcludesKernel;
    return opening;
  }
  [[nodiscard]] Opening of_task(pid_t task, const void* address = nullptr) const {
    Opening opening = on(pmu::kNoCpu);
    opening.task = static_cast<std::uint32_t>(task);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    if (address != nullptr) opening.event = {HW_BREAKPOINT_W, 8, number};
    return opening;
  }
  [[nodiscard]] std::uint32_t free_on(std::uint32_t cpu) {
    return backend_->probe(pmu_, CpuSet::range(cpu, cpu), {}, kAll);
  }
  [[nodiscard]] OpenFault open(CarrierNumber carrier, std::vector<Opening> openings) {
    return backend_->open(carrier, openings).fault;
  }

  UniqueFd lock_;
  std::unique_ptr<PerfBackend> backend_;
  PmuIndex pmu_ = 0;
  std::vector<std::uint32_t> cpus_;
  std::uint32_t slots_ = 0;  // on each CPU
};

}  // namespace meterbank::arbiter
