// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/outbox.hpp"

#include <gtest/gtest.h>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] pmu::LeaseValues no_values(const Lease& /*lease*/) { return {}; }

TEST(Outbox, GivesActionsOutOnceInTheirOrder) {
  Outbox outbox(1);
  outbox.ask(Open{.carrier = 7, .openings = {}});
  outbox.ask(ReadCounters{7});

  const std::optional<Action> first = outbox.next(no_values);
  const std::optional<Action> second = outbox.next(no_values);

  ASSERT_TRUE(first && second);
  EXPECT_TRUE(std::holds_alternative<Open>(*first));
  EXPECT_TRUE(std::holds_alternative<ReadCounters>(*second));
  EXPECT_FALSE(outbox.next(no_values));
}

TEST(Outbox, DropsMessagesToClientsThatAreNotConnected) {
  Outbox outbox(1);
  Lease lease;
  lease.client = 5;
  outbox.send(5, 1, pmu::Done{});
  outbox.connect(5);
  outbox.disconnect(5);
  outbox.send(5, 2, pmu::Done{});
  outbox.send_values(lease, 3);
  outbox.notice(lease, pmu::NoticeKind::kLost, 0);

  EXPECT_FALSE(outbox.next(no_values));
}

TEST(Outbox, KeepsMessagesThatWereSentBeforeTheirClientLeft) {
  Outbox outbox(1);
  outbox.connect(5);
  outbox.send(5, 9, pmu::Done{});
  outbox.disconnect(5);

  const std::optional<Action> action = outbox.next(no_values);

  ASSERT_TRUE(action && std::holds_alternative<Send>(*action));
  EXPECT_EQ(std::get<Send>(*action).client, 5U);
  EXPECT_EQ(std::get<Send>(*action).id, 9U);
}

TEST(Outbox, ReadsValuesWhenTheMessageIsTakenOutOfTheLeaseAsItWas) {
  Outbox outbox(1);
  outbox.connect(5);
  Lease lease;
  lease.client = 5;
  lease.token = 11;
  outbox.send_values(lease, 3);
  lease.token = 12;
  std::uint64_t sampled_ns = 0;
  const auto values_of = [&](const Lease& one) {
    pmu::LeaseValues values;
    values.head.token = one.token;
    values.head.sampled_ns = sampled_ns;
    return values;
  };
  sampled_ns = 400;

  const std::optional<Action> action = outbox.next(values_of);

  ASSERT_TRUE(action && std::holds_alternative<Send>(*action));
  const auto* values = std::get_if<pmu::LeaseValues>(&std::get<Send>(*action).message);
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(values->head.token, 11U);
  EXPECT_EQ(values->head.sampled_ns, 400U);
}

TEST(Outbox, StampsRecordsWithItsEpochAndTheTimeOfTheDecision) {
  Outbox outbox(3);
  outbox.set_time(100);
  Lease lease;
  lease.token = 11;
  lease.holder.pid = 42;
  lease.holder.uid = 7;
  lease.items = {0, 1};
  outbox.record(JournalRecord::Kind::kSuspended, lease, 8, 2);
  outbox.set_time(200);

  const std::optional<Action> action = outbox.next(no_values);

  ASSERT_TRUE(action && std::holds_alternative<Record>(*action));
  const JournalRecord& record = std::get<Record>(*action).record;
  EXPECT_EQ(record.monotonic_ns, 100U);
  EXPECT_EQ(record.epoch, 3U);
  EXPECT_EQ(record.token, 11U);
  EXPECT_EQ(record.other, 8U);
  EXPECT_EQ(record.reason, 2U);
  EXPECT_EQ(record.pid, 42U);
  EXPECT_EQ(record.uid, 7U);
  EXPECT_EQ(record.counters, 2U);
}

TEST(Outbox, NoticesNameTheLeaseAndTheCause) {
  Outbox outbox(1);
  outbox.connect(5);
  Lease lease;
  lease.client = 5;
  lease.token = 11;
  lease.cause = pmu::Cause::kPreempted;
  outbox.notice(lease, pmu::NoticeKind::kRevoking, 77);

  const std::optional<Action> action = outbox.next(no_values);

  ASSERT_TRUE(action && std::holds_alternative<Send>(*action));
  EXPECT_EQ(std::get<Send>(*action).id, 0U) << "it answers no request";
  const auto* notice = std::get_if<pmu::Notice>(&std::get<Send>(*action).message);
  ASSERT_NE(notice, nullptr);
  EXPECT_EQ(notice->token, 11U);
  EXPECT_EQ(notice->kind, pmu::NoticeKind::kRevoking);
  EXPECT_EQ(notice->cause, pmu::Cause::kPreempted);
  EXPECT_EQ(notice->deadline_ns, 77U);
}

}  // namespace
}  // namespace meterbank::arbiter
