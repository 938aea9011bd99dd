// SPDX-License-Identifier: Apache-2.0
//
// Arbiters die, end and are replaced; what becomes of the leases.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "../support/descriptors.hpp"
#include "pmu_fixture.hpp"

namespace meterbank::pmu {
namespace {

using namespace std::chrono_literals;
using Client = test::ScriptedArbiter::Client;
using test::ScriptedArbiter;
using Kind = LeaseNotice::Kind;
using ArbiterGoneTest = test::PmuTest;

TEST_F(ArbiterGoneTest, AnOrderlyEndOfTheArbiterIsALoss) {
  auto& arbiter = hold();

  arbiter.run([&](ScriptedArbiter& self) {
    self.send_all(Notice{lease_->token(), NoticeKind::kLost, Cause::kArbiterEnds, 0});
  });
  crash();

  EXPECT_EQ(notices_.await(Kind::kLost)->cause, Cause::kArbiterEnds);
  EXPECT_EQ(lease_->standing(), Standing::kLost);
}

TEST_F(ArbiterGoneTest, AfterACrashItIsClaimedAgainByItsOldToken) {
  hold(cycles().term(10s).label("mine"));
  const Token before = lease_->token();

  crash();
  ASSERT_TRUE(notices_.await(Kind::kAdrift));
  EXPECT_FALSE(lease_->is_in_force());
  EXPECT_EQ(lease_->token(), before);
  EXPECT_FALSE(connection_->acquire(cycles()));

  auto& next = arbiter({}, 2);
  const auto reclaimed = notices_.await(Kind::kReclaimed);
  ASSERT_TRUE(reclaimed);
  EXPECT_EQ(reclaimed->before, before);
  EXPECT_EQ(reclaimed->token, lease_->token());
  EXPECT_EQ(epoch_of(lease_->token()), 2);
  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_TRUE(lease_->use());
  EXPECT_EQ(connection_->facts().epoch, 2U);
  const auto asked = next.received<Allocate>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].head.reclaims, before);
  EXPECT_EQ(text_of(asked[0].head.label), "mine");
  lease_->release();
  EXPECT_EQ(next.await<Free>(1).front().token, reclaimed->token);
}

TEST_F(ArbiterGoneTest, WithoutAKeeperDispatchClaimsItAgain) {
  hold(cycles(), false);
  arbiter({}, 2);

  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!(lease_->is_in_force() && epoch_of(lease_->token()) == 2) &&
         std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{connection_->descriptor(), POLLIN, 0};
    ::poll(&waiting, 1, 1000);
    connection_->dispatch();
  }
  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_EQ(epoch_of(lease_->token()), 2);
}

TEST_F(ArbiterGoneTest, LosesLeasesThatTheNextArbiterDoesNotGrant) {
  hold();

  arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (!std::holds_alternative<Allocate>(message)) return false;
        Refused refused;
        refused.head.answer = Answer::kInsufficientResources;
        refused.head.reason = Reason::kTaken;
        self.send(client, id, refused);
        return true;
      },
      2);

  const auto lost = notices_.await(Kind::kLost);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cause, Cause::kArbiterEnds);
  EXPECT_FALSE(lease_->is_in_force());
}

TEST_F(ArbiterGoneTest, DoesNotClaimLeasesThatWereReleasedWithoutAnArbiter) {
  arbiter();
  auto connection = connect();
  auto lease = connection.acquire(cycles());
  auto kept = connection.acquire(cycles());
  ASSERT_TRUE(lease && kept);

  crash();
  ASSERT_TRUE(notices_.await(Kind::kAdrift));
  lease->release();
  auto& next = arbiter({}, 2);
  ASSERT_TRUE(notices_.await(Kind::kReclaimed));

  EXPECT_EQ(next.received<Allocate>().size(), 1U);
}

TEST_F(ArbiterGoneTest, AnArbiterReplacedInPlaceKeepsItInANewLedger) {
  auto& arbiter = hold();
  const Token token = lease_->token();
  const auto old = connection_->ledger();

  arbiter.run([&](ScriptedArbiter& self) {
    const std::vector<LedgerPlaceForm> places{{.pmu = "core", .cpu = 0, .general = 4}};
    auto ledger = LedgerOwner::create(1, places);
    ASSERT_TRUE(ledger);
    ledger->set_lease(lease_of(token), ledger_word(LeaseState::kActive, 0, token));
    self.send_all(NewLedger{}, ledger->descriptor());
    self.set_lease(token, LeaseState::kNone);  // in the old one, which says nothing any more
    self.keep_ledger(std::move(*ledger));
  });
  static_cast<void>(connection_->owners("core", 0));

  EXPECT_NE(connection_->ledger(), old);
  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_EQ(lease_->token(), token);
}

TEST_F(ArbiterGoneTest, AMissingArbiterIsReportedWithARemedy) {
  const auto connection = Connection::connect({.socket = socket()});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::kGone);
  EXPECT_NE(connection.error().message().find("meterbank-pmud"), std::string::npos);
}

TEST_F(ArbiterGoneTest, AllDescriptorsAreGivenBackWithTheConnection) {
  arbiter();
  const auto before = test::open_descriptors();
  for (int round = 0; round < 3; ++round) {
    auto connection = connect();
    ASSERT_TRUE(connection.acquire(cycles()));
  }
  // The arbiter's ends are closed by its thread, when it looks.
  while (test::open_descriptors() > before) {
    arbiter_->run([](ScriptedArbiter&) {});
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

}  // namespace
}  // namespace meterbank::pmu
