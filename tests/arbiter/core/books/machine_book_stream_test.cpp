// SPDX-License-Identifier: Apache-2.0
//
// What must hold after any number of requests and releases, whatever they were.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../../support/sanitizers.hpp"
#include "../machines.hpp"
#include "arbiter/core/books/machine_book.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kSteps = test::kHasSanitizer ? 400 : 4000;

class RequestStream {
 public:
  explicit RequestStream(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }

  [[nodiscard]] Request next() {
    const std::uint64_t cpus = below(6) == 0 ? 0 : 1 + below(0xff);
    if (below(12) == 0) return ask_for_whole(cpus);
    std::vector<Item> items;
    for (std::uint32_t left = 1 + below(3); left != 0; --left) items.push_back(next_item());
    if (below(3) == 0) items.push_back(identification_tag(below(1000)));
    return ask(cpus, std::move(items));
  }

 private:
  [[nodiscard]] Item next_item() {
    switch (below(9)) {
      case 0:
        return single(below(5));
      case 1:
        return range(below(3), below(4));
      case 2:
        return event_buffer(below(50));
      case 3:
        return counters_for_event(1 + below(2), 0x80, 0);
      case 4:
        return named(ItemKind::kClass, "cycles", 1 + below(2));
      case 5:
        return named(ItemKind::kBlock, "pair", 1);
      case 6:
        return named(ItemKind::kUnit, below(2) == 0 ? "trace" : "lbr", 1);
      case 7:
        return extra_register("rsp", below(4));
      default:
        return counters_for_event(1 + below(2), 0x3c, 0);
    }
  }

  std::mt19937 random_;
};

// What a listing contradicts, if anything: each counter of each CPU is there once, in one state,
// and a state that has an owner names it.
std::optional<std::string> contradiction_in(const Ownership& ownership, const Machine& machine,
                                            const std::set<LeaseId>& leases) {
  std::size_t cpus_expected = 0;
  for (const Pmu& pmu : machine.topology.pmus) cpus_expected += pmu.cpus.count();
  if (ownership.cpus.size() != cpus_expected) return "a CPU is missing, or there twice";
  for (const CpuOwners& owners : ownership.cpus) {
    CounterMask seen = 0;
    for (const CounterOwner& owner : owners.counters) {
      const CounterMask bit = CounterMask{1} << owner.counter;
      if ((seen & bit) != 0) return "a counter is there twice";
      seen |= bit;
      const bool is_leased = owner.kind == OwnerKind::kUntagged ||
                             owner.kind == OwnerKind::kTagged ||
                             owner.kind == OwnerKind::kTaggedWithSource;
      if (is_leased != (owner.lease != 0)) return "a state and its lease disagree";
      if (is_leased && !leases.contains(owner.lease)) return "a counter of a lease that is gone";
      if ((owner.kind == OwnerKind::kForeign) == owner.foreign.empty())
        return "foreign and unnamed";
    }
    if (seen != machine.topology.pmus[owners.pmu].counters()) return "the sum is not all counters";
  }
  for (const UnitUse& unit : ownership.units) {
    for (const auto& [lease, demand] : unit.holders) {
      if (!leases.contains(lease)) return "a unit of a lease that is gone";
    }
  }
  for (const ExtraUse& extra : ownership.extras) {
    if (extra.holders.size() > 2) return "more configurations than registers";
    for (const auto& [configuration, holders] : extra.holders) {
      for (const LeaseId lease : holders) {
        if (!leases.contains(lease)) return "a register of a lease that is gone";
      }
    }
  }
  return std::nullopt;
}

// How many counters a lease has on a CPU, according to the listing.
std::size_t counters_of(const Ownership& ownership, LeaseId lease, PmuIndex pmu,
                        std::uint32_t cpu) {
  std::size_t count = 0;
  for (const CpuOwners& owners : ownership.cpus) {
    if (owners.pmu != pmu || owners.cpu != cpu) continue;
    for (const CounterOwner& owner : owners.counters) count += owner.lease == lease ? 1 : 0;
  }
  return count;
}

// How many counters it must have there.
std::size_t counters_wanted(const PmuDemand& part, const Machine& machine) {
  if (part.counters.whole) {
    return static_cast<std::size_t>(std::popcount(machine.topology.pmus[part.pmu].counters()));
  }
  std::size_t count =
      part.counters.any.size() + static_cast<std::size_t>(std::popcount(part.counters.exact));
  for (const Block& block : part.counters.blocks) count += block.length;
  return count;
}

struct Seen {
  std::uint32_t granted = 0;
  std::map<Answer, std::uint32_t> refused;
};

void expect_stream_holds(const Machine& machine, std::uint32_t seed, Seen& seen) {
  auto book = MachineBook::open(machine);
  ASSERT_TRUE(book);
  RequestStream stream(seed);
  std::map<LeaseId, Plan> leases;
  std::set<LeaseId> ids;
  LeaseId next = 1;
  Ownership before = book->ownership();
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    if (!leases.empty() && stream.below(5) < 2) {
      const auto gone =
          std::next(leases.begin(), stream.below(static_cast<std::uint32_t>(leases.size())));
      ids.erase(gone->first);
      ASSERT_TRUE(book->release(gone->first));
      leases.erase(gone);
    } else {
      const Request request = stream.next();
      const Answer foretold = book->test(request).answer;
      const Decision decision = book->try_grant(next, request);
      ASSERT_EQ(decision.answer, foretold);
      if (decision.is_granted()) {
        ++seen.granted;
        ids.insert(next);
        leases.emplace(next++, *plan_for(request, machine));
      } else {
        ++seen.refused[decision.answer];
        ASSERT_EQ(book->ownership(), before) << decision.sentence;
        for (const LeaseId lease : decision.leases) ASSERT_TRUE(ids.contains(lease));
        ASSERT_FALSE(decision.sentence.empty());
      }
    }
    before = book->ownership();
    const auto contradiction = contradiction_in(before, machine, ids);
    ASSERT_FALSE(contradiction) << *contradiction << " at step " << step;
    for (const auto& [lease, plan] : leases) {
      for (const PmuDemand& part : plan.parts) {
        for (const std::uint32_t cpu : part.cpus.numbers()) {
          ASSERT_EQ(counters_of(before, lease, part.pmu, cpu), counters_wanted(part, machine));
        }
      }
    }
  }
  for (const LeaseId lease : ids) ASSERT_TRUE(book->release(lease));
  std::size_t held_count = 0;
  for (const CpuOwners& owners : book->ownership().cpus) {
    for (const CounterOwner& owner : owners.counters) held_count += owner.lease != 0 ? 1 : 0;
  }
  EXPECT_EQ(held_count, 0U);
  const auto fresh = MachineBook::open(machine);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(book->ownership().units, fresh->ownership().units);
  EXPECT_EQ(book->ownership().extras, fresh->ownership().extras);
  for (const std::uint32_t cpu : machine.online.numbers()) {
    const CpuSet one = CpuSet::range(cpu, cpu);
    EXPECT_EQ(book->probe(one, {.code = 0x3c}), fresh->probe(one, {.code = 0x3c}));
  }
}

TEST(MachineBookStream, LeavesNothingBehindAndLosesNothing) {
  Seen seen;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    expect_stream_holds(hybrid_machine(), seed, seen);
    expect_stream_holds(watched_machine(), seed, seen);
    if (HasFatalFailure()) return;
  }
  // A stream that is never granted anything, or never refused, would have tried nothing.
  EXPECT_GT(seen.granted, kSteps / 10);
  EXPECT_GT(seen.refused[Answer::kInsufficientResources], kSteps / 10);
  EXPECT_GT(seen.refused[Answer::kNotSupported], kSteps / 100);
  EXPECT_GT(seen.refused[Answer::kInvalidParameter], kSteps / 100);
}

// A blocker is worth its name: without all that are named the request succeeds or is blocked by
// another holder.
TEST(MachineBookStream, RefusedRequestsSucceedWhenTheirBlockersAreGone) {
  std::uint32_t tried = 0;
  RequestStream stream(7);
  for (std::uint32_t round = 0; round < kSteps / 20; ++round) {
    auto book = MachineBook::open(hybrid_machine());
    ASSERT_TRUE(book);
    for (LeaseId lease = 1; lease <= 6; ++lease) (void)book->try_grant(lease, stream.next());
    const Request request = stream.next();
    Decision decision = book->test(request);
    if (decision.answer != Answer::kInsufficientResources) continue;
    ++tried;
    for (std::uint32_t limit = 0; limit < 7 && !decision.is_granted(); ++limit) {
      ASSERT_FALSE(decision.leases.empty()) << decision.sentence;
      for (const LeaseId lease : decision.leases) ASSERT_TRUE(book->release(lease));
      decision = book->test(request);
    }
    EXPECT_TRUE(decision.is_granted()) << decision.sentence;
  }
  EXPECT_GT(tried, 0U);
}

TEST(MachineBookStream, CheckerSeesEachContradiction) {
  auto book = MachineBook::open(watched_machine());
  ASSERT_TRUE(book);
  ASSERT_TRUE(book->try_grant(1, ask(0x1, {single(0)})).is_granted());
  const Machine machine = watched_machine();
  const Ownership good = book->ownership();
  ASSERT_EQ(contradiction_in(good, machine, {1}), std::nullopt);
  EXPECT_NE(contradiction_in(good, machine, {}), std::nullopt);

  Ownership bad = good;
  bad.cpus.pop_back();
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.cpus[0].counters.pop_back();
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.cpus[0].counters[1] = bad.cpus[0].counters[0];
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.cpus[0].counters[0].lease = 0;
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.cpus[0].counters[0].foreign = "stranger";
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.units.push_back({.name = "lbr", .pmu = 0, .cpus = {}, .holders = {{9, {}}}});
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
  bad = good;
  bad.extras.push_back({.name = "rsp", .pmu = 0, .cpus = {}, .holders = {{7, {9}}}});
  EXPECT_NE(contradiction_in(bad, machine, {1}), std::nullopt);
}

}  // namespace
}  // namespace meterbank::arbiter
