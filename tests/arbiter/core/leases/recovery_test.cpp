// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/recovery.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

constexpr pmu::Token kToken = 11;

class Recoveries : public testing::Test {
 protected:
  Recoveries() {
    holder.pid = 40;
    holder.uid = 7;
    holder.start_time = 300;
    lease.holder = holder;
    lease.asked = allocate({cycles(2)});
    lease.asked.head.reclaims = kToken;
  }

  static JournalRecord record_of(JournalRecord::Kind kind, pmu::Token token) {
    return {.token = token, .start_time = 300, .pid = 40, .uid = 7, .kind = kind};
  }
  [[nodiscard]] JournalRecord granted() const {
    JournalRecord record = record_of(JournalRecord::Kind::kGranted, kToken);
    record.other = digest_of(lease.asked);
    return record;
  }
  static JournalRecord delegated(std::uint16_t position, std::uint64_t kernel_id) {
    JournalRecord record = record_of(JournalRecord::Kind::kDelegated, kToken);
    record.reason = position;
    record.other = kernel_id;
    return record;
  }

  ClientIdentity holder;
  Lease lease;
  Recovery recovery;
};

TEST_F(Recoveries, LetTheSameProcessReclaimOnce) {
  EXPECT_TRUE(recovery.refusal(lease)) << "nothing is remembered";
  recovery.remember({granted()});
  EXPECT_FALSE(recovery.refusal(lease));

  EXPECT_TRUE(recovery.reclaim(kToken));
  EXPECT_FALSE(recovery.reclaim(kToken));
  EXPECT_TRUE(recovery.refusal(lease));
}

TEST_F(Recoveries, RefuseOtherProcessesUnlessTheLeaseWasDetached) {
  lease.holder.pid = 41;
  recovery.remember({granted()});
  EXPECT_TRUE(recovery.refusal(lease));
  JournalRecord detached = granted();
  detached.reason = kJournalDetached;
  recovery.remember({detached});
  EXPECT_FALSE(recovery.refusal(lease));

  lease.holder.uid = 8;
  EXPECT_TRUE(recovery.refusal(lease)) << "of another user";
}

TEST_F(Recoveries, RefuseARequestInOtherWords) {
  recovery.remember({granted()});
  lease.asked.items.front().count = 3;

  const auto refused = recovery.refusal(lease);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, Reason::kMalformed);
}

TEST_F(Recoveries, ForgetWhatTheJournalSaysHasEnded) {
  for (const auto kind : {JournalRecord::Kind::kFenced, JournalRecord::Kind::kFreed}) {
    recovery.remember({granted()});
    EXPECT_TRUE(recovery.has_leases());
    recovery.remember({record_of(kind, kToken)});
    EXPECT_FALSE(recovery.has_leases());
  }
  JournalRecord reclaimed = record_of(JournalRecord::Kind::kReclaimed, kToken + 1);
  reclaimed.other = kToken;
  recovery.remember({granted(), reclaimed});
  EXPECT_FALSE(recovery.has_leases()) << "it has another token now";
}

TEST_F(Recoveries, TakeBackOnlyCountersThatTheHolderHadAndOffered) {
  recovery.remember({granted(), delegated(1, 900), delegated(0, 0)});
  EXPECT_TRUE(recovery.expects(holder, {kToken, 900}));
  EXPECT_FALSE(recovery.expects(holder, {kToken, 901}));
  EXPECT_FALSE(recovery.expects(holder, {kToken, 0})) << "its number is not known";
  EXPECT_FALSE(recovery.expects(holder, {kToken + 1, 900}));
  ClientIdentity other = holder;
  other.start_time = 301;
  EXPECT_FALSE(recovery.expects(other, {kToken, 900})) << "another process with the same pid";

  EXPECT_EQ(recovery.kept_for(kToken), (std::vector<std::uint64_t>{0, 0}));
  recovery.accept({kToken, 900});
  EXPECT_EQ(recovery.kept_for(kToken), (std::vector<std::uint64_t>{0, 900}));
  EXPECT_TRUE(recovery.reclaim(kToken));
  EXPECT_TRUE(recovery.kept_for(kToken).empty());
}

TEST_F(Recoveries, EndLeasesThatWereNotReclaimedWithTheGrace) {
  recovery.remember({granted()});
  recovery.begin_grace(1000);
  EXPECT_TRUE(recovery.is_grace(999));
  EXPECT_FALSE(recovery.end_grace(999));

  const auto ended = recovery.end_grace(1000);
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->size(), 1U);
  EXPECT_EQ(ended->front().token, kToken);
  EXPECT_EQ(ended->front().kind, JournalRecord::Kind::kFenced);
  EXPECT_EQ(ended->front().reason, static_cast<std::uint16_t>(pmu::Cause::kHolderGone));
  EXPECT_FALSE(recovery.has_leases());
  EXPECT_FALSE(recovery.end_grace(2000)) << "once";
}

TEST_F(Recoveries, LoadWhatTheySaved) {
  recovery.remember({granted()});
  recovery.begin_grace(1000);
  nlohmann::json saved;
  recovery.save(saved);

  Recovery loaded;
  loaded.load(saved);

  EXPECT_EQ(loaded.grace_until_ns(), 1000U);
  EXPECT_FALSE(loaded.refusal(lease));
}

}  // namespace
}  // namespace meterbank::arbiter
