// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/instance.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <optional>
#include <stdexcept>
#include <thread>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank {
namespace {

using test::Venue;

class InstanceTest : public testing::Test {
 protected:
  Registration add(CountersetSpec spec = test::kOrders) {
    provider_.emplace(*Provider::create({.name = "orders", .directory = directory_.path()}));
    return *provider_->add(spec);
  }
  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
};

TEST_F(InstanceTest, AnUpdatePublishesSeveralCountersTogether) {
  const Registration venues = add();
  Instance eu = *venues.create_instance("eu");
  eu.update([](Values& values) {
    values.add(Venue::kAccepted, 2);
    values.set(Venue::kDepth, 7);
    EXPECT_EQ(values.value(Venue::kAccepted), 2U);
  });
  EXPECT_EQ(eu.value(Venue::kAccepted), 2U);
  EXPECT_EQ(eu.value(Venue::kDepth), 7U);
}

TEST_F(InstanceTest, AnUpdateThatThrowsPublishesNothing) {
  const Registration venues = add();
  Instance eu = *venues.create_instance("eu");
  eu.add(Venue::kAccepted, 1);
  EXPECT_THROW(eu.update([](Values& values) {
    values.add(Venue::kAccepted, 5);
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(eu.value(Venue::kAccepted), 1U);
  eu.update([](Values& values) { values.add(Venue::kBytes, 1); });
  EXPECT_EQ(eu.value(Venue::kAccepted), 1U);
}

TEST_F(InstanceTest, ACounterOutsideTheSchemaIsIgnored) {
  const Registration venues = add();
  Instance eu = *venues.create_instance("eu");
  eu.add(3, 1);
  eu.set(4096, 1);
  eu.update([](Values& values) { values.set(77, 1); });
  eu.counter(99).increment();
  EXPECT_EQ(eu.value(99), 0U);
}

TEST_F(InstanceTest, LateUpdatesAfterCloseReachNoReader) {
  Registration venues = add();
  Instance eu = *venues.create_instance("eu");
  Counter accepted = eu.counter(Venue::kAccepted);
  InstanceWriter writer = *venues.find("EU");
  eu.close();
  eu.close();
  eu.add(Venue::kAccepted, 1);
  accepted.add(1);
  writer.add(Venue::kAccepted, 1);
  EXPECT_FALSE(venues.find("eu"));
  provider_.reset();
  accepted.add(1);
  writer.add(Venue::kAccepted, 1);
  EXPECT_FALSE(venues.create_instance("us"));
}

TEST_F(InstanceTest, ASlotIsNotReusedWhileAHandleCanStillWriteToIt) {
  provider_.emplace(*Provider::create({.name = "orders",
                                       .directory = directory_.path(),
                                       .quarantine = std::chrono::milliseconds(0)}));
  const Registration venues = *provider_->add(test::kOrders);
  Counter held = (*venues.create_instance("eu")).counter(Venue::kAccepted);
  for (int round = 0; round < 200; ++round) {
    Instance next = *venues.create_instance("next");
    held.add(1);
    ASSERT_EQ(next.value(Venue::kAccepted), 0U);
  }
}

TEST_F(InstanceTest, ADefaultInstanceCountsIntoNothing) {
  Instance nowhere;
  nowhere.add(Venue::kAccepted, 1);
  nowhere.update([](Values& values) { values.add(Venue::kBytes, 1); });
  EXPECT_EQ(nowhere.id(), kAnyInstanceId);
}

std::atomic<Counter*> interrupted{nullptr};

TEST_F(InstanceTest, ASignalHandlerLosesNothingOfTheCounterItInterrupts) {
  CountersetSpec spec = test::kOrders;
  spec.consistency = Consistency::kIndependent;
  const Registration venues = add(spec);
  Instance eu = *venues.create_instance("eu");
  Counter accepted = eu.counter(Venue::kAccepted);
  static std::atomic<std::uint64_t> handled{0};
  interrupted = &accepted;
  struct sigaction action {};
  action.sa_handler = [](int) {
    interrupted.load(std::memory_order_seq_cst)->add(1);
    handled.fetch_add(1, std::memory_order_seq_cst);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval fast{{0, 200}, {0, 200}};
  ::setitimer(ITIMER_REAL, &fast, nullptr);
  std::uint64_t counted = 0;
  while (handled.load(std::memory_order_seq_cst) < 500) {
    for (int i = 0; i < 1000; ++i) accepted.add(1);
    counted += 1000;
  }
  const itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);
  EXPECT_EQ(accepted.value(), counted + handled.load(std::memory_order_seq_cst));
}

TEST_F(InstanceTest, AnAddFromAnyThreadIsExact) {
  CountersetSpec spec = test::kOrders;
  spec.consistency = Consistency::kIndependent;
  const Registration venues = add(spec);
  Instance eu = *venues.create_instance("eu");
  const auto count = [counter = eu.counter(Venue::kAccepted)]() mutable {
    for (int i = 0; i < 100'000; ++i) counter.add_from_any_thread(1);
  };
  std::thread first(count);
  std::thread second(count);
  first.join();
  second.join();
  EXPECT_EQ(eu.value(Venue::kAccepted), 200'000U);
}

}  // namespace
}  // namespace meterbank
