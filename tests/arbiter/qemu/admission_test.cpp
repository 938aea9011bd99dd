// SPDX-License-Identifier: Apache-2.0
//
// The books against the kernel: they must say yes exactly when every event that is asked for gets a
// counter. The same requests go to both, each has what it granted itself, and no answer may differ.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../core/machines.hpp"
#include "arbiter/core/books/machine_book.hpp"
#include "kernel_counter.hpp"

namespace meterbank::emulated {
namespace {

using arbiter::LeaseId;
using arbiter::MachineBook;

constexpr const char* kTopology = R"(
[[pmu]]
name = "armv8_pmuv3"
cpus = "0-1"
general = 6
fixed = 1
width = 32
event = [{code = 0x11, class = "cycles"}]
class.cycles = {general = 0x3f, fixed = [0]}
block.pair = {length = 2, align = 2}
)";

MachineBook empty_book() {
  auto topology = arbiter::parse_topology(kTopology, "emulated machine");
  const auto cpus = topology->pmus.front().cpus;
  return *MachineBook::open({.topology = *topology, .possible = cpus, .online = cpus});
}

// What is asked for of each CPU of a mask.
struct Wanted {
  std::uint32_t cpus = 1;
  std::uint32_t instructions = 0;
  std::uint32_t cycles = 0;
  std::uint32_t pairs = 0;  // instructions in 64 bits, which take two counters
  bool whole = false;

  [[nodiscard]] std::string text() const {
    return "cpus " + std::to_string(cpus) + ", instructions " + std::to_string(instructions) +
           ", cycles " + std::to_string(cycles) + ", pairs " + std::to_string(pairs) +
           (whole ? ", whole" : "");
  }
};

arbiter::Request request_for(const Wanted& wanted) {
  if (wanted.whole) return arbiter::ask_for_whole(wanted.cpus);
  std::vector<arbiter::Item> items;
  const auto add = [&](std::uint32_t count, std::uint32_t event) {
    if (count > 0) items.push_back(arbiter::counters_for_event(count, event, 0));
  };
  add(wanted.instructions, kInstructions);
  add(wanted.cycles, kCycles);
  if (wanted.pairs > 0) {
    items.push_back(arbiter::named(arbiter::ItemKind::kBlock, "pair", wanted.pairs));
  }
  return arbiter::ask(wanted.cpus, std::move(items));
}

std::vector<KernelCounter> open_in_kernel(const Wanted& wanted) {
  std::vector<KernelCounter> counters;
  for (int cpu = 0; cpu < 2; ++cpu) {
    if ((wanted.cpus >> cpu & 1) == 0) continue;
    const auto add = [&](std::uint32_t count, Wish wish) {
      wish.cpu = cpu;
      for (auto& each : open_counters(count, wish)) counters.push_back(std::move(each));
    };
    if (wanted.whole) {
      add(1, {.is_exclusive = true});
      continue;
    }
    add(wanted.instructions, {});
    add(wanted.cycles, {.event = kCycles});
    add(wanted.pairs, {.is_long = true});
  }
  return counters;
}

class Stream {
 public:
  explicit Stream(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  Wanted next() {
    Wanted wanted{.cpus = 1 + below(3)};
    wanted.whole = below(12) == 0;
    if (wanted.whole) return wanted;
    wanted.instructions = below(3);
    wanted.cycles = below(2);
    wanted.pairs = below(4) == 0 ? 1 : 0;
    if (wanted.instructions + wanted.cycles + wanted.pairs == 0) wanted.instructions = 1;
    return wanted;
  }

 private:
  std::mt19937 random_;
};

TEST(Admission, TheBooksSayYesExactlyWhenTheKernelHasCounters) {
  Stream stream(20260720);
  MachineBook book = empty_book();
  std::map<LeaseId, std::vector<KernelCounter>> held;
  LeaseId next = 1;
  std::uint32_t granted = 0;
  std::uint32_t refused = 0;
  for (std::uint32_t step = 0; step < 3000; ++step) {
    if (!held.empty() && stream.below(5) < 2) {
      const auto victim =
          std::next(held.begin(), stream.below(static_cast<std::uint32_t>(held.size())));
      ASSERT_TRUE(book.release(victim->first));
      held.erase(victim);
      continue;
    }
    const Wanted wanted = stream.next();
    const bool books_say = book.try_grant(next, request_for(wanted)).is_granted();
    auto counters = open_in_kernel(wanted);
    const bool kernel_says = count_answering(counters) == counters.size();
    ASSERT_EQ(books_say, kernel_says) << "step " << step << ": " << wanted.text();
    for (const auto& [lease, theirs] : held) {
      ASSERT_EQ(count_answering(theirs), theirs.size()) << "step " << step << ": took from others";
    }
    ++(books_say ? granted : refused);
    if (books_say) held.emplace(next++, std::move(counters));
  }
  EXPECT_GT(granted, 300U);
  EXPECT_GT(refused, 300U);
  held.clear();
  EXPECT_EQ(probe_by_opening(0), kGeneral);
  EXPECT_EQ(probe_by_opening(1), kGeneral);
}

// Without a look at the kernel the books would be wrong as soon as an outsider counts; told of
// it they are right again.
TEST(Admission, TheBooksAreRightBesideACompetitorTheyWereToldOf) {
  for (std::uint32_t taken = 0; taken <= kGeneral; ++taken) {
    const auto competitor = open_counters(taken, {.cpu = 1});
    MachineBook book = empty_book();
    book.book_unleased(1, {.name = "competitor",
                           .pmu = 0,
                           .cpus = arbiter::CpuSet::range(1, 1),
                           .among = (1U << kGeneral) - 1,
                           .counters = taken});
    for (std::uint32_t count = 1; count <= kGeneral + 1; ++count) {
      const Wanted wanted{.cpus = 3, .instructions = count};
      const bool books_say = book.test(request_for(wanted)).is_granted();
      const auto counters = open_in_kernel(wanted);
      EXPECT_EQ(books_say, count_answering(counters) == counters.size())
          << taken << " taken, " << count << " wanted";
      EXPECT_EQ(books_say, count + taken <= kGeneral);
    }
  }
}

}  // namespace
}  // namespace meterbank::emulated
