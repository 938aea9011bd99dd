// SPDX-License-Identifier: Apache-2.0
//
// Several leases on one counter, and counters for a part of the time, against a reference that
// counts all the time.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "simulated_world.hpp"

namespace meterbank::arbiter::sharing_test {
namespace {

constexpr Event kCycles = {.code = 0x3c};
const CpuSet kCpu0 = CpuSet::range(0, 0);

[[nodiscard]] pmu::Allocate shared_cycles() {
  pmu::Allocate asked = asking(kCpu0, {counters_for_event(1, kCycles.code, kCycles.unit_mask)});
  asked.head.flags |= pmu::kAllocateShares;
  return asked;
}

[[nodiscard]] pmu::Allocate part_of_the_time(std::uint32_t duty_permille, std::uint32_t counters) {
  pmu::Allocate asked = asking(kCpu0, {counters_for_event(counters, 0xfe, 0xff)});
  asked.head.duty_permille = duty_permille;
  return asked;
}

// A process that counts the same from the same moment on, with a counter of its own.
class Reference {
 public:
  explicit Reference(SimulatedKernel& kernel)
      : kernel_(kernel),
        event_(
            kernel.open(kernel.start_process("reference"), {.event = kCycles, .cpu = 0}).value()) {}
  [[nodiscard]] std::uint64_t value() const { return kernel_.read(event_)->value; }

 private:
  SimulatedKernel& kernel_;
  EventNumber event_;
};

TEST(SimulatedSharing, CountsForEachWhatACounterOfItsOwnWould) {
  SimulatedWorld world(shipped_topology("icelake-sp"));
  std::vector<ClientNumber> clients;
  std::vector<pmu::Token> tokens;
  std::vector<Reference> references;
  for (std::uint32_t i = 0; i < 6; ++i) {
    clients.push_back(world.connect());
    tokens.push_back(world.get(clients.back(), shared_cycles()));
    ASSERT_NE(tokens.back(), 0U);
    references.emplace_back(world.kernel);
    world.pass((37 + i) * kMillisecond);
  }
  // One counter for all of them.
  EXPECT_EQ(world.arbiter.carriers().size(), 1U);
  EXPECT_NE(references[0].value(), references[5].value());
  for (std::uint32_t i = 0; i < 6; ++i) {
    const pmu::LeaseValues values = world.read(clients[i], tokens[i]);
    ASSERT_EQ(values.values.size(), 1U);
    EXPECT_EQ(values.values[0].value, references[i].value()) << i;
    EXPECT_EQ(values.values[0].enabled_ns, values.values[0].running_ns);
    EXPECT_EQ(values.head.quality, pmu::Quality::kShared);
  }
  // The first one goes: the others count on.
  world.say(clients[0], pmu::Free{tokens[0]});
  world.pass(kSecond);
  EXPECT_EQ(world.read(clients[3], tokens[3]).values[0].value, references[3].value());
  for (std::uint32_t i = 1; i < 6; ++i) world.say(clients[i], pmu::Free{tokens[i]});
  world.pass(kSecond);
  EXPECT_EQ(world.leftover(), std::nullopt);
}

TEST(SimulatedSharing, NeedsThatEachRemembersWhereItBegan) {
  SimulatedWorld world(shipped_topology("icelake-sp"));
  const ClientNumber client = world.connect();
  ASSERT_NE(world.get(client, shared_cycles()), 0U);
  world.pass(kSecond);
  const pmu::Token token = world.get(client, shared_cycles());
  const Reference reference(world.kernel);
  world.pass(kSecond);
  (void)world.read(client, token);
  // The counter itself says what the first one has.
  EXPECT_NE(world.arbiter.carriers().begin()->second.readings[0].value, reference.value());
}

// ---- Slices ----

class SimulatedSlices : public testing::Test {
 protected:
  SimulatedSlices() : world(shipped_topology("zen3")) {
    world.kernel.set_watchdog(false);
    world.arbiter.surveyed(world.backend.survey(), world.now());
  }
  SimulatedWorld world;
};

TEST_F(SimulatedSlices, GiveEachItsPartWithinOneTurnAndSaySo) {
  constexpr std::uint32_t kMembers = 4;
  constexpr Nanoseconds kTurn = 50 * kMillisecond;
  std::vector<ClientNumber> clients;
  std::vector<pmu::Token> tokens;
  for (std::uint32_t i = 0; i < kMembers; ++i) {
    clients.push_back(world.connect());
    tokens.push_back(world.get(clients[i], part_of_the_time(250, 5)));
    ASSERT_NE(tokens[i], 0U) << i;
  }
  std::vector<Nanoseconds> before;
  for (std::uint32_t i = 0; i < kMembers; ++i) {
    before.push_back(world.read(clients[i], tokens[i]).values[0].running_ns);
  }
  const Nanoseconds span = 40 * kMembers * kTurn + 13 * kMillisecond;
  world.pass(span);
  Nanoseconds sum = 0;
  for (std::uint32_t i = 0; i < kMembers; ++i) {
    const pmu::LeaseValues values = world.read(clients[i], tokens[i]);
    EXPECT_EQ(values.head.quality, pmu::Quality::kSliced);
    ASSERT_EQ(values.values.size(), 5U);
    const Nanoseconds running = values.values[0].running_ns - before[i];
    sum += running;
    EXPECT_NEAR(static_cast<double>(running), static_cast<double>(span) / kMembers,
                static_cast<double>(kTurn))
        << i;
    // Never silently: enabled goes on, so that running is seen to be a part of it.
    EXPECT_GT(values.values[0].enabled_ns, 3 * values.values[0].running_ns) << i;
    EXPECT_EQ(values.values[0].value, values.values[0].running_ns * (1 + 0xfe % 7)) << i;
  }
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(span), static_cast<double>(kTurn));
}

TEST_F(SimulatedSlices, AreNotForThoseWhoWantAllOfTheTime) {
  const ClientNumber client = world.connect();
  const pmu::Token token = world.get(client, part_of_the_time(1000, 5));
  ASSERT_NE(token, 0U);
  // What is left is too little for another client that wants five.
  EXPECT_EQ(world.get(client, part_of_the_time(250, 5)), 0U);
  world.pass(kSecond);
  const pmu::LeaseValues values = world.read(client, token);
  EXPECT_EQ(values.head.quality, pmu::Quality::kExact);
  EXPECT_EQ(values.values[0].running_ns, kSecond);
  EXPECT_EQ(values.values[0].enabled_ns, kSecond);
}

TEST_F(SimulatedSlices, AreRefusedBeforeAnyoneGetsLessThanWasPromised) {
  const ClientNumber client = world.connect();
  ASSERT_NE(world.get(client, part_of_the_time(500, 5)), 0U);
  ASSERT_NE(world.get(client, part_of_the_time(500, 5)), 0U);
  const std::uint64_t third = world.say(client, part_of_the_time(100, 5));
  EXPECT_EQ(world.token(third), 0U);
  EXPECT_TRUE(world.answer<pmu::Refused>(third));
}

TEST_F(SimulatedSlices, EndWithoutATrace) {
  const ClientNumber client = world.connect();
  const ClientNumber other = world.connect();
  for (std::uint32_t i = 0; i < 2; ++i) {
    ASSERT_NE(world.get(client, part_of_the_time(200, 6)), 0U);
    ASSERT_NE(world.get(other, part_of_the_time(200, 6)), 0U);
  }
  world.pass(kSecond + 7 * kMillisecond);
  world.disconnect(client);
  world.pass(kSecond);
  for (const auto& [number, lease] : world.arbiter.leases()) {
    EXPECT_EQ(lease.state(), pmu::LeaseState::kActive);
  }
  world.disconnect(other);
  world.pass(kSecond);
  EXPECT_EQ(world.leftover(), std::nullopt);
}

}  // namespace
}  // namespace meterbank::arbiter::sharing_test
