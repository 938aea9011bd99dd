// SPDX-License-Identifier: Apache-2.0
//
// The life of a lease as its holder sees it, against an arbiter that plays by the rules.
#include "meterbank/pmu/lease.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "pmu_fixture.hpp"

namespace meterbank::pmu {
namespace {

using namespace std::chrono_literals;
using Client = test::ScriptedArbiter::Client;
using test::ScriptedArbiter;
using Kind = LeaseNotice::Kind;

using LeaseTest = test::PmuTest;

// ---- Granted and refused ----

TEST_F(LeaseTest, IsInForceUntilItIsReleased) {
  auto& arbiter = this->arbiter();
  auto connection = connect();

  auto lease = connection.acquire(cycles());
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_TRUE(lease->is_in_force());
  EXPECT_EQ(lease->standing(), Standing::kHeld);
  EXPECT_EQ(epoch_of(lease->token()), 1);
  EXPECT_EQ(lease->granted().counters.size(), 1U);

  const Token token = lease->token();
  lease->release();
  EXPECT_FALSE(lease->is_in_force());
  EXPECT_EQ(lease->standing(), Standing::kReleased);
  EXPECT_EQ(arbiter.await<Free>(1).front().token, token);
}

TEST_F(LeaseTest, IsGivenBackOnceHoweverItEnds) {
  auto& arbiter = this->arbiter();
  auto connection = connect();
  {
    auto first = connection.acquire(cycles());
    ASSERT_TRUE(first);
    Lease moved = std::move(*first);
    moved.release();
    moved.release();
    auto second = connection.acquire(cycles());
    ASSERT_TRUE(second);
    moved = std::move(*second);
  }
  static_cast<void>(connection.owners("core", 0));  // what was sent before has arrived
  EXPECT_EQ(arbiter.await<Free>(2).size(), 2U);
}

TEST_F(LeaseTest, ARefusalNamesTheBlockerAndTheEarliestTime) {
  arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (!std::holds_alternative<Allocate>(message)) return false;
        Refused refused;
        refused.head.answer = Answer::kInsufficientResources;
        refused.head.reason = Reason::kTaken;
        refused.head.item = 0;
        refused.head.cpu = 1;
        refused.head.earliest_ns = 77;
        refused.head.ahead = 2;
        refused.blockers.push_back({.token = 5, .pid = 321, .name = wire_name("hog")});
        refused.sentence = "hog (321) has it";
        self.send(client, id, refused);
        return true;
      });
  auto connection = connect();

  const auto lease = connection.acquire(cycles());

  ASSERT_FALSE(lease);
  const Refusal& refusal = lease.error();
  EXPECT_FALSE(refusal.error);
  EXPECT_EQ(refusal.reason, Reason::kTaken);
  EXPECT_EQ(refusal.item, 0U);
  EXPECT_EQ(refusal.cpu, 1U);
  EXPECT_EQ(refusal.earliest_ns, 77U);
  EXPECT_EQ(refusal.ahead, 2U);
  ASSERT_EQ(refusal.blockers.size(), 1U);
  EXPECT_EQ(refusal.blockers[0].pid, 321U);
  EXPECT_EQ(refusal.message(), "hog (321) has it");
}

TEST_F(LeaseTest, ADryRunHoldsNothing) {
  auto& arbiter = this->arbiter();
  auto connection = connect();

  const auto granted = connection.try_out(cycles().wait(5s));

  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->counters.size(), 1U);
  const auto asked = arbiter.received<Allocate>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_NE(asked[0].head.flags & kAllocateDryRun, 0U);
  EXPECT_EQ(asked[0].head.wait_ns, 0U);
}

TEST_F(LeaseTest, ARequestThatCannotBeSentIsNotSent) {
  auto& arbiter = this->arbiter();
  auto connection = connect();

  const auto lease = connection.acquire(Request().event("cycles").cpus("zero"));

  ASSERT_FALSE(lease);
  ASSERT_TRUE(lease.error().error);
  EXPECT_EQ(lease.error().error->code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(arbiter.received<Allocate>().empty());
}

// Row A117: the clients of one agent do not share a handle.
TEST_F(LeaseTest, TwoLeasesOfOneProcessAreNeverOne) {
  auto& arbiter = this->arbiter();
  auto connection = connect();
  auto other_connection = connect();
  auto one = connection.acquire(cycles());
  auto two = connection.acquire(cycles());
  auto three = other_connection.acquire(cycles());
  ASSERT_TRUE(one && two && three);

  EXPECT_EQ((std::set{one->token(), two->token(), three->token()}.size()), 3U);
  one->release();

  EXPECT_TRUE(two->is_in_force());
  EXPECT_TRUE(three->is_in_force());
  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);
}

// ---- Waiting ----

TEST_F(LeaseTest, AWaiterIsToldItsPlaceAndServedLater) {
  std::atomic<std::uint64_t> waiting{0};
  auto& arbiter = this->arbiter(
      [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (!std::holds_alternative<Allocate>(message)) return false;
        self.send(client, id, Queued{.ahead = 2, .estimate_ns = 99});
        waiting.store(id, std::memory_order_relaxed);
        return true;
      });
  auto connection = connect();
  std::uint32_t ahead = 0;

  const auto lease = connection.acquire(
      cycles().wait(Request::kForEver), {.on_queued = [&](const Queued& queued) {
        ahead = queued.ahead;
        arbiter.run([&](ScriptedArbiter& self) {
          const auto asked = Request().event("cycles").message();
          self.send(self.clients().front(), waiting.load(std::memory_order_relaxed),
                    self.grant_for(asked));
        });
      }});

  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(ahead, 2U);
  EXPECT_TRUE(lease->is_in_force());
}

TEST_F(LeaseTest, AWaitCanBeCancelledFromAnywhere) {
  std::uint64_t waiting = 0;
  arbiter(
      [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (std::holds_alternative<Allocate>(message)) {
          waiting = id;
          self.send(client, id, Queued{.ahead = 1});
          return true;
        }
        if (const auto* cancel = std::get_if<Cancel>(&message)) {
          EXPECT_EQ(cancel->request, waiting);
          Refused refused;
          refused.head.answer = Answer::kInsufficientResources;
          refused.head.reason = Reason::kCancelled;
          self.send(client, waiting, refused);
          return true;
        }
        return false;
      });
  auto connection = connect();
  std::stop_source stop;
  std::thread canceller;

  const auto lease = connection.acquire(cycles().wait(Request::kForEver),
                                        {.stop = stop.get_token(), .on_queued = [&](const Queued&) {
                                           canceller = std::thread([&] { stop.request_stop(); });
                                         }});
  canceller.join();

  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().reason, Reason::kCancelled);
  // Said before it began to wait, it ends the wait as well.
  const auto again =
      connection.acquire(cycles().wait(Request::kForEver), {.stop = stop.get_token()});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kCancelled);
}

// ---- LeaseValues ----

TEST_F(LeaseTest, ValuesComeWithTheirQuality) {
  hold();

  const auto values = lease_->read();

  ASSERT_TRUE(values) << values.error().message();
  EXPECT_EQ(values->head.quality, Quality::kExact);
  ASSERT_EQ(values->values.size(), 1U);
  EXPECT_EQ(values->values[0].value, 1234U);
}

TEST_F(LeaseTest, RenewalsAndAdministratorsCallsGoThrough) {
  auto& arbiter = hold();

  EXPECT_TRUE(lease_->renew());
  EXPECT_TRUE(connection_->revoke(lease_->token(), 10ms));
  EXPECT_TRUE(connection_->reserve("core", "0-1", 2));
  EXPECT_FALSE(connection_->reserve("core", "x", 2));
  EXPECT_EQ(connection_->probe(cycles())->counters, 3U);
  EXPECT_FALSE(connection_->probe(Request()));
  const auto owners = connection_->owners("core", 0);
  ASSERT_TRUE(owners);
  EXPECT_EQ(owners->front().tag, 0x4d42U);

  EXPECT_EQ(arbiter.received<Renew>().size(), 1U);
  EXPECT_EQ(arbiter.received<AdminRevoke>().front().drain_ns, 10'000'000U);
  EXPECT_EQ(arbiter.received<AdminReserve>().front().groups.front().mask, 3U);
}

TEST_F(LeaseTest, ForbiddenRequestsAreDeniedAndNotScarce) {
  arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (!std::holds_alternative<AdminRevoke>(message)) return false;
        self.send(client, id, Rejected{Rejection::kNotAllowed});
        return true;
      });
  auto connection = connect();

  const auto revoked = connection.revoke(1, 0ms);

  ASSERT_FALSE(revoked);
  ASSERT_TRUE(revoked.error().error);
  EXPECT_EQ(revoked.error().error->code, ErrorCode::kDenied);
}

// ---- The end of a lease ----

TEST_F(LeaseTest, ItsHolderIsToldOfARevocationAndSaysWhenItHasRead) {
  auto& arbiter = hold();
  const Token token = lease_->token();

  arbiter.run([&](ScriptedArbiter& self) {
    self.set_lease(token, LeaseState::kRevoking);
    self.send_all(Notice{.token = token,
                         .kind = NoticeKind::kRevoking,
                         .cause = Cause::kPreempted,
                         .deadline_ns = 4711});
  });

  const auto revoking = notices_.await(Kind::kRevoking);
  ASSERT_TRUE(revoking);
  EXPECT_EQ(revoking->token, token);
  EXPECT_EQ(revoking->deadline_ns, 4711U);
  EXPECT_EQ(lease_->standing(), Standing::kRevoking);
  EXPECT_EQ(lease_->revoked_at_ns(), 4711U);
  EXPECT_TRUE(lease_->is_in_force());
  EXPECT_TRUE(lease_->drained());
  EXPECT_EQ(arbiter.received<Drained>().front().token, token);
}

TEST_F(LeaseTest, ItsLossIsToldWithTheLastValues) {
  auto& arbiter = hold();
  const Token token = lease_->token();

  arbiter.run([&](ScriptedArbiter& self) {
    self.set_lease(token, LeaseState::kFenced);
    LeaseValues values;
    values.head.token = token;
    values.head.quality = Quality::kFenced;
    values.values.push_back({.item = 0, .value = 99});
    self.send_all(values);
    self.send_all(Notice{.token = token, .kind = NoticeKind::kLost, .cause = Cause::kHoldEnded});
  });

  const auto lost = notices_.await(Kind::kLost);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cause, Cause::kHoldEnded);
  ASSERT_TRUE(lost->last_values);
  EXPECT_EQ(lost->last_values->values.front().value, 99U);
  EXPECT_FALSE(lease_->is_in_force());
  EXPECT_FALSE(lease_->use());
  EXPECT_EQ(lease_->standing(), Standing::kLost);
  const auto values = lease_->read();
  ASSERT_TRUE(values);
  EXPECT_EQ(values->head.quality, Quality::kFenced);
  lease_->release();
  EXPECT_TRUE(arbiter.received<Free>().empty());  // there is nothing to give back
}

TEST_F(LeaseTest, TheLedgerEndsItBeforeAnyNoticeComes) {
  auto& arbiter = hold();

  arbiter.run([&](ScriptedArbiter& self) { self.set_lease(lease_->token(), LeaseState::kFenced); });

  EXPECT_FALSE(lease_->is_in_force());
  EXPECT_EQ(lease_->standing(), Standing::kHeld);  // no notice has come yet
}

TEST_F(LeaseTest, SuspendedItIsNotInForceAndResumedItIs) {
  auto& arbiter = hold();
  const Token token = lease_->token();

  arbiter.run([&](ScriptedArbiter& self) {
    self.set_lease(token, LeaseState::kSuspended);
    self.send_all(Notice{token, NoticeKind::kSuspended, Cause::kCpuOffline, 0});
  });
  ASSERT_TRUE(notices_.await(Kind::kSuspended));
  EXPECT_FALSE(lease_->is_in_force());
  EXPECT_EQ(lease_->standing(), Standing::kSuspended);

  arbiter.run([&](ScriptedArbiter& self) {
    self.set_lease(token, LeaseState::kActive);
    self.send_all(Notice{token, NoticeKind::kResumed, Cause::kNone, 0});
  });
  ASSERT_TRUE(notices_.await(Kind::kResumed));
  EXPECT_TRUE(lease_->is_in_force());
}

}  // namespace
}  // namespace meterbank::pmu
