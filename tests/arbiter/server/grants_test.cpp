// SPDX-License-Identifier: Apache-2.0
//
// What the arbiter lends, refuses and shows, asked over its socket.
#include <unistd.h>

#include <atomic>
#include <string>

#include "../../support/cooked_values.hpp"
#include "arbiter/server/publish/rows.hpp"
#include "meterbank/reader.hpp"
#include "pmud_process.hpp"

namespace meterbank::test {
namespace {

using pmu::Answer;
using pmu::Reason;

TEST(PmudGrants, WelcomesWithALedgerOfItsEpoch) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  EXPECT_EQ(client.ledger()->epoch(), client.welcome().epoch);
  EXPECT_EQ(client.ledger()->arbiter_pid(), static_cast<std::uint64_t>(pmud.pid()));
  EXPECT_NE(client.ledger()->find_place("cpu_core", 1), nullptr);
  EXPECT_EQ(client.welcome().flags & pmu::kWelcomeHasPmu, pmu::kWelcomeHasPmu);
  EXPECT_EQ(client.welcome().flags & pmu::kWelcomeGrace, 0U);
}

TEST(PmudGrants, LendsCountersThatTheLedgerShowsUntilTheyAreFreed) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  const auto got = client.ask(events(2, 0b11));
  const pmu::Token token = token_of(got);
  ASSERT_NE(token, 0U);
  EXPECT_EQ(pmu::epoch_of(token), client.welcome().epoch);
  EXPECT_TRUE(client.ledger()->is_in_force(token));
  const auto& counters = got->as<pmu::Granted>()->counters;
  ASSERT_EQ(counters.size(), 4U);
  for (const auto& counter : counters) {
    const std::uint64_t word = client.ledger()->slot_word(counter.slot);
    EXPECT_EQ(pmu::state_of<pmu::CounterState>(word), pmu::CounterState::kLeased);
    EXPECT_EQ(pmu::low_token_of(word), token & 0xffffffffffff);
  }
  ASSERT_NE(client.ask(pmu::Free{token})->as<pmu::Done>(), nullptr);
  EXPECT_FALSE(client.ledger()->is_in_force(token));
  EXPECT_TRUE(comes_true([&] { return client.ledger()->slot_word(counters[0].slot) == 0; }));
  // The second time there is nothing to free.
  const auto again = client.ask(pmu::Free{token});
  ASSERT_NE(refusal_of(again), nullptr);
}

TEST(PmudGrants, RefusalNamesTheBlockerByProgramAndLabel) {
  PmudProcess pmud;
  RawClient holder = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(holder.ask(named(whole(0b01), "holder of all")));
  RawClient second = RawClient::greeted(pmud.socket());
  const auto got = second.ask(events(1, 0b01));
  ASSERT_NE(refusal_of(got), nullptr);
  EXPECT_EQ(refusal_of(got)->answer, Answer::kInsufficientResources);
  const auto& refused = *got->as<pmu::Refused>();
  ASSERT_EQ(refused.blockers.size(), 1U);
  EXPECT_EQ(refused.blockers[0].token, token);
  EXPECT_EQ(refused.blockers[0].pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(pmu::text_of(refused.blockers[0].label), "holder of all");
  EXPECT_NE(pmu::text_of(refused.blockers[0].name), "");
  EXPECT_FALSE(refused.sentence.empty());
  // The other CPU is free.
  EXPECT_NE(token_of(second.ask(events(1, 0b10))), 0U);
}

TEST(PmudGrants, ServesWhoWaitsWhenTheHolderFrees) {
  PmudProcess pmud;
  RawClient holder = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(holder.ask(whole(0b01)));
  RawClient waiter = RawClient::greeted(pmud.socket());
  const std::uint64_t id = waiter.send(waiting(events(1, 0b01)));
  const auto queued = waiter.answer(id);
  ASSERT_TRUE(queued && queued->as<pmu::Queued>() != nullptr);
  ASSERT_NE(holder.ask(pmu::Free{token})->as<pmu::Done>(), nullptr);
  EXPECT_NE(token_of(waiter.answer(id)), 0U);
}

TEST(PmudGrants, CountsWhatHappensAtAnAddress) {
  if (!test::breakpoints_count()) GTEST_SKIP() << "breakpoints never count here";
  const BreakpointLock lock;
  static std::atomic<std::uint64_t> watched{0};
  PmudProcess pmud("");
  RawClient client = RawClient::greeted(pmud.socket());
  pmu::Allocate request = breakpoint(&watched, 1);
  // This thread, wherever it runs.
  request.head.flags &= ~pmu::kAllocateHasGroups;
  request.head.group_count = 0;
  request.groups.clear();
  request.head.task = static_cast<std::uint32_t>(::gettid());
  const pmu::Token token = token_of(client.ask(request));
  ASSERT_NE(token, 0U);
  // relaxed: only that it is written counts.
  for (int i = 0; i < 1000; ++i) watched.store(1, std::memory_order_relaxed);
  const auto got = client.ask(pmu::Read{token});
  const auto* const values = got ? got->as<pmu::LeaseValues>() : nullptr;
  ASSERT_NE(values, nullptr);
  ASSERT_EQ(values->values.size(), 1U);
  EXPECT_GE(values->values[0].value, 1000U);
  EXPECT_EQ(values->head.token, token);
}

TEST(PmudGrants, ProbesAndRefusesWithoutAPmuAndSaysWhy) {
  const BreakpointLock lock;
  PmudProcess pmud("");
  RawClient client = RawClient::greeted(pmud.socket());
  pmu::Probe probe;
  probe.flags = pmu::kAllocateHasGroups;
  probe.group_count = 1;
  probe.groups = {cpus(0b1)};
  probe.pmu = pmu::wire_name("breakpoint");
  probe.item = breakpoint(&probe, 1).items[0];
  const auto got = client.ask(probe);
  const auto* const room = got ? got->as<pmu::Room>() : nullptr;
  // Without breakpoints that count, there is no such PMU.
  ASSERT_EQ(room != nullptr, test::breakpoints_count());
  if (room != nullptr) {
    EXPECT_GE(room->counters, 1U);
    EXPECT_LE(room->counters, 4U);
  }
  if ((client.welcome().flags & pmu::kWelcomeHasPmu) != 0) return;
  const auto refused = client.ask(events(1, 0b1));
  ASSERT_NE(refusal_of(refused), nullptr);
  EXPECT_EQ(refusal_of(refused)->answer, Answer::kNotSupported);
  EXPECT_EQ(refusal_of(refused)->reason, Reason::kNoPmu);
  EXPECT_FALSE(refused->as<pmu::Refused>()->sentence.empty());
}

// The texts of all rows that a path selects.
std::string shown(const PmudProcess& pmud, const std::string& path) {
  const auto catalog = Catalog::open({.directory = pmud.directory()});
  if (!catalog) return catalog.error().message();
  auto query = Query::compile(*catalog, {path});
  if (!query) return query.error().message();
  Sample sample;
  query->collect(sample);
  std::string all;
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
    if (row.text.has_value()) all += row.short_path() + "=" + std::string(*row.text) + "\n";
  }
  return all;
}

TEST(PmudGrants, ShowsLeasesWaitersAndValuesAsRows) {
  PmudProcess pmud;
  RawClient client = RawClient::greeted(pmud.socket());
  const pmu::Token token = token_of(client.ask(named(events(4, 0b01), "row of a lease")));
  const std::uint64_t id = client.send(waiting(named(events(4, 0b01), "row of a waiter")));
  ASSERT_TRUE(client.answer(id)->as<pmu::Queued>() != nullptr);
  const std::string name = arbiter::row_name_of(token);
  EXPECT_TRUE(comes_true([&] {
    const std::string lease = shown(pmud, "pmu_lease/" + name);
    return lease.find("row of a lease") != std::string::npos &&
           lease.find("active") != std::string::npos;
  })) << shown(pmud, "pmu_lease/*");
  EXPECT_TRUE(comes_true([&] {
    return shown(pmud, "pmu_waiter/*").find("row of a waiter") != std::string::npos;
  })) << shown(pmud, "pmu_waiter/*");
  EXPECT_TRUE(comes_true([&] {
    return shown(pmud, "pmu_value/" + name + ".3/quality").find("exact") != std::string::npos;
  })) << shown(pmud, "pmu_value/*");
  ASSERT_NE(client.ask(pmu::Free{token})->as<pmu::Done>(), nullptr);
  EXPECT_TRUE(comes_true(
      [&] { return shown(pmud, "pmu_lease/*").find("row of a lease") == std::string::npos; }));
}

}  // namespace
}  // namespace meterbank::test
