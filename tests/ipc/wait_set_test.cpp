// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/wait_set.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace meterbank {
namespace {

using Woke = WaitSet::Woke;

class WaitSetTest : public testing::Test {
 protected:
  WaitSetTest() { EXPECT_TRUE(set_.open()); }
  Woke wait(int timeout_ms = WaitSet::kLookEveryMs) {
    return set_.wait(events_, count_, timeout_ms);
  }

  WaitSet set_;
  std::array<epoll_event, 4> events_{};
  std::size_t count_ = 0;
};

TEST_F(WaitSetTest, TellsWhatIsReadyByItsTag) {
  const UniqueFd ready(::eventfd(1, EFD_CLOEXEC)), also(::eventfd(1, EFD_CLOEXEC)),
      silent(::eventfd(0, EFD_CLOEXEC));
  set_.watch(ready.get(), 7, EPOLLIN, false);
  set_.watch(also.get(), 8, EPOLLIN, false);
  set_.watch(silent.get(), 9, EPOLLIN, false);
  ASSERT_EQ(wait(), Woke::kReady);
  ASSERT_EQ(count_, 2U);
  EXPECT_EQ(std::uint64_t{events_[0].data.u64 + events_[1].data.u64}, 15U);
  set_.forget(also.get());
  set_.watch(ready.get(), 70, EPOLLIN, true);
  ASSERT_EQ(wait(), Woke::kReady);
  ASSERT_EQ(count_, 1U);
  EXPECT_EQ(std::uint64_t{events_[0].data.u64}, 70U);
}

TEST_F(WaitSetTest, WaitsNoLongerThanItIsTold) {
  EXPECT_EQ(wait(0), Woke::kNothing);
  EXPECT_EQ(count_, 0U);
}

TEST_F(WaitSetTest, WakesEveryThreadThatWaitsNowOrLater) {
  std::array<Woke, 3> woke{};
  std::vector<std::thread> threads;
  for (Woke& each : woke) {
    threads.emplace_back([this, &each] {
      epoll_event event{};
      std::size_t count = 0;
      do {
        each = set_.wait({&event, 1}, count);
      } while (each == Woke::kNothing);
    });
  }
  set_.wake();
  for (std::thread& thread : threads) thread.join();
  for (const Woke each : woke) EXPECT_EQ(each, Woke::kWoken);
  EXPECT_EQ(wait(), Woke::kWoken);
}

// In a process of its own, which closes all its descriptors as a daemon does.
TEST_F(WaitSetTest, IsLostWhenTheProgramClosesItsDescriptors) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool was_here = set_.is_here();
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    Woke woke = Woke::kNothing;
    for (int turn = 0; turn < 100 && woke != Woke::kLost; ++turn) woke = wait(10);
    ::_exit(was_here && !set_.is_here() && woke == Woke::kLost ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace meterbank
