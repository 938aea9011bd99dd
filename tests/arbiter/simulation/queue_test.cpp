// SPDX-License-Identifier: Apache-2.0
//
// Waiting clients are served in time and in turn, and the machine does not stand idle meanwhile.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulated_world.hpp"

namespace meterbank::arbiter::queue_test {
namespace {

using pmu::Priority;

// Six counters alike on one CPU.
[[nodiscard]] Topology six_counters() {
  return topology_from("[[pmu]]\nname = \"cpu\"\ncpus = \"0\"\ngeneral = 6\n");
}
const CpuSet kCpu0 = CpuSet::range(0, 0);

[[nodiscard]] pmu::Allocate counters(std::uint32_t count, Nanoseconds hold,
                                     Priority priority = Priority::kMonitoring) {
  pmu::Allocate asked = asking(kCpu0, {counters_for_event(count, 1, 0)}, priority);
  asked.head.hold_ns = hold;
  asked.head.wait_ns = pmu::kForever;
  return asked;
}
[[nodiscard]] pmu::Allocate whole(Nanoseconds hold, Priority priority = Priority::kMonitoring) {
  pmu::Allocate asked = asking(kCpu0, {}, priority);
  asked.head.hold_ns = hold;
  asked.head.wait_ns = pmu::kForever;
  return asked;
}

// A client that asks again as soon as it has lost what it had.
struct Asker {
  ClientNumber client = 0;
  pmu::Allocate asked;
  std::uint64_t request = 0;
  pmu::Token token = 0;
  Nanoseconds since_ns = 0;  // it asked, or was granted
  std::uint32_t grants = 0;
  Nanoseconds held_ns = 0;
  Nanoseconds waited_max_ns = 0;

  void step(SimulatedWorld& world) {
    if (token != 0 && world.now() >= since_ns + asked.head.hold_ns) {
      world.say(client, pmu::Free{token});
      held_ns += world.now() - since_ns;
      token = 0;
    }
    if (token == 0 && request == 0) {
      since_ns = world.now();
      request = world.say(client, asked);
    }
    if (request == 0) return;
    const pmu::Token granted = world.token(request);
    if (granted == 0) return;
    waited_max_ns = std::max(waited_max_ns, world.now() - since_ns);
    token = granted;
    request = 0;
    since_ns = world.now();
    ++grants;
  }
};

[[nodiscard]] Asker asker(SimulatedWorld& world, const pmu::Allocate& asked) {
  Asker one;
  one.client = world.connect();
  one.asked = asked;
  return one;
}

void run(
    SimulatedWorld& world, std::vector<Asker>& askers, Nanoseconds span,
    const std::function<bool()>& is_done = [] { return false; }) {
  const Nanoseconds until = world.now() + span;
  while (world.now() < until && !is_done()) {
    for (Asker& one : askers) one.step(world);
    world.pass(250 * kMillisecond);
  }
}

// Jain's: 1 where all have the same, 1 / n where one has all of it.
[[nodiscard]] double fairness(const std::vector<Asker>& askers) {
  double sum = 0;
  double squares = 0;
  for (const Asker& one : askers) {
    const auto held = static_cast<double>(one.held_ns);
    sum += held;
    squares += held * held;
  }
  return squares == 0 ? 0 : sum * sum / (squares * static_cast<double>(askers.size()));
}

// These tests do not look at values.
[[nodiscard]] WorldOptions with_ageing(Nanoseconds ageing_ns) {
  WorldOptions options;
  options.sample_ns = 0;
  options.arbiter.ageing_ns = ageing_ns;
  return options;
}

// How long a request for the whole PMU waits, beside many that always want a little of it.
std::optional<Nanoseconds> wait_for_whole(const WorldOptions& options, Priority of_the_others) {
  SimulatedWorld world(six_counters(), options);
  std::vector<Asker> askers;
  for (std::uint32_t i = 0; i < 9; ++i) {
    askers.push_back(asker(world, counters(1, (900 + 37 * i) * kMillisecond, of_the_others)));
  }
  run(world, askers, 5 * kSecond);
  const Nanoseconds begin = world.now();
  const std::uint64_t id = world.say(world.connect(), whole(kSecond));
  run(world, askers, 40 * kSecond, [&] { return world.token(id) != 0; });
  if (world.token(id) == 0) return std::nullopt;
  return world.now() - begin;
}

TEST(SimulatedQueue, ServesAWholePmuWithinTheLongestHoldOfItsClass) {
  const auto wait = wait_for_whole(with_ageing(5 * kSecond), Priority::kMonitoring);
  ASSERT_TRUE(wait);
  EXPECT_LE(*wait, 3 * kSecond);
}

TEST(SimulatedQueue, ServesAWholePmuOfALowClassOnceItHasAged) {
  const auto wait = wait_for_whole(with_ageing(5 * kSecond), Priority::kInteractive);
  ASSERT_TRUE(wait);
  EXPECT_LE(*wait, 13 * kSecond);  // in a class above them after 10 s, and then their holds
  // Without that it waits as long as they go on asking.
  EXPECT_FALSE(wait_for_whole(with_ageing(0), Priority::kInteractive));
}

// A lender without reservations serves each request that fits.
TEST(SimulatedQueue, WouldStarveAWholePmuIfEachRequestThatFitsWereServed) {
  SimulatedBackend backend(six_counters(), ManualClock().reader());
  auto book = MachineBook::open(backend.machine()).value();
  std::map<LeaseId, Nanoseconds> ends;
  LeaseId next = 1;
  bool was_served = false;
  const Request little = request_of(counters(1, kSecond));
  const Request all = request_of(whole(kSecond));
  for (Nanoseconds now = 0; now < 40 * kSecond; now += 100 * kMillisecond) {
    std::erase_if(
        ends, [&](const auto& entry) { return entry.second <= now && book.release(entry.first); });
    for (std::uint32_t i = 0; i < 9; ++i) {
      if (!book.try_grant(next, little).is_granted()) continue;
      ends[next++] = now + (900 + 37 * i) * kMillisecond;
    }
    was_served = was_served || book.test(all).is_granted();
  }
  EXPECT_FALSE(was_served);
}

// One lease lasts for 30 s, and a request waits for all of it; a lease that ends by then may pass.
std::uint32_t grants_beside_a_waiter(Nanoseconds hold) {
  SimulatedWorld world(six_counters(), with_ageing(0));
  const ClientNumber holder = world.connect();
  EXPECT_NE(world.get(holder, counters(1, 30 * kSecond)), 0U);
  const std::uint64_t all = world.say(world.connect(), whole(kSecond));
  EXPECT_TRUE(world.answer<pmu::Queued>(all));
  std::vector<Asker> askers;
  for (std::uint32_t i = 0; i < 5; ++i) askers.push_back(asker(world, counters(1, hold)));
  run(world, askers, 36 * kSecond, [&] { return world.token(all) != 0; });
  EXPECT_NE(world.token(all), 0U);
  EXPECT_LE(world.now(), kSecond + 32 * kSecond);
  std::uint32_t grants = 0;
  for (const Asker& one : askers) grants += one.grants;
  return grants;
}

TEST(SimulatedQueue, DoesNotIdleTheMachineForAWaiter) {
  const std::uint32_t brief = grants_beside_a_waiter(2 * kSecond);
  EXPECT_GE(brief, 5U * 13);  // of 14 or 15 that there is time for, on each of five counters
  // A request that would make the waiter wait longer does not pass.
  EXPECT_EQ(grants_beside_a_waiter(40 * kSecond), 0U);
}

TEST(SimulatedQueue, TellsWhenAWaiterWillBeServedAtTheLatest) {
  SimulatedWorld world(six_counters());
  const Nanoseconds begin = world.now();
  ASSERT_NE(world.get(world.connect(), counters(3, 30 * kSecond)), 0U);
  ASSERT_NE(world.get(world.connect(), counters(3, 10 * kSecond)), 0U);
  const std::uint64_t three = world.say(world.connect(), counters(3, kSecond));
  ASSERT_TRUE(world.answer<pmu::Queued>(three));
  EXPECT_EQ(world.answer<pmu::Queued>(three)->estimate_ns, begin + 10 * kSecond);
  const std::uint64_t all = world.say(world.connect(), whole(kSecond));
  EXPECT_EQ(world.answer<pmu::Queued>(all)->ahead, 1U);
  world.pass(11 * kSecond);
  EXPECT_NE(world.token(three), 0U);
}

// Eight who want three counters of six, for a second, for ever.
std::vector<Asker> saturate(const WorldOptions& options, std::uint32_t favoured) {
  SimulatedWorld world(six_counters(), options);
  std::vector<Asker> askers;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const Priority priority = i < favoured ? Priority::kInteractive : Priority::kMonitoring;
    askers.push_back(asker(world, counters(3, kSecond, priority)));
  }
  run(world, askers, 48 * kSecond);
  return askers;
}

TEST(SimulatedFairness, IsAlmostPerfectAmongEqualClients) {
  const auto askers = saturate(with_ageing(5 * kSecond), 0);
  EXPECT_GE(fairness(askers), 0.95);
  for (const Asker& one : askers) EXPECT_GE(one.grants, 8U);
}

TEST(SimulatedFairness, IsSeenToBeLackingWhereAFewArePreferred) {
  EXPECT_LT(fairness(saturate(with_ageing(0), 3)), 0.5);
  // Ageing leaves no request out.
  for (const Asker& one : saturate(with_ageing(5 * kSecond), 3)) EXPECT_GE(one.grants, 2U);
}

// ---- Giving way ----

class SimulatedPreemption : public testing::Test {
 protected:
  SimulatedWorld world{six_counters()};
  ClientNumber low = world.connect();
  ClientNumber high = world.connect();
};

TEST_F(SimulatedPreemption, TakesMonitoringForCriticalWithNoticeAndFinalValues) {
  const pmu::Token token = world.get(low, counters(6, 0));
  ASSERT_NE(token, 0U);
  world.pass(kSecond);
  const std::uint64_t id = world.say(high, counters(2, kSecond, Priority::kCritical));
  EXPECT_EQ(world.token(id), 0U);
  const auto notices = world.notices(pmu::NoticeKind::kRevoking);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].token, token);
  EXPECT_EQ(notices[0].cause, pmu::Cause::kPreempted);
  EXPECT_EQ(notices[0].deadline_ns, world.now() + 200 * kMillisecond);
  // In force, and counting, until then.
  world.pass(150 * kMillisecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking);
  EXPECT_EQ(world.token(id), 0U);
  world.pass(100 * kMillisecond);
  EXPECT_NE(world.token(id), 0U);
  ASSERT_EQ(world.last_values.size(), 1U);
  EXPECT_EQ(world.last_values[0].second.head.token, token);
  EXPECT_EQ(world.last_values[0].second.values[0].running_ns, kSecond + 200 * kMillisecond);
  EXPECT_EQ(world.notices(pmu::NoticeKind::kLost).size(), 1U);
}

TEST_F(SimulatedPreemption, IsOverAsSoonAsTheHolderHasDrained) {
  const pmu::Token token = world.get(low, counters(6, 0));
  const std::uint64_t id = world.say(high, counters(2, kSecond, Priority::kCritical));
  world.pass(10 * kMillisecond);
  world.say(low, pmu::Drained{token});
  world.pass(2 * kMillisecond);
  EXPECT_NE(world.token(id), 0U);
}

TEST_F(SimulatedPreemption, TakesFewLeasesAndThenTheYoungest) {
  const pmu::Token two = world.get(low, counters(2, 0));
  world.pass(kMillisecond);
  const pmu::Token old_one = world.get(low, counters(1, 0));
  world.pass(kMillisecond);
  const pmu::Token new_one = world.get(low, counters(1, 0));
  world.pass(kMillisecond);
  ASSERT_NE(world.get(low, counters(2, 0)), 0U);
  const std::uint64_t id = world.say(high, counters(2, kSecond, Priority::kCritical));
  world.pass(kSecond);
  ASSERT_NE(world.token(id), 0U);
  EXPECT_EQ(world.state(two), pmu::LeaseState::kActive);
  EXPECT_EQ(world.state(old_one), pmu::LeaseState::kActive);
  EXPECT_EQ(world.state(new_one), pmu::LeaseState::kActive);
  EXPECT_EQ(world.arbiter.statistics().preemptions + world.arbiter.statistics().revocations != 0,
            true);
}

TEST_F(SimulatedPreemption, IsNotForEqualsNorOfThoseWhoDoNotGiveWay) {
  const pmu::Token token = world.get(low, counters(6, 0, Priority::kInteractive));
  ASSERT_NE(token, 0U);
  const std::uint64_t equal = world.say(high, counters(2, kSecond, Priority::kInteractive));
  const std::uint64_t higher = world.say(high, counters(2, kSecond, Priority::kCritical));
  world.pass(5 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_EQ(world.token(equal) + world.token(higher), 0U);
}

}  // namespace
}  // namespace meterbank::arbiter::queue_test
