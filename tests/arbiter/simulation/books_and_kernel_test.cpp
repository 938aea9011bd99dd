// SPDX-License-Identifier: Apache-2.0
//
// What the books say of events is what the kernel will do with them: yes where every one of them
// gets a counter, no where one would not.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../../support/sanitizers.hpp"
#include "arbiter/backend/simulated/simulated_kernel.hpp"
#include "arbiter/core/books/machine_book.hpp"
#include "simulated_machine.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kSteps = test::kHasSanitizer ? 60 : 300;

// The machine, with one CPU for each sort of core: what holds for one CPU holds for all.
[[nodiscard]] Topology one_of_each(Topology topology) {
  for (Pmu& pmu : topology.pmus) {
    const std::uint32_t first = pmu.cpus.numbers().front();
    pmu.cpus = CpuSet::range(first, first);
  }
  for (ForeignHolder& holder : topology.foreign) {
    holder.cpus = holder.cpus.common_with(topology.pmus[holder.pmu].cpus);
  }
  topology.cores.clear();
  return topology;
}

struct Wish {
  PmuIndex pmu = 0;
  std::vector<Event> events;
  std::uint32_t task = 0;  // 0: of the CPU; else the how-manieth
};

// Asks a kernel of its own, with all that is held and one that comes last; every task has its turn.
[[nodiscard]] bool kernel_says_yes(const Topology& topology, Packing packing,
                                   const std::vector<const Wish*>& wishes) {
  SimulatedKernel kernel(topology, [] { return Nanoseconds{1}; },
                         {.packing = packing, .counts = {}});
  const std::uint32_t process = kernel.start_process("all of them");
  std::map<std::uint32_t, std::uint32_t> tasks;
  std::vector<EventNumber> events;
  for (const Wish* wish : wishes) {
    EventAttributes attributes;
    attributes.pmu = wish->pmu;
    const std::uint32_t cpu = topology.pmus[wish->pmu].cpus.numbers().front();
    if (wish->task == 0) {
      attributes.cpu = cpu;
    } else {
      auto& task = tasks[wish->task];
      if (task == 0) task = kernel.start_task(process);
      attributes.task = task;
    }
    for (const Event& event : wish->events) {
      attributes.event = event;
      const auto opened = kernel.open(process, attributes);
      if (!opened) return false;
      events.push_back(*opened);
    }
  }
  for (const auto& [number, task] : tasks) {
    for (const Pmu& pmu : topology.pmus) kernel.run(task, pmu.cpus.numbers().front());
  }
  for (const EventNumber event : events) {
    if (kernel.view(event)->state == EventState::kError) return false;
  }
  return true;
}

class Wishes {
 public:
  Wishes(const Topology& topology, std::uint32_t seed) : topology_(topology), random_(seed) {}
  [[nodiscard]] std::uint32_t below(std::size_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }
  [[nodiscard]] Wish next() {
    Wish wish;
    wish.pmu = below(topology_.pmus.size());
    wish.task = below(3) == 0 ? 1 + below(2) : 0;
    for (std::uint32_t left = 1 + below(3); left != 0; --left)
      wish.events.push_back(event(wish.pmu));
    return wish;
  }

 private:
  [[nodiscard]] Event event(PmuIndex pmu) {
    std::vector<const EventRule*> rules;
    for (const EventRule& rule : topology_.events) {
      if (rule.pmu == pmu) rules.push_back(&rule);
    }
    if (rules.empty() || below(3) == 0) return {.code = 0xfe, .unit_mask = 0xff};
    const EventRule& rule = *rules[below(rules.size())];
    return {.code = rule.first, .unit_mask = rule.unit_mask.value_or(0xf0)};
  }
  const Topology& topology_;
  std::mt19937 random_;
};

[[nodiscard]] Plan plan_of(const Topology& topology, const Wish& wish) {
  PmuDemand part;
  part.pmu = wish.pmu;
  part.cpus = topology.pmus[wish.pmu].cpus;
  for (const Event& event : wish.events) {
    part.counters.any.push_back(topology.counters_for(wish.pmu, event.code, event.unit_mask));
    part.events.push_back(EventUse{.event = event});
  }
  return {.parts = {part}, .tag = {}, .task = wish.task};
}

// A book that knows how many counters there are, and not which of them will do for what.
class CountingBook {
 public:
  explicit CountingBook(const Topology& topology) : topology_(topology) {
    for (const ForeignHolder& holder : topology.foreign) used_[holder.pmu] += 1;
  }
  [[nodiscard]] bool fits(const Wish& wish) {
    const auto all = static_cast<std::uint32_t>(std::popcount(topology_.pmus[wish.pmu].counters()));
    return used_[wish.pmu] + wish.events.size() <= all;
  }
  void take(const Wish& wish) { used_[wish.pmu] += static_cast<std::uint32_t>(wish.events.size()); }
  void release(const Wish& wish) {
    used_[wish.pmu] -= static_cast<std::uint32_t>(wish.events.size());
  }

 private:
  const Topology& topology_;
  std::map<PmuIndex, std::uint32_t> used_;
};

struct Compared {
  std::uint32_t yes = 0, no = 0;
  std::uint32_t wrong = 0;       // of the books
  std::uint32_t miscounted = 0;  // of who only counts
};

Compared compare(const std::string& name, Packing packing, std::uint32_t seed) {
  const Topology topology = one_of_each(topology_named(name));
  Machine machine{.topology = topology, .possible = {}, .online = {}};
  for (const Pmu& pmu : topology.pmus) {
    for (const std::uint32_t cpu : pmu.cpus.numbers()) machine.possible.add(cpu);
  }
  machine.online = machine.possible;
  auto book = MachineBook::open(machine).value();
  CountingBook counting(topology);
  Wishes wishes(topology, seed);
  Compared compared;
  std::map<LeaseId, Wish> held;
  for (LeaseId lease = 1; lease <= kSteps; ++lease) {
    if (!held.empty() && wishes.below(4) == 0) {
      const auto gone = std::next(held.begin(), wishes.below(held.size()));
      book.release(gone->first);
      counting.release(gone->second);
      held.erase(gone);
    }
    const Wish wish = wishes.next();
    std::vector<const Wish*> all;
    for (const auto& [number, other] : held) all.push_back(&other);
    all.push_back(&wish);
    const bool is_yes = kernel_says_yes(topology, packing, all);
    ++(is_yes ? compared.yes : compared.no);
    if (wish.task == 0 && counting.fits(wish) != is_yes) ++compared.miscounted;
    const Decision decision =
        book.try_take(lease, plan_of(topology, wish), {.task = wish.task, .slice = 0});
    if (decision.is_granted() != is_yes) ++compared.wrong;
    if (!decision.is_granted()) continue;
    counting.take(wish);
    held.emplace(lease, wish);
  }
  return compared;
}

TEST(BooksAndKernel, AgreeOnEveryMachine) {
  for (const char* name :
       {"skylake-sp", "icelake-sp", "sapphire-rapids-2s", "alder-lake", "lunar-lake", "zen2",
        "zen3", "zen4", "zen5", "neoverse-n1", "one-counter"}) {
    const Compared compared = compare(name, Packing::kGreedy, 7);
    EXPECT_EQ(compared.wrong, 0U) << name;
    EXPECT_GT(compared.yes, kSteps / 20) << name;
    EXPECT_GT(compared.no, kSteps / 20) << name;
  }
  const Compared compared = compare("power-like", Packing::kExact, 7);
  EXPECT_EQ(compared.wrong, 0U);
}

TEST(BooksAndKernel, DisagreeIfBooksOnlyCount) {
  for (const char* name : {"skylake-sp", "sapphire-rapids-2s", "alder-lake"}) {
    EXPECT_GT(compare(name, Packing::kGreedy, 7).miscounted, 0U) << name;
  }
}

}  // namespace
}  // namespace meterbank::arbiter
