// SPDX-License-Identifier: Apache-2.0
//
// What a program does around its connection to the arbiter must not hang it, end it, or touch what
// is its own.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "../support/comes_true.hpp"
#include "../support/sanitizers.hpp"
#include "../support/taken_descriptors.hpp"
#include "pmu_fixture.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;
using pmu::Connection;
using pmu::Lease;

// How a process ended that has a minute; 0: well.
int ended(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

class HostTest : public PmuTest {
 protected:
  // A child with a connection and a lease of its own loses their descriptors.
  int lose_descriptors(bool has_keeper, OwnFiles::Sort sort) {
    if (arbiter_ == nullptr) arbiter();
    const pid_t child = ::fork();
    if (child != 0) return ended(child);
    ::alarm(60);
    {
      auto connection =
          Connection::connect({.socket = socket(), .has_keeper = has_keeper, .timeout = 5s});
      auto lease = connection->acquire(cycles());
      if (!lease) ::_exit(2);
      close_in_a_loop();
      OwnFiles files(sort);
      if (!comes_true(others_sleep)) ::_exit(3);
      if (connection->acquire(cycles())) ::_exit(4);
      if (lease->read()) ::_exit(5);
      connection->dispatch();
      if (connection->is_connected()) ::_exit(6);
      lease->release();
      { const Connection closed = std::move(*connection); }
      if (!files.are_untouched()) ::_exit(7);
    }
    ::_exit(0);
  }
};

TEST_F(HostTest, AConnectionWithAKeeperEndsWithItsDescriptors) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer starts no threads in a forked child";
  EXPECT_EQ(lose_descriptors(true, OwnFiles::Sort::kSockets), 0);
  EXPECT_EQ(lose_descriptors(true, OwnFiles::Sort::kEventCounters), 0);
  EXPECT_EQ(lose_descriptors(true, OwnFiles::Sort::kEpollSets), 0);
}

TEST_F(HostTest, AConnectionWithoutAKeeperEndsWithItsDescriptors) {
  EXPECT_EQ(lose_descriptors(false, OwnFiles::Sort::kSockets), 0);
  EXPECT_EQ(lose_descriptors(false, OwnFiles::Sort::kEventCounters), 0);
  EXPECT_EQ(lose_descriptors(false, OwnFiles::Sort::kEpollSets), 0);
}

// As _Fork() does: no handler of fork() runs.
TEST_F(HostTest, AChildThatNoHandlerSeesHasNothingAndFreesNothing) {
  auto& arbiter = hold(cycles().term(10s));
  ASSERT_TRUE(lease_->use());

  const auto child =
      static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    ::alarm(60);
    ::_exit(child_has_nothing() ? 0 : 1);
  }
  EXPECT_EQ(ended(child), 0);

  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_TRUE(lease_->read());
  EXPECT_TRUE(arbiter.received<pmu::Free>().empty());
}

}  // namespace
}  // namespace meterbank::test
