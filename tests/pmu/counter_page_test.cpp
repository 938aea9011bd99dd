// SPDX-License-Identifier: Apache-2.0
//
// How a holder reads its counter. The numbers are those of the rules that each test is about:
//   1 the page is mapped once         2 the loop, and what index 0 means
//   3 without cap_user_rdpmc a page is no live value        4 without cap_user_time it has no times
//   7 a read of no bytes is a loss, never a zero
#include "local/counter_page.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "../support/descriptors.hpp"
#include "local/local_state.hpp"
#include "local/registers.hpp"
#include "meterbank/pmu/local_counter.hpp"

namespace meterbank::pmu {
namespace {

using detail::PageOutcome;
using detail::PageReading;

// Registers that say what a test wants, and count how often they are asked.
struct FakeRegisters {
  std::uint64_t value = 0;
  std::uint64_t clock = 0;
  std::uint32_t last_number = ~0U;
  int reads = 0;
  bool has_counter = true;
  perf_event_mmap_page* changing = nullptr;  // its lock grows with each read

  std::optional<std::uint64_t> counter(std::uint32_t number) noexcept {
    last_number = number;
    ++reads;
    if (changing != nullptr) changing->lock += 2;
    return has_counter ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t cycles() const noexcept { return clock; }
};

// The kernel's page of a counter that is on the CPU, readable, without a clock.
perf_event_mmap_page live_page() {
  perf_event_mmap_page page{};
  page.lock = 8;
  page.index = 3;
  page.offset = 1'000'000;
  page.pmc_width = 48;
  page.cap_user_rdpmc = 1;
  page.time_enabled = 70;
  page.time_running = 60;
  return page;
}

TEST(CounterPage, Rule2AddsTheRegisterToTheOffset) {
  const perf_event_mmap_page page = live_page();
  FakeRegisters registers{.value = 234};

  const PageReading reading = detail::read_page(page, registers);

  EXPECT_EQ(reading.outcome, PageOutcome::kDirect);
  EXPECT_EQ(reading.value, 1'000'234U);
  EXPECT_EQ(registers.last_number, 2U);  // the page counts registers from 1
}

TEST(CounterPage, Rule2ExtendsTheSignOfARegisterThatHasFewerBits) {
  perf_event_mmap_page page = live_page();
  FakeRegisters registers{.value = 0xffff'ffff'fff6};  // 48 bits: -10
  EXPECT_EQ(detail::read_page(page, registers).value, 999'990U);

  page.pmc_width = 32;
  registers.value = 0xfffffff6;
  EXPECT_EQ(detail::read_page(page, registers).value, 999'990U);
  page.pmc_width = 64;
  registers.value = ~std::uint64_t{9};
  EXPECT_EQ(detail::read_page(page, registers).value, 999'990U);
  // Bits above the width do not belong to the counter.
  page.pmc_width = 32;
  registers.value = 0xdead'0000'0005;
  EXPECT_EQ(detail::read_page(page, registers).value, 1'000'005U);
  page.pmc_width = 1;
  registers.value = 1;
  EXPECT_EQ(detail::read_page(page, registers).value, 999'999U);
}

TEST(CounterPage, Rule2IndexZeroAsksTheKernelAndReadsNoRegister) {
  perf_event_mmap_page page = live_page();
  page.index = 0;
  FakeRegisters registers;

  EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kAskKernel);
  EXPECT_EQ(registers.reads, 0);
}

TEST(CounterPage, Rule2APageThatAlwaysChangesIsGivenUpAfterABoundedTime) {
  perf_event_mmap_page page = live_page();
  FakeRegisters registers{.changing = &page};

  EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kBusy);
  EXPECT_EQ(registers.reads, detail::kPageAttemptsMax);
}

TEST(CounterPage, Rule2APageInTheMiddleOfAnUpdateIsNotBelieved) {
  perf_event_mmap_page page = live_page();
  page.lock = 9;
  FakeRegisters registers;
  EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kBusy);
}

TEST(CounterPage, Rule3WithoutUserReadsThePageIsNoValue) {
  perf_event_mmap_page page = live_page();
  page.cap_user_rdpmc = 0;
  FakeRegisters registers;

  EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kAskKernel);
  EXPECT_EQ(registers.reads, 0);
}

TEST(CounterPage, Rule4WithoutAUserClockTimesAreThoseOfTheLastSchedule) {
  const perf_event_mmap_page page = live_page();
  FakeRegisters registers{.clock = 1 << 20};

  const PageReading reading = detail::read_page(page, registers);

  EXPECT_FALSE(reading.times_are_live);
  EXPECT_EQ(reading.enabled_ns, 70U);
  EXPECT_EQ(reading.running_ns, 60U);
}

TEST(CounterPage, Rule4WithAUserClockTimesAreOfNow) {
  perf_event_mmap_page page = live_page();
  page.cap_user_time = 1;
  page.time_shift = 10;
  page.time_mult = 2048;  // two nanoseconds a cycle
  page.time_offset = 5;
  FakeRegisters registers{.clock = 1'000'003};

  PageReading reading = detail::read_page(page, registers);
  EXPECT_TRUE(reading.times_are_live);
  EXPECT_EQ(reading.enabled_ns, 70 + 5 + 2'000'006U);
  EXPECT_EQ(reading.running_ns, 60 + 5 + 2'000'006U);

  // A clock of fewer bits, as on ARM: only those count, from time_cycles on.
  page.cap_user_time_short = 1;
  page.time_cycles = 0xfff0;
  page.time_mask = 0xffff;
  registers.clock = 0x0010;
  reading = detail::read_page(page, registers);
  EXPECT_EQ(reading.enabled_ns, 70 + 5 + 2 * 0x10010U);
}

TEST(CounterPage, NoPageMakesItShiftTooFarOrReadARegisterThatIsNotThere) {
  for (const int width : {0, 65, 255, 0xffff}) {
    perf_event_mmap_page page = live_page();
    page.pmc_width = static_cast<std::uint16_t>(width);
    FakeRegisters registers;
    EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kAskKernel) << width;
    EXPECT_EQ(registers.reads, 0);
  }
  perf_event_mmap_page page = live_page();
  page.cap_user_time = 1;
  page.time_shift = 64;
  FakeRegisters registers{.clock = 99};
  EXPECT_FALSE(detail::read_page(page, registers).times_are_live);
  registers.has_counter = false;
  EXPECT_EQ(detail::read_page(page, registers).outcome, PageOutcome::kAskKernel);

  // And no bytes at all make it crash: all fields at their ends.
  for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff}) {
    std::memset(&page, byte, sizeof page);
    static_cast<void>(detail::read_page(page, registers));
  }
}

// A register that is not there would be a fault of the processor.
TEST(CounterPage, RegistersBeyondThoseOfTheMachineAreRefused) {
  for (const std::uint32_t number : {33U, 64U, 1U << 20, (1U << 30) + 16, ~0U}) {
    EXPECT_FALSE(detail::Registers::counter(number)) << number;
  }
}

TEST(CounterPage, Rule7AReadOfNoBytesIsALossAndNeverAZero) {
  const detail::ReadWords words{};
  EXPECT_EQ(detail::value_of_read(0, words).error().code, ErrorCode::kGone);
  // The control: as many bytes as a value has are a value, be it zero.
  EXPECT_EQ(detail::value_of_read(24, words)->value, 0U);
  EXPECT_EQ(detail::value_of_read(8, words).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(detail::value_of_read(-1, words).error().code, ErrorCode::kSystem);
}

// ---- Events of the kernel that need no hardware ----

UniqueFd open_event(std::uint32_t type, std::uint64_t config,
                    std::uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                           PERF_FORMAT_TOTAL_TIME_RUNNING) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.read_format = format;
  attributes.exclude_kernel = 1;
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

std::uint32_t own_tid() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

class LocalCounterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
      GTEST_SKIP() << "this process may not open events";
    }
  }
};

TEST_F(LocalCounterTest, Rule3ASoftwareEventIsReadByTheKernelAndGrows) {
  auto counter =
      LocalCounter::open(open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), own_tid());
  ASSERT_TRUE(counter) << counter.error().message();

  const auto first = counter->read();
  ASSERT_TRUE(first) << first.error().message();
  std::uint64_t last = first->value;
  for (int spin = 0; last == first->value && spin < 1'000'000; ++spin) {
    const auto next = counter->read();
    ASSERT_TRUE(next);
    EXPECT_FALSE(next->is_direct);
    EXPECT_GE(next->enabled_ns, next->running_ns);
    last = next->value;
  }
  EXPECT_GT(last, first->value);
}

TEST_F(LocalCounterTest, Rule1ThePageIsMappedOnceHoweverOftenItIsRead) {
  const auto maps = [] {
    std::ifstream file("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find("perf_event") != std::string::npos) ++count;
    }
    return count;
  };
  const std::size_t before = maps();
  {
    auto counter =
        LocalCounter::open(open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), own_tid());
    ASSERT_TRUE(counter);
    for (int read = 0; read < 100; ++read) ASSERT_TRUE(counter->read());
    EXPECT_EQ(maps(), before + 1);
  }
  EXPECT_EQ(maps(), before);
}

TEST_F(LocalCounterTest, AnotherThreadReadsItToo) {
  auto counter =
      LocalCounter::open(open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), own_tid());
  ASSERT_TRUE(counter);

  bool has_read = false;
  std::thread([&] { has_read = counter->read().has_value(); }).join();

  EXPECT_TRUE(has_read);
}

TEST_F(LocalCounterTest, ADescriptorOfSomethingElseIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd writer(ends[1]);

  EXPECT_EQ(LocalCounter::open(UniqueFd(ends[0]), own_tid()).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(LocalCounter::open(UniqueFd(), own_tid()).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(LocalCounterTest, AnEventThatTellsNoTimesIsRefused) {
  auto counter =
      LocalCounter::open(open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0), own_tid());
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->read().error().code, ErrorCode::kCorrupt);
}

// A descriptor that the child kept would keep a breakpoint taken.
TEST_F(LocalCounterTest, AForkedChildKeepsNoDescriptorOfIt) {
  auto counter =
      LocalCounter::open(open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), own_tid());
  ASSERT_TRUE(counter);

  const pid_t child = ::fork();
  if (child == 0) {
    const auto value = counter->read();
    const bool is_closed = counter->descriptor() < 0;
    ::_exit(!value && value.error().code == ErrorCode::kForked && is_closed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(counter->read());
}

}  // namespace
}  // namespace meterbank::pmu
