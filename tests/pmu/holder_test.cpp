// SPDX-License-Identifier: Apache-2.0
//
// A process that holds leases: what it costs, which threads may do what, what a fork leaves.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "../support/sanitizers.hpp"
#include "meterbank/base/clock.hpp"
#include "pmu_fixture.hpp"

namespace meterbank::pmu {
namespace {

using namespace std::chrono_literals;
using Client = test::ScriptedArbiter::Client;
using test::ScriptedArbiter;
using Kind = LeaseNotice::Kind;
using HolderTest = test::PmuTest;

// ---- Signs of life ----

TEST_F(HolderTest, UsingItIsSeenByTheArbiterWithoutAMessage) {
  auto& arbiter = hold(cycles().term(10s));

  const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
  EXPECT_TRUE(lease_->use());

  arbiter.run([&](ScriptedArbiter& self) {
    const auto& page = self.clients().front().heartbeat;
    ASSERT_TRUE(page);
    const auto* const word = page->bytes().at<SharedWord>(0);
    EXPECT_GE(word->load(std::memory_order_relaxed), before);
  });
}

// The arbiter grants a term so short that it is over before a holder can use it in time.
TEST_F(HolderTest, ItEndsForItsHolderATenthBeforeItEndsForTheArbiter) {
  arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        const auto* const allocate = std::get_if<Allocate>(&message);
        if (allocate == nullptr) return false;
        Granted granted = self.grant_for(*allocate);
        granted.head.term_ns = 1000;
        self.send(client, id, granted);
        return true;
      });
  hold(cycles().term(10s));

  const std::uint64_t late = clock_ns(CLOCK_MONOTONIC) + 901;
  while (clock_ns(CLOCK_MONOTONIC) <= late) continue;

  EXPECT_TRUE(lease_->is_in_force());  // no call has read the clock yet
  EXPECT_FALSE(lease_->use());
  EXPECT_FALSE(lease_->is_in_force());  // though the ledger still shows it
  EXPECT_FALSE(lease_->use());          // too late is too late
}

// From now on every system call but exit, and one for the time on machines whose vDSO has no clock,
// is death. Strict mode would forbid the time stamp counter as well.
bool forbid_system_calls() {
  std::array<sock_filter, 5> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(HolderTest, LookingAndUsingNeedNoSystemCall) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  arbiter();
  const auto run = [&](bool is_control) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto connection = Connection::connect({.socket = socket(), .has_keeper = false});
      auto lease = connection->acquire(cycles().term(10s));
      bool all = lease && forbid_system_calls();
      for (int use = 0; use < 1'000'000; ++use) all = lease->use() && all;
      if (is_control) ::syscall(SYS_getpid);
      for (int look = 0; look < 1'000'000; ++look) all = lease->is_in_force() && all;
      ::syscall(SYS_exit, all ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  };

  EXPECT_EQ(run(false), 0);
  const int killed = run(true);
  EXPECT_TRUE(WIFSIGNALED(killed));
}

// ---- fork ----

TEST_F(HolderTest, TheChildOfAForkHasNothingAndFreesNothing) {
  auto& arbiter = hold(cycles().term(10s));
  ASSERT_TRUE(lease_->use());

  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_over = !lease_->is_in_force() && lease_->standing() == Standing::kReleased;
    ::_exit(is_over && child_has_nothing() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_TRUE(lease_->read());
  EXPECT_TRUE(arbiter.received<Free>().empty());
}

TEST_F(HolderTest, TheChildMayConnectItself) {
  auto& arbiter = hold();

  const pid_t child = ::fork();
  if (child == 0) {
    auto own = Connection::connect({.socket = socket(), .has_keeper = false});
    const bool good = own && own->acquire(Request().event("cycles"));
    if (own) static_cast<void>(Connection(std::move(*own)));
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_EQ(arbiter.await<Allocate>(2).size(), 2U);
}

// ---- Without a keeper ----

TEST_F(HolderTest, WithoutAKeeperNothingHappensButInDispatch) {
  auto& arbiter = hold(cycles(), false);
  const Token token = lease_->token();
  pollfd waiting{connection_->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);

  arbiter.run([&](ScriptedArbiter& self) {
    self.send_all(Notice{token, NoticeKind::kLost, Cause::kPreempted, 0});
  });
  EXPECT_EQ(lease_->standing(), Standing::kHeld);
  ASSERT_EQ(::poll(&waiting, 1, 30'000), 1);
  connection_->dispatch();

  EXPECT_EQ(lease_->standing(), Standing::kLost);
  EXPECT_EQ(notices_.count(), 1U);
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST_F(HolderTest, DispatchDeliversANoticeThatCameWithAnAnswer) {
  arbiter([](ScriptedArbiter& self, Client& client, std::uint64_t, const ClientMessage& message) {
    const auto* const read = std::get_if<Read>(&message);
    if (read == nullptr) return false;
    self.send(client, 0, Notice{read->token, NoticeKind::kSuspended, Cause::kCpuOffline, 0});
    return false;
  });
  hold(cycles(), false);

  ASSERT_TRUE(lease_->read());
  EXPECT_EQ(notices_.count(), 0U);
  pollfd waiting{connection_->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
  connection_->dispatch();
  EXPECT_EQ(notices_.count(), 1U);
}

TEST_F(HolderTest, ACallbackMayEndTheConnectionAndItsLease) {
  auto& arbiter = this->arbiter();
  for (const bool has_keeper : {true, false}) {
    std::optional<Connection> connection;
    std::optional<Lease> lease;
    // The callback outlives the test by a moment.
    const auto ended = std::make_shared<std::promise<void>>();
    auto connected = Connection::connect(
        {.socket = socket(), .has_keeper = has_keeper, .on_notice = [&, ended](const LeaseNotice&) {
           connection.reset();
           lease.reset();
           ended->set_value();
         }});
    ASSERT_TRUE(connected) << connected.error().message();
    connection.emplace(std::move(*connected));
    auto granted = connection->acquire(cycles());
    ASSERT_TRUE(granted) << granted.error().message();
    const Token token = granted->token();
    lease.emplace(std::move(*granted));

    auto told = ended->get_future();
    arbiter.run([&](ScriptedArbiter& self) {
      self.send_all(Notice{token, NoticeKind::kLost, Cause::kPreempted, 0});
    });
    if (!has_keeper) {
      pollfd waiting{connection->descriptor(), POLLIN, 0};
      ASSERT_EQ(::poll(&waiting, 1, 30'000), 1);
      connection->dispatch();
    }
    ASSERT_EQ(told.wait_for(30s), std::future_status::ready);
  }
}

// ---- Threads ----

TEST_F(HolderTest, ManyThreadsAskAtOnceAndEachHasItsOwnAnswer) {
  arbiter();
  for (const bool has_keeper : {true, false}) {
    auto connection = connect(has_keeper);
    std::mutex mutex;
    std::set<Token> tokens;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < 25; ++round) {
          auto lease = connection.acquire(cycles());
          ASSERT_TRUE(lease) << lease.error().message();
          EXPECT_TRUE(lease->is_in_force());
          EXPECT_EQ(lease->read()->head.token, lease->token());
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(tokens.insert(lease->token()).second);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(tokens.size(), 100U);
  }
}

TEST_F(HolderTest, ACallbackMayAnswerItsNotice) {
  auto& arbiter = this->arbiter();
  std::optional<Lease> lease;
  std::promise<bool> has_drained;
  auto connection =
      Connection::connect({.socket = socket(), .on_notice = [&](const LeaseNotice& notice) {
                             if (notice.kind != Kind::kRevoking) return;
                             const bool has_read = lease->read().has_value();
                             has_drained.set_value(has_read && lease->drained().has_value());
                           }});
  ASSERT_TRUE(connection);
  lease.emplace(std::move(*connection->acquire(cycles())));

  arbiter.run([&](ScriptedArbiter& self) {
    self.send_all(Notice{lease->token(), NoticeKind::kRevoking, Cause::kPreempted, 9});
  });

  // What the arbiter has received it has not answered yet: the callback's own word counts.
  auto drained = has_drained.get_future();
  ASSERT_EQ(drained.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(drained.get());
  EXPECT_EQ(arbiter.received<Drained>().size(), 1U);
}

}  // namespace
}  // namespace meterbank::pmu
