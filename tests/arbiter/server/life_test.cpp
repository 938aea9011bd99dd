// SPDX-License-Identifier: Apache-2.0
//
// How leases end with their holders, and go on with the arbiter.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include "meterbank/base/clock.hpp"
#include "pmud_process.hpp"

namespace meterbank::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// A process that takes a lease, tells its token and lives on until it is killed.
class Holder {
 public:
  Holder(
      const std::string& socket, const pmu::Allocate& request,
      const std::function<void(RawClient&)>& then = [](RawClient&) {}) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      die_with_parent();
      RawClient client(socket);
      const OwnedExtent page = heartbeat_page();
      pmu::Token token = 0;
      if (client.greet(page.descriptor())) {
        beat(page);
        token = token_of(client.ask(request));
      }
      static_cast<void>(!::write(ends[1], &token, sizeof token));
      then(client);
      for (;;) {
        beat(page);
        ::usleep(50'000);
      }
    }
    ::close(ends[1]);
    EXPECT_EQ(::read(ends[0], &token_, sizeof token_), static_cast<ssize_t>(sizeof token_));
    ::close(ends[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pmu::Token token() const noexcept { return token_; }
  void signal(int number) const { ::kill(pid_, number); }

 private:
  pid_t pid_ = -1;
  pmu::Token token_ = 0;
};

pmu::Allocate with_term(pmu::Allocate request) {
  request.head.term_ns = kSecond;
  return request;
}

TEST(PmudLife, AKilledHoldersCountersAreFree) {
  PmudProcess pmud;
  RawClient eye = RawClient::greeted(pmud.socket());
  const Holder holder(pmud.socket(), whole(0b11));
  ASSERT_TRUE(eye.ledger()->is_in_force(holder.token()));
  holder.signal(SIGKILL);
  EXPECT_NE(token_of(eye.ask(waiting(whole(0b11)))), 0U);  // queued, then served
  EXPECT_FALSE(eye.ledger()->is_in_force(holder.token()));
}

TEST(PmudLife, AStoppedHolderLosesItsLeaseAfterItsTermAndABeatingOneDoesNot) {
  PmudProcess pmud;
  RawClient eye = RawClient::greeted(pmud.socket());
  const Holder stopped(pmud.socket(), with_term(whole(0b01)));
  const Holder beating(pmud.socket(), with_term(whole(0b10)));
  stopped.signal(SIGSTOP);
  EXPECT_TRUE(comes_true([&] { return !eye.ledger()->is_in_force(stopped.token()); }));
  EXPECT_TRUE(eye.ledger()->is_in_force(beating.token()));
  stopped.signal(SIGCONT);
  EXPECT_NE(token_of(eye.ask(waiting(whole(0b01)))), 0U);
}

// The child has the socket still, but it is not the client.
TEST(PmudLife, AForkedChildKeepsNothingOfItsParents) {
  PmudProcess pmud;
  RawClient eye = RawClient::greeted(pmud.socket());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Holder parent(pmud.socket(), whole(0b11), [&](RawClient&) {
    const pid_t child = ::fork();
    if (child != 0) {
      static_cast<void>(!::write(ends[1], &child, sizeof child));
      return;
    }
    for (;;) ::pause();
  });
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  parent.signal(SIGKILL);
  EXPECT_NE(token_of(eye.ask(waiting(whole(0b11)))), 0U);
  EXPECT_EQ(::kill(child, SIGKILL), 0) << "the child was to live until now";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(PmudLife, ARevokedHolderIsToldAndReadsItsLastValues) {
  PmudProcess pmud;
  RawClient holder = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(holder.ask(events(1, 0b01)));
  RawClient admin = RawClient::greeted(pmud.socket());
  const std::uint64_t id = admin.send(pmu::AdminRevoke{token, 5 * kSecond});
  const auto notice = holder.notice();
  ASSERT_TRUE(notice && notice->as<pmu::Notice>() != nullptr);
  EXPECT_EQ(notice->as<pmu::Notice>()->kind, pmu::NoticeKind::kRevoking);
  EXPECT_TRUE(holder.ledger()->is_in_force(token));
  const auto drained = holder.ask(pmu::Drained{token});
  ASSERT_TRUE(drained && drained->as<pmu::Done>() != nullptr);
  const auto done = admin.answer(id);
  ASSERT_TRUE(done && done->as<pmu::Done>() != nullptr);
  EXPECT_FALSE(holder.ledger()->is_in_force(token));
}

// The time in which the arbiter was stopped does not count against a holder.
TEST(PmudLife, ATermGrowsByTheTimeInWhichTheArbiterWasStopped) {
  PmudProcess pmud;
  RawClient client(pmud.socket());
  const OwnedExtent page = heartbeat_page();
  ASSERT_TRUE(client.greet(page.descriptor()));
  beat(page);
  const pmu::Token token = token_of(client.ask(with_term(whole(0b01))));
  pmud.signal(SIGSTOP);
  const std::uint64_t stopped = client.ledger()->alive_ns();
  // Longer than the term and than what counts as late.
  while (clock_ns(CLOCK_MONOTONIC) - stopped < 5 * kSecond / 2) ::usleep(10'000);
  pmud.signal(SIGCONT);
  EXPECT_TRUE(comes_true([&] { return client.ledger()->alive_ns() != stopped; }));
  RawClient other = RawClient::greeted(pmud.socket());
  EXPECT_TRUE(client.ledger()->is_in_force(token));
  // Without a heartbeat it ends all the same, later.
  EXPECT_TRUE(comes_true([&] { return !client.ledger()->is_in_force(token); }));
}

TEST(PmudLife, AnOrderlyEndTellsClientsAndLeavesNothingButTheJournal) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(client.ask(events(1, 0b01)));
  EXPECT_EQ(pmud.stop(), 0) << pmud.complaints();
  bool was_told = false;
  while (const auto notice = client.notice()) {
    const auto* const lost = notice->as<pmu::Notice>();
    was_told = was_told || (lost != nullptr && lost->kind == pmu::NoticeKind::kLost &&
                            lost->cause == pmu::Cause::kArbiterEnds);
  }
  EXPECT_TRUE(was_told);
  EXPECT_FALSE(client.ledger()->is_in_force(token));
  EXPECT_EQ(client.ledger()->state(), pmu::LedgerState::kEnded);
  std::vector<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(pmud.directory())) {
    left.push_back(file.path().filename());
  }
  EXPECT_EQ(left, std::vector<std::string>{"pmud.journal"});
}

TEST(PmudLife, AFaultyPolicyIsReportedWithItsLineAndTheOldOneStays) {
  const std::string good = "[class.interactive]\nhold = \"15m\"\nrenewable = true\n";
  PmudProcess pmud(kSmallTopology, {"--policy", "FILE:policy"}, {{"policy", good}});
  RawClient client = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(client.ask(events(1, 0b01)));
  pmud.write_file("policy", good + "[[rule]]\nallow = \"everything\"\n");
  pmud.signal(SIGHUP);
  EXPECT_TRUE(comes_true([&] {
    return pmud.complaints().find("policy:5:1: ") != std::string::npos;
  })) << pmud.complaints();
  EXPECT_TRUE(client.ledger()->is_in_force(token));
  EXPECT_NE(token_of(client.ask(events(1, 0b01))), 0U);
  pmud.write_file("policy", good);
  pmud.signal(SIGHUP);
  EXPECT_TRUE(comes_true([&] { return pmud.complaints().find("read anew") != std::string::npos; }))
      << pmud.complaints();
}

}  // namespace
}  // namespace meterbank::test
