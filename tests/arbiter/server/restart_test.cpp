// SPDX-License-Identifier: Apache-2.0
//
// An arbiter that dies and comes again, and one that goes on in a new image: what becomes of
// leases.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <vector>

#include "../../support/depth.hpp"
#include "meterbank/base/clock.hpp"
#include "pmud_process.hpp"

namespace meterbank::test {
namespace {

pmu::Allocate reclaiming(pmu::Allocate request, pmu::Token token) {
  request.head.reclaims = token;
  return request;
}

TEST(PmudRestart, HoldersOfADeadArbiterClaimTheirLeasesAgainAndOthersWait) {
  PmudProcess pmud;
  RawClient holder = RawClient::greeted(pmud.socket());
  pmu::Token old = token_of(holder.ask(whole(0b01)));
  RawClient stranger;
  bool is_refused = false;
  // Grace lasts two seconds. If the machine stood still for longer, the arbiter is killed once
  // more.
  for (int attempt = 0; attempt < 5 && !is_refused; ++attempt) {
    pmud.kill();
    EXPECT_TRUE(comes_true([&] { return holder.ledger()->has_owner_died(); }));
    pmud.start();
    stranger = RawClient::greeted(pmud.socket());
    const auto answer = stranger.ask(whole(0b10));
    if (const auto* refusal = refusal_of(answer)) {
      EXPECT_EQ(stranger.welcome().flags & pmu::kWelcomeGrace, pmu::kWelcomeGrace);
      ASSERT_EQ(refusal->reason, pmu::Reason::kGrace);
      is_refused = true;
    } else {
      holder = RawClient::greeted(pmud.socket());
      old = token_of(holder.ask(reclaiming(whole(0b01), old)));
      ASSERT_NE(old, 0U);
    }
  }
  ASSERT_TRUE(is_refused);
  holder = RawClient::greeted(pmud.socket());
  const pmu::Token now = token_of(holder.ask(reclaiming(whole(0b01), old)));
  EXPECT_NE(pmu::epoch_of(now), pmu::epoch_of(old));
  EXPECT_EQ(pmu::epoch_of(now), holder.welcome().epoch);
  // Grace ends, and the other CPU is there for all.
  EXPECT_NE(token_of(stranger.ask(waiting(whole(0b10)))), 0U);
}

TEST(PmudRestart, AfterAnOrderlyEndThereIsNoGrace) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  ASSERT_NE(token_of(client.ask(whole(0b01))), 0U);
  const std::uint32_t epoch = client.welcome().epoch;
  EXPECT_EQ(pmud.stop(), 0);
  pmud.start();
  client = RawClient::greeted(pmud.socket());
  EXPECT_EQ(client.welcome().epoch, epoch == 0xffff ? 1 : epoch + 1);
  EXPECT_NE(token_of(client.ask(whole(0b11))), 0U);
}

TEST(PmudRestart, EveryHolderHasItsLeaseAgainHoweverOftenTheArbiterDies) {
  const int restarts = static_cast<int>(test::depth(20, 1000));
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  pmu::Token token = token_of(client.ask(events(2, 0b11)));
  std::set<std::uint32_t> epochs{client.welcome().epoch};
  std::uint64_t longest = 0;
  std::size_t descriptors = 0;
  for (int i = 0; i < restarts; ++i) {
    pmud.kill();
    const std::uint64_t died = clock_ns(CLOCK_MONOTONIC);
    pmud.start();
    client = RawClient::greeted(pmud.socket());
    token = token_of(client.ask(reclaiming(events(2, 0b11), token)));
    ASSERT_NE(token, 0U) << "restart " << i << '\n' << pmud.complaints();
    longest = std::max(longest, clock_ns(CLOCK_MONOTONIC) - died);
    epochs.insert(client.welcome().epoch);
    if (i == 0) descriptors = pmud.descriptors_of(1, 1);
  }
  EXPECT_EQ(epochs.size(), static_cast<std::size_t>(restarts) + 1);
  EXPECT_TRUE(comes_true([&] { return pmud.descriptors() <= descriptors; }));
  std::printf("%d restarts; from death to the lease again at most %.1f ms\n", restarts,
              static_cast<double>(longest) / 1e6);
}

TEST(PmudRestart, AJournalThatWasDamagedIsReadAsFarAsItGoes) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  const pmu::Token old = token_of(client.ask(whole(0b01)));
  pmud.kill();
  const std::string path = pmud.directory() + "/pmud.journal";
  FILE* const file = std::fopen(path.c_str(), "ab");
  std::fputs("a record that was torn", file);
  std::fclose(file);
  pmud.start();
  EXPECT_NE(pmud.complaints().find("were no records"), std::string::npos);
  client = RawClient::greeted(pmud.socket());
  EXPECT_NE(token_of(client.ask(reclaiming(whole(0b01), old))), 0U);
}

// ---- A new image ----

TEST(PmudUpgrade, AHundredLeasesGoOnUnderTheirTokens) {
  PmudProcess pmud(kLargeTopology);
  std::vector<RawClient> clients;
  std::vector<pmu::Token> tokens;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(RawClient::greeted(pmud.socket()));
    for (int lease = 0; lease < 10; ++lease) {
      tokens.push_back(token_of(clients.back().ask(events(1, std::uint64_t{1} << i))));
      ASSERT_NE(tokens.back(), 0U);
    }
  }
  RawClient waiter = RawClient::greeted(pmud.socket());
  const std::uint64_t waits = waiter.send(waiting(whole(0b1)));
  ASSERT_TRUE(waiter.answer(waits)->as<pmu::Queued>() != nullptr);
  const pid_t pid = pmud.pid();

  pmud.signal(SIGUSR2);

  for (std::size_t i = 0; i < clients.size(); ++i) {
    const auto notice = clients[i].notice();
    ASSERT_TRUE(notice && notice->as<pmu::NewLedger>() != nullptr) << pmud.complaints();
    EXPECT_EQ(clients[i].ledger()->state(), pmu::LedgerState::kReplaced);
    const auto ledger = pmu::LedgerView::attach(UniqueFd(::dup(notice->attached.get())));
    ASSERT_TRUE(ledger);
    for (std::size_t lease = 0; lease < 10; ++lease) {
      EXPECT_TRUE((*ledger)->is_in_force(tokens[i * 10 + lease]));
    }
    const auto read = clients[i].ask(pmu::Read{tokens[i * 10]});
    EXPECT_TRUE(read && read->as<pmu::LeaseValues>() != nullptr);
  }
  EXPECT_EQ(pmud.pid(), pid);
  // A client that waited waits on, and is served.
  for (std::size_t lease = 0; lease < 10; ++lease) {
    const auto freed = clients[0].ask(pmu::Free{tokens[lease]});
    EXPECT_TRUE(freed && freed->as<pmu::Done>() != nullptr);
  }
  EXPECT_NE(token_of(waiter.answer(waits)), 0U);
  // Ends of processes and new clients are seen as before.
  RawClient newcomer = RawClient::greeted(pmud.socket());
  EXPECT_NE(token_of(newcomer.ask(events(1, 0b10))), 0U);
  EXPECT_EQ(pmud.stop(), 0);
}

TEST(PmudUpgrade, CountsOfThisMachineGoOn) {
  if (!test::breakpoints_count()) GTEST_SKIP() << "breakpoints never count here";
  const BreakpointLock lock;
  static std::atomic<std::uint64_t> watched{0};
  PmudProcess pmud("");
  RawClient client = RawClient::greeted(pmud.socket());
  pmu::Allocate request = breakpoint(&watched, 0);
  request.head.flags = pmu::kAllocateHasItems;
  request.head.group_count = 0;
  request.groups.clear();
  request.head.task = static_cast<std::uint32_t>(::gettid());
  const pmu::Token token = token_of(client.ask(request));
  ASSERT_NE(token, 0U);
  // relaxed: only that it is written counts.
  for (int i = 0; i < 500; ++i) watched.store(1, std::memory_order_relaxed);
  pmud.signal(SIGUSR2);
  const auto notice = client.notice();
  ASSERT_TRUE(notice && notice->as<pmu::NewLedger>() != nullptr) << pmud.complaints();
  for (int i = 0; i < 500; ++i) watched.store(2, std::memory_order_relaxed);
  const auto got = client.ask(pmu::Read{token});
  const auto* const values = got ? got->as<pmu::LeaseValues>() : nullptr;
  ASSERT_NE(values, nullptr);
  EXPECT_GE(values->values.at(0).value, 1000U);
}

TEST(PmudUpgrade, ManyInARowLeaveNothingBehind) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(client.ask(events(1, 0b01)));
  std::size_t descriptors = 0;
  for (int i = 0; i < static_cast<int>(test::depth(10, 200)); ++i) {
    pmud.signal(SIGUSR2);
    const auto notice = client.notice();
    ASSERT_TRUE(notice && notice->as<pmu::NewLedger>() != nullptr) << pmud.complaints();
    const auto read = client.ask(pmu::Read{token});
    ASSERT_TRUE(read && read->as<pmu::LeaseValues>() != nullptr);
    if (i == 0) descriptors = pmud.descriptors_of(1, 1);
  }
  EXPECT_TRUE(comes_true([&] { return pmud.descriptors() <= descriptors; }));
}

}  // namespace
}  // namespace meterbank::test
