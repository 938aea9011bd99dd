// SPDX-License-Identifier: Apache-2.0
//
// The whole arbiter, as a program of its own, lends counters of a PMU that is really scarce to
// clients that ask over its socket; competitors count without a lease.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "competitor.hpp"
#include "kernel_counter.hpp"
#include "meterbank/pmu/connection.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"

namespace meterbank::emulated {
namespace {

using pmu::Connection;
using pmu::Lease;
using pmu::Reason;
using pmu::Request;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPmu = "armv8_pmuv3";

// meterbank-pmud in a directory that several of them may have one after the other.
class Arbiter {
 public:
  Arbiter() {
    std::string pattern = "/tmp/pmud-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    start();
  }
  Arbiter(const Arbiter&) = delete;
  Arbiter& operator=(const Arbiter&) = delete;
  ~Arbiter() { end(SIGTERM); }

  void start() {
    child_ = fork();
    if (child_ == 0) {
      execl("/bin/meterbank-pmud", "meterbank-pmud", "--dir", directory_.c_str(), nullptr);
      _exit(127);
    }
  }
  void end(int signal) {
    if (child_ < 0) return;
    kill(child_, signal);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  void upgrade() const { kill(child_, SIGUSR2); }

  [[nodiscard]] pmu::ConnectionOptions options() const {
    pmu::ConnectionOptions options;
    options.socket = directory_ + "/pmud.sock";
    return options;
  }
  [[nodiscard]] Connection connect() const {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      auto connection = Connection::connect(options());
      if (connection) return std::move(*connection);
      std::this_thread::sleep_for(milliseconds(10));
    }
    ADD_FAILURE() << "the arbiter does not listen";
    std::abort();
  }

 private:
  std::string directory_;
  pid_t child_ = -1;
};

class EmulatedArbiter : public ::testing::Test {
 protected:
  void SetUp() override { move_to(0); }
  void TearDown() override {
    arbiter_.end(SIGTERM);
    EXPECT_EQ(probe_by_opening(0), kGeneral) << "a counter was not given back";
    EXPECT_EQ(probe_by_opening(1), kGeneral) << "a counter was not given back";
  }
  Arbiter arbiter_;
};

Request instructions(std::uint32_t count, std::uint32_t cpu) {
  Request request;
  request.on_pmu(kPmu).cpus({cpu});
  for (std::uint32_t item = 0; item < count; ++item) request.event_code(kInstructions);
  return request;
}

std::uint64_t value_of(Lease& lease) {
  const auto values = lease.read();
  EXPECT_TRUE(values && !values->values.empty());
  return values && !values->values.empty() ? values->values.front().value : 0;
}

TEST_F(EmulatedArbiter, LendsWhatThereIsAndNamesWhoHasIt) {
  Connection connection = arbiter_.connect();
  EXPECT_TRUE(connection.facts().has_pmu);
  auto all = connection.acquire(instructions(kGeneral, 0).label("all of it"));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->granted().head.grade, pmu::Grade::kVerified);
  EXPECT_EQ(probe_by_opening(0), 0U);
  Connection other = arbiter_.connect();
  const auto refused = other.acquire(instructions(1, 0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().answer, pmu::Answer::kInsufficientResources);
  EXPECT_EQ(refused.error().reason, Reason::kTaken);
  ASSERT_EQ(refused.error().blockers.size(), 1U);
  EXPECT_EQ(refused.error().blockers.front().pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(pmu::text_of(refused.error().blockers.front().label), "all of it");
  all->release();
  EXPECT_TRUE(other.acquire(instructions(1, 0)));
}

TEST_F(EmulatedArbiter, NamesWhoDidNotAsk) {
  Connection connection = arbiter_.connect();
  const Competitor competitor(kGeneral - 1, 1);
  const auto refused = connection.acquire(instructions(2, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kForeign) << refused.error().message();
  ASSERT_FALSE(refused.error().blockers.empty());
  EXPECT_EQ(refused.error().blockers.front().pid, static_cast<std::uint32_t>(competitor.pid()));
  EXPECT_TRUE(connection.acquire(instructions(1, 1)));
  EXPECT_EQ(probe_by_opening(1), 1U);
}

TEST_F(EmulatedArbiter, LendsAWholePmuOnlyWhereNoProcessCounts) {
  Connection connection = arbiter_.connect();
  {
    auto whole = connection.acquire(Request().on_pmu(kPmu));
    ASSERT_TRUE(whole) << whole.error().message();
    const auto refused = connection.acquire(instructions(1, 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::kWholePmu);
  }
  auto one = connection.acquire(instructions(1, 1));
  ASSERT_TRUE(one);
  EXPECT_FALSE(connection.acquire(Request().on_pmu(kPmu)));
  one->release();
  const Competitor competitor(1, 1);
  EXPECT_FALSE(connection.acquire(Request().on_pmu(kPmu)));
}

TEST_F(EmulatedArbiter, TakesCountersBackFromWhoWasKilled) {
  std::array<int, 2> ready = {};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    Connection connection = arbiter_.connect();
    const auto all = connection.acquire(instructions(kGeneral, 0));
    static_cast<void>(!write(ready[1], all ? "y" : "n", 1));
    for (;;) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  close(ready[0]);
  close(ready[1]);
  Connection connection = arbiter_.connect();
  EXPECT_FALSE(connection.acquire(instructions(1, 0)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(connection.acquire(instructions(kGeneral, 0).wait(seconds(10))));
}

TEST_F(EmulatedArbiter, CountsForManyOnOneCounterAsAReferenceCounts) {
  const Competitor competitor(kGeneral - 2, 0);
  const KernelCounter reference({});
  Connection connection = arbiter_.connect();
  std::vector<Lease> leases;
  for (int index = 0; index < 5; ++index) {
    auto lease = connection.acquire(instructions(1, 0).shares());
    ASSERT_TRUE(lease) << index << ": " << lease.error().message();
    leases.push_back(std::move(*lease));
    work(1'000'000);
  }
  EXPECT_EQ(probe_by_opening(0), 0U);
  // A holder that came later counts from where it came.
  for (std::size_t index = 1; index < leases.size(); ++index) {
    EXPECT_LT(value_of(leases[index]) + 500'000, value_of(leases[index - 1]));
  }
  for (Lease& lease : leases) {
    const std::uint64_t outer = reference.read()->value;
    const std::uint64_t begin = value_of(lease);
    const std::uint64_t inner = reference.read()->value;
    work(2'000'000);
    const std::uint64_t inner_end = reference.read()->value;
    const std::uint64_t counted = value_of(lease) - begin;
    const std::uint64_t outer_end = reference.read()->value;
    EXPECT_GE(counted, inner_end - inner);
    EXPECT_LE(counted, outer_end - outer);
  }
  // The last one to leave gives the counter back.
  leases.erase(leases.begin(), leases.end() - 1);
  EXPECT_EQ(probe_by_opening(0), 0U);
  leases.clear();
  EXPECT_EQ(probe_by_opening(0), 1U);
}

TEST_F(EmulatedArbiter, LosesNoLeaseAndNoCountToANewImageOfItself) {
  Connection connection = arbiter_.connect();
  auto lease = connection.acquire(instructions(kGeneral, 0));
  ASSERT_TRUE(lease) << lease.error().message();
  work(1'000'000);
  const std::uint64_t before = value_of(*lease);
  const auto token = lease->token();
  const auto ledger = connection.ledger();
  arbiter_.upgrade();
  for (int attempt = 0; connection.ledger() == ledger; ++attempt) {
    ASSERT_LT(attempt, 10'000) << "no new image";
    ASSERT_EQ(probe_by_opening(0), 0U) << "a counter was let go of";
  }
  EXPECT_EQ(ledger->state(), pmu::LedgerState::kReplaced);
  EXPECT_TRUE(lease->is_in_force());
  EXPECT_EQ(lease->token(), token);
  work(1'000'000);
  EXPECT_GE(value_of(*lease), before + 1'000'000);
}

TEST_F(EmulatedArbiter, IsReplacedAfterItsDeathAndLendsAgainWhatWasLent) {
  Connection connection = arbiter_.connect();
  auto lease = connection.acquire(instructions(kGeneral, 0));
  ASSERT_TRUE(lease) << lease.error().message();
  const auto token = lease->token();
  arbiter_.end(SIGKILL);
  arbiter_.start();
  for (int attempt = 0; lease->token() == token; ++attempt) {
    ASSERT_LT(attempt, 1000) << "not claimed again";
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(lease->is_in_force());
  EXPECT_GT(pmu::epoch_of(lease->token()), pmu::epoch_of(token));
  EXPECT_EQ(probe_by_opening(0), 0U);
  const std::uint64_t before = value_of(*lease);
  work(1'000'000);
  EXPECT_GE(value_of(*lease), before + 1'000'000);
}

TEST_F(EmulatedArbiter, FencesAHolderThatMakesNoCalls) {
  Connection holder = arbiter_.connect();
  Connection administrator = arbiter_.connect();
  auto lease =
      holder.acquire(Request().on_pmu(kPmu).event_code(kInstructions).this_thread().delegates());
  ASSERT_TRUE(lease) << lease.error().message();
  const auto counter = lease->local(0);
  ASSERT_TRUE(counter) << counter.error().message();
  work(100'000);
  const auto before = counter->read();
  ASSERT_TRUE(before);
  EXPECT_GE(before->value, 100'000U);
  EXPECT_TRUE(lease->is_in_force());
  ASSERT_TRUE(administrator.revoke(lease->token(), std::chrono::nanoseconds(0)));
  EXPECT_FALSE(lease->is_in_force()) << "the ledger is one load away";
  const auto frozen = counter->read();
  work(100'000);
  const auto later = counter->read();
  if (frozen && later) {
    EXPECT_EQ(frozen->value, later->value);
    EXPECT_FALSE(later->is_direct);
  }
}

TEST_F(EmulatedArbiter, TakesTurnsThatEachValueTellsOf) {
  const Competitor competitor(kGeneral - 2, 0);
  const KernelCounter reference({});
  Connection connection = arbiter_.connect();
  std::vector<Lease> leases;
  for (int index = 0; index < 3; ++index) {
    auto lease = connection.acquire(instructions(1, 0).duty(300));
    ASSERT_TRUE(lease) << index << ": " << lease.error().message();
    leases.push_back(std::move(*lease));
  }
  const std::uint64_t begin = reference.read()->value;
  for (int burst = 0; burst < 150; ++burst) {
    work(1'500'000);
    std::this_thread::sleep_for(milliseconds(14));
  }
  const auto truth = static_cast<double>(reference.read()->value - begin);
  for (Lease& lease : leases) {
    const auto values = lease.read();
    ASSERT_TRUE(values);
    const pmu::Value& value = values->values.front();
    EXPECT_EQ(values->head.quality, pmu::Quality::kSliced);
    const double share =
        static_cast<double>(value.running_ns) / static_cast<double>(value.enabled_ns);
    EXPECT_NEAR(share, 1.0 / 3, 0.05);
    const double estimate = static_cast<double>(value.value) / share;
    EXPECT_NEAR(estimate / truth, 1.0, 0.15);
    RecordProperty("estimate_of_truth", std::to_string(estimate / truth));
  }
}

TEST_F(EmulatedArbiter, LosesNoCounterInAThousandGrants) {
  Connection connection = arbiter_.connect();
  for (std::uint32_t grant = 0; grant < 1000; ++grant) {
    auto lease = connection.acquire(instructions(1 + grant % kGeneral, grant % 2));
    ASSERT_TRUE(lease) << grant << ": " << lease.error().message();
  }
  const auto room = connection.probe(instructions(1, 0));
  ASSERT_TRUE(room) << room.error().message();
  EXPECT_EQ(room->counters, kGeneral);
  EXPECT_EQ(room->is_probed, 1U);
}

}  // namespace
}  // namespace meterbank::emulated
