// SPDX-License-Identifier: Apache-2.0
//
// The library and the calls of Windows against meterbank-pmud: counters of a described machine, and
// the breakpoints of this one.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../arbiter/server/pmud_process.hpp"
#include "meterbank/hal/hardware_counters.h"
#include "pmu_fixture.hpp"

namespace meterbank::pmu {
namespace {

using namespace std::chrono_literals;
using Kind = LeaseNotice::Kind;

// ---- A machine with 4 general counters and 1 fixed one on each of CPUs 0 and 1 ----

class RealArbiterTest : public testing::Test {
 protected:
  [[nodiscard]] Connection connect(test::Notices* notices = nullptr) {
    ConnectionOptions options{.socket = pmud_.socket()};
    if (notices != nullptr) options.on_notice = notices->listener();
    auto connection = Connection::connect(std::move(options));
    EXPECT_TRUE(connection) << connection.error().message();
    return std::move(*connection);
  }
  static Request four_on(std::string_view cpus) {
    Request request;
    for (int counter = 0; counter < 4; ++counter)
      request.index(static_cast<std::uint32_t>(counter));
    return request.cpus(cpus);
  }

  test::PmudProcess pmud_;
};

TEST_F(RealArbiterTest, GrantsReadsAndTakesBack) {
  auto connection = connect();
  auto lease = connection.acquire(Request().event_code(0x3c).cpus("0").label("mine"));
  ASSERT_TRUE(lease) << lease.error().message();

  EXPECT_TRUE(lease->is_in_force());
  const auto values = lease->read();
  ASSERT_TRUE(values) << values.error().message();
  EXPECT_EQ(values->values.size(), 1U);
  EXPECT_TRUE(lease->is_in_force());

  lease->release();
  EXPECT_TRUE(connection.acquire(four_on("0-1")));  // all of them are free at once
}

TEST_F(RealArbiterTest, ARefusalNamesWhoHasIt) {
  auto connection = connect();
  auto holder = connection.acquire(four_on("0").label("the hog"));
  ASSERT_TRUE(holder) << holder.error().message();

  const auto lease = connect().acquire(Request().index(2).cpus("0"));

  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().answer, Answer::kInsufficientResources);
  ASSERT_FALSE(lease.error().blockers.empty()) << lease.error().message();
  EXPECT_EQ(lease.error().blockers.front().token, holder->token());
  EXPECT_EQ(text_of(lease.error().blockers.front().label), "the hog");
  EXPECT_TRUE(connect().acquire(Request().index(2).cpus("1")));
}

TEST_F(RealArbiterTest, AWaiterIsServedWhenTheHolderIsGone) {
  auto connection = connect();
  auto holder = connection.acquire(four_on("0"));
  ASSERT_TRUE(holder);
  auto other = connect();
  std::uint32_t told = 0;

  const auto lease = other.acquire(Request().index(2).cpus("0").wait(Request::kForEver),
                                   {.on_queued = [&](const Queued&) {
                                     ++told;
                                     holder->release();
                                   }});

  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(told, 1U);
}

TEST_F(RealArbiterTest, A116ProbingSaysHowManyAreLeftAndTryingOutTakesNone) {
  auto connection = connect();
  const auto probe = [&] {
    const auto room = connection.probe(Request().event_code(0x3c).cpus("0"));
    EXPECT_TRUE(room) << room.error().message();
    return room ? room->counters : 0;
  };
  const std::uint32_t all = probe();
  ASSERT_GE(all, 4U);
  auto two = connection.acquire(Request().event_code(0x3c).event_code(0x3c).cpus("0"));
  ASSERT_TRUE(two);
  EXPECT_EQ(probe(), all - 2);
  EXPECT_TRUE(connection.try_out(Request().event_code(0x3c).cpus("0")));
  EXPECT_EQ(probe(), all - 2);
  Request too_many;
  for (std::uint32_t event = 0; event < all - 1; ++event) too_many.event_code(0x3c);
  EXPECT_FALSE(connection.acquire(too_many.cpus("0")));
}

TEST_F(RealArbiterTest, A113OwnersAreListedWithTheirTags) {
  auto connection = connect();
  auto tagged = connection.acquire(Request().index(1).tag(0x4d42).cpus("0"));
  auto untagged = connection.acquire(Request().index(2).cpus("0"));
  auto sourced = connection.acquire(Request().event_code(0x80).tag(7).cpus("0"));
  ASSERT_TRUE(tagged && untagged && sourced);

  const auto owners = connection.owners("cpu_core", 0);

  ASSERT_TRUE(owners) << owners.error().message();
  std::map<std::uint32_t, OwnerKind> kinds;
  std::set<std::uint32_t> tags;
  for (const CounterOwner& owner : *owners) {
    kinds[owner.counter] = owner.kind;
    tags.insert(owner.tag);
  }
  EXPECT_EQ(kinds[1], OwnerKind::kTagged);
  EXPECT_EQ(kinds[2], OwnerKind::kUntagged);
  EXPECT_EQ(kinds[0], OwnerKind::kTaggedWithSource);
  EXPECT_EQ(kinds[3], OwnerKind::kFree);
  EXPECT_TRUE(tags.contains(0x4d42));
}

TEST_F(RealArbiterTest, AnAdministratorsRevocationIsToldAndDrained) {
  test::Notices notices;
  auto holder = connect(&notices);
  auto lease = holder.acquire(Request().event_code(0x3c).cpus("0"));
  ASSERT_TRUE(lease);
  auto administrator = connect();
  if (!administrator.facts().is_administrator) GTEST_SKIP() << "not an administrator";

  Asked<void> revoked;
  std::thread revoking([&] { revoked = administrator.revoke(lease->token(), 10s); });
  const auto notice = notices.await(Kind::kRevoking);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->cause, Cause::kRevokedByAdministrator);
  EXPECT_TRUE(lease->read());
  EXPECT_TRUE(lease->drained());
  revoking.join();

  EXPECT_TRUE(revoked);
  const auto lost = notices.await(Kind::kLost);
  ASSERT_TRUE(lost);
  EXPECT_NE(lost->last_values, nullptr);
  EXPECT_FALSE(lease->is_in_force());
  EXPECT_TRUE(administrator.acquire(four_on("0")));
}

TEST_F(RealArbiterTest, ALeaseThatIsNotUsedForItsTermIsLost) {
  test::Notices notices;
  auto connection = connect(&notices);
  auto lease = connection.acquire(Request().event_code(0x3c).cpus("0").term(1s));
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->use());

  const auto lost = notices.await(Kind::kLost);

  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cause, Cause::kTermEnded);
  EXPECT_FALSE(lease->use());
}

TEST_F(RealArbiterTest, ACrashOfTheArbiterIsSurvivedByALeaseGrantedAnew) {
  test::Notices notices;
  auto connection = connect(&notices);
  auto lease = connection.acquire(Request().index(1).event_code(0x3c).cpus("0"));
  ASSERT_TRUE(lease);
  const Token before = lease->token();

  pmud_.kill();
  ASSERT_TRUE(notices.await(Kind::kAdrift));
  EXPECT_FALSE(lease->is_in_force());
  pmud_.start();

  const auto reclaimed = notices.await(Kind::kReclaimed);
  ASSERT_TRUE(reclaimed);
  EXPECT_EQ(reclaimed->before, before);
  EXPECT_NE(epoch_of(lease->token()), epoch_of(before));
  EXPECT_TRUE(lease->is_in_force());
  EXPECT_TRUE(lease->read());
}

TEST_F(RealArbiterTest, AnUpgradeInPlaceIsNotNoticedButByANewLedger) {
  test::Notices notices;
  auto connection = connect(&notices);
  auto lease = connection.acquire(Request().index(1).cpus("0"));
  ASSERT_TRUE(lease);
  const Token token = lease->token();
  const auto old = connection.ledger();

  pmud_.signal(SIGUSR2);
  EXPECT_TRUE(test::comes_true([&] { return connection.ledger() != old; }));

  EXPECT_EQ(lease->token(), token);
  EXPECT_TRUE(lease->is_in_force());
  EXPECT_TRUE(connection.is_connected());
  EXPECT_EQ(notices.count(), 0U);
  lease->release();
  EXPECT_TRUE(connection.acquire(four_on("0")));
}

// ---- The calls of Windows, each row that needs a machine ----

class RealHalTest : public RealArbiterTest {
 protected:
  void SetUp() override { ::setenv("METERBANK_PMUD_SOCKET", pmud_.socket().c_str(), 1); }
  void TearDown() override {
    for (const HANDLE handle : held_) EXPECT_EQ(HalFreeHardwareCounters(handle), STATUS_SUCCESS);
    ::unsetenv("METERBANK_PMUD_SOCKET");
  }
  // Counter `begin` to `end` on the CPUs of the mask. -1: the whole PMU; no mask: all CPUs.
  NTSTATUS allocate(int begin, int end, std::uint64_t mask, HANDLE* handle = nullptr) {
    PHYSICAL_COUNTER_RESOURCE_LIST list{};
    list.Count = 1;
    list.Descriptors[0].Type = ResourceTypeRange;
    list.Descriptors[0].u.Range.Begin = static_cast<ULONG>(begin);
    list.Descriptors[0].u.Range.End = static_cast<ULONG>(end);
    GROUP_AFFINITY group{};
    group.Mask = mask;
    HANDLE own = this;
    const NTSTATUS status = HalAllocateHardwareCounters(
        mask == 0 ? nullptr : &group, mask == 0 ? 0 : 1, begin < 0 ? nullptr : &list, &own);
    EXPECT_EQ(own != nullptr, status == STATUS_SUCCESS);
    if (own != nullptr) held_.insert(own);
    if (handle != nullptr) *handle = own;
    return status;
  }
  void free(HANDLE handle) {
    EXPECT_EQ(HalFreeHardwareCounters(handle), STATUS_SUCCESS);
    held_.erase(handle);
  }

  std::set<HANDLE> held_;
};

TEST_F(RealHalTest, A105AWholePmuIsExclusive) {
  HANDLE whole = nullptr;
  ASSERT_EQ(allocate(-1, 0, 0, &whole), STATUS_SUCCESS) << MeterbankHalReason();
  EXPECT_EQ(allocate(-1, 0, 0), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(allocate(0, 0, 1), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_STRNE(MeterbankHalReason(), "");
  free(whole);
  EXPECT_EQ(allocate(0, 0, 1), STATUS_SUCCESS);
  EXPECT_EQ(allocate(-1, 0, 0), STATUS_INSUFFICIENT_RESOURCES);
}

TEST_F(RealHalTest, A106DifferentCountersOrProcessorsCoexist) {
  EXPECT_EQ(allocate(0, 1, 1), STATUS_SUCCESS);
  EXPECT_EQ(allocate(2, 3, 1), STATUS_SUCCESS);
  EXPECT_EQ(allocate(0, 1, 2), STATUS_SUCCESS);
}

TEST_F(RealHalTest, A107OneBusyCounterRefusesAllAndNothingIsLeftHeld) {
  HANDLE busy = nullptr;
  ASSERT_EQ(allocate(3, 3, 2, &busy), STATUS_SUCCESS);
  EXPECT_EQ(allocate(0, 3, 3), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(allocate(0, 3, 1), STATUS_SUCCESS);
  EXPECT_EQ(allocate(0, 2, 2), STATUS_SUCCESS);
}

TEST_F(RealHalTest, A108ARangeIncludesItsEndAndMustBeThere) {
  EXPECT_EQ(allocate(0, 3, 1), STATUS_SUCCESS);
  EXPECT_EQ(allocate(3, 3, 1), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(allocate(3, 4, 2), STATUS_NOT_SUPPORTED);  // there is no counter 4
  EXPECT_EQ(allocate(3, 2, 2), STATUS_INVALID_PARAMETER);
}

TEST_F(RealHalTest, A110MasksConflictOnlyWhereTheyOverlap) {
  EXPECT_EQ(allocate(0, 0, 0b01), STATUS_SUCCESS);
  EXPECT_EQ(allocate(0, 0, 0b11), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(allocate(0, 0, 0b10), STATUS_SUCCESS);
}

TEST_F(RealHalTest, A117TheFirstFreeReleasesNothingOfTheOther) {
  HANDLE first = nullptr, second = nullptr;
  ASSERT_EQ(allocate(0, 0, 1, &first), STATUS_SUCCESS);
  ASSERT_EQ(allocate(1, 1, 1, &second), STATUS_SUCCESS);
  free(first);
  EXPECT_EQ(allocate(1, 1, 1), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(allocate(0, 0, 1), STATUS_SUCCESS);
}

// ---- This machine ----

// Only on a machine without breakpoints: under the lock, counters of another process are a failure.
#define SKIP_WITHOUT_BREAKPOINTS(lease)                              \
  if (!(lease) && (lease).error().answer == Answer::kNotSupported) { \
    GTEST_SKIP() << (lease).error().message();                       \
  }                                                                  \
  static_assert(true, "a semicolon follows")

class RealBreakpointTest : public testing::Test {
 protected:
  // Holds the lock as long as the arbiter lives.
  test::BreakpointLock lock_;
  test::PmudProcess pmud_{""};
  std::atomic<std::uint64_t> watched_{0};

  [[nodiscard]] Request watching(std::uint32_t flags = 0) const {
    return Request().breakpoint(address(), 8, Watch::kWrite, flags);
  }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(&watched_); }
};

TEST_F(RealBreakpointTest, WritesOfThisThreadAreCountedExactly) {
  auto connection = Connection::connect({.socket = pmud_.socket()});
  ASSERT_TRUE(connection) << connection.error().message();
  auto lease = connection->acquire(watching().this_thread());
  SKIP_WITHOUT_BREAKPOINTS(lease);
  ASSERT_TRUE(lease) << lease.error().message();

  for (int write = 0; write < 1000; ++write) watched_.store(1, std::memory_order_relaxed);

  const auto values = lease->read();
  ASSERT_TRUE(values) << values.error().message();
  ASSERT_EQ(values->values.size(), 1U);
  EXPECT_EQ(values->values.front().value, 1000U);
  EXPECT_EQ(values->head.quality, Quality::kExact);
  EXPECT_EQ(lease->granted().head.grade, Grade::kVerified);
  EXPECT_TRUE(lease->is_in_force());
}

TEST_F(RealBreakpointTest, ADelegatedDescriptorIsReadWithoutTheArbiter) {
  auto connection = Connection::connect({.socket = pmud_.socket()});
  ASSERT_TRUE(connection);
  auto lease = connection->acquire(watching().this_thread().delegates());
  SKIP_WITHOUT_BREAKPOINTS(lease);
  ASSERT_TRUE(lease) << lease.error().message();
  auto counter = lease->local(0);
  ASSERT_TRUE(counter) << counter.error().message();

  for (int write = 0; write < 100; ++write) watched_.store(1, std::memory_order_relaxed);

  const auto value = counter->read();
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->value, 100U);
  EXPECT_FALSE(value->is_direct);  // no register of the PMU counts this
}

TEST_F(RealBreakpointTest, InheritedCountersCountChildThreads) {
  auto connection = Connection::connect({.socket = pmud_.socket()});
  ASSERT_TRUE(connection);
  auto lease = connection->acquire(watching(kItemInherits).this_thread().delegates());
  SKIP_WITHOUT_BREAKPOINTS(lease);
  ASSERT_TRUE(lease) << lease.error().message();
  auto counter = lease->local(0);
  ASSERT_TRUE(counter) << counter.error().message();

  watched_.store(1, std::memory_order_relaxed);
  std::thread([this] {
    for (int write = 0; write < 20; ++write) watched_.store(1, std::memory_order_relaxed);
  }).join();

  const auto value = counter->read();
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_GE(value->value, 1U);
  EXPECT_TRUE(test::comes_true([&] { return counter->read()->value == 21; }))
      << "a thread can be joined a moment before the kernel adds up what it counted";
}

TEST_F(RealBreakpointTest, NoCountOfADelegatedCounterIsLostWithTheArbiter) {
  test::Notices notices;
  auto connection =
      Connection::connect({.socket = pmud_.socket(), .on_notice = notices.listener()});
  ASSERT_TRUE(connection);
  // All there are: one that is opened anew beside what the holder has would find no room.
  Request request = watching().this_thread().delegates();
  for (int more = 0; more < 3; ++more) request.breakpoint(address(), 8, Watch::kWrite);
  auto lease = connection->acquire(request);
  SKIP_WITHOUT_BREAKPOINTS(lease);
  ASSERT_TRUE(lease) << lease.error().message();
  const auto write = [this](int times) {
    while (times-- > 0) watched_.store(1, std::memory_order_relaxed);
  };
  write(100);

  pmud_.kill();
  ASSERT_TRUE(notices.await(Kind::kAdrift));
  write(50);
  pmud_.start();
  ASSERT_TRUE(notices.await(Kind::kReclaimed));
  write(7);

  const auto values = lease->read();
  ASSERT_TRUE(values) << values.error().message();
  for (const auto& value : values->values) EXPECT_EQ(value.value, 157U);
  auto counter = lease->local(3);
  ASSERT_TRUE(counter) << counter.error().message();
  EXPECT_EQ(counter->read()->value, 157U);
}

TEST_F(RealBreakpointTest, AVirtualMachineWithoutAPmuSaysSo) {
  auto connection = Connection::connect({.socket = pmud_.socket()});
  ASSERT_TRUE(connection);
  if (connection->facts().has_pmu) GTEST_SKIP() << "this machine has a PMU";

  const auto lease = connection->acquire(Request().event_code(0x3c));

  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().answer, Answer::kNotSupported);
  EXPECT_EQ(lease.error().reason, Reason::kNoPmu);
  EXPECT_NE(lease.error().message(), "");
}

}  // namespace
}  // namespace meterbank::pmu
