// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a decision cost on a machine of 224 CPUs, and what do waiting clients add?
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "rows/leases/lone_arbiter.hpp"

namespace meterbank::bench {
namespace {

using arbiter::Arbiter;
using pmu::Token;

constexpr std::uint32_t kCpus = 224;
constexpr std::uint32_t kGeneral = 8;
constexpr std::uint32_t kOnAll = 4;  // of them, of a client that counts on all CPUs
constexpr std::string_view kTopology =
    R"([[pmu]]
name = "cpu"
cpus = "0-223"
general = 8
fixed = 4
width = 48
flags = ["overflow", "userread"]
event = [
  {code = 0xc0, mask = 0x00, class = "instructions"},
  {code = [0x00, 0xff], class = "any"},
]
class.any = {general = 0xff}
class.instructions = {fixed = [0]}
)";
constexpr std::uint32_t kInstructions = 0xc0;
constexpr std::uint32_t kAnything = 0x10;

pmu::Allocate one_of(std::uint32_t cpu, std::uint32_t code) {
  return asking(cpu, cpu, {arbiter::counters_for_event(1, code, 0)});
}

// Two clients: one that is asked for everything measured, and one that all the others stand for.
class Machine {
 public:
  Machine() : lone_(kTopology, kCpus) {
    lone_.on_granted = [this](arbiter::ClientNumber, const pmu::Granted& granted) {
      granted_ = granted.head.token;
    };
    lone_.connect(kMeasured);
    lone_.connect(kOthers);
  }

  static constexpr arbiter::ClientNumber kMeasured = 1;
  static constexpr arbiter::ClientNumber kOthers = 2;

  // The token if it was granted, 0 if it waits or was refused.
  Token ask(arbiter::ClientNumber client, const pmu::Allocate& asked) {
    granted_ = 0;
    say(client, asked);
    return granted_;
  }
  void free(arbiter::ClientNumber client, Token token) { say(client, pmu::Free{token}); }
  [[nodiscard]] Token granted() const noexcept { return granted_; }  // last, to whomever
  [[nodiscard]] const Arbiter& arbiter() const noexcept { return lone_.arbiter(); }

 private:
  void say(arbiter::ClientNumber client, const pmu::ClientMessage& message) {
    lone_.pass_until(lone_.now() + 1000);
    lone_.say(client, message);
    keep(lone_.arbiter().deadline().has_value());
  }

  LoneArbiter lone_;
  Token granted_ = 0;
};

// All general counters are taken: some by one lease of the whole machine, the others one by one.
std::vector<Token> fill(Machine& machine) {
  std::vector<Token> single;
  if (machine.ask(Machine::kOthers,
                  asking(0, kCpus - 1, {arbiter::counters_for_event(kOnAll, kAnything, 0)})) == 0) {
    give_up("the whole machine was refused");
  }
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
    for (std::uint32_t counter = kOnAll; counter < kGeneral; ++counter) {
      single.push_back(machine.ask(Machine::kOthers, one_of(cpu, kAnything)));
      if (single.back() == 0) give_up("a free counter was refused");
    }
  }
  return single;
}

// Of each nine, eight want a counter of one CPU, and one wants one of 32 CPUs.
void add_waiters(Machine& machine, std::size_t count) {
  for (std::size_t waiter = 0; waiter < count; ++waiter) {
    const auto cpu = static_cast<std::uint32_t>(waiter % kCpus);
    pmu::Allocate asked = one_of(cpu, kAnything);
    if (waiter % 9 == 8) {
      const std::uint32_t first = cpu / 32 * 32;
      asked = asking(first, first + 31, {arbiter::counters_for_event(1, kAnything, 0)});
    }
    asked.head.wait_ns = pmu::kForever;
    if (machine.ask(Machine::kOthers, asked) != 0) give_up("a full machine had a counter");
  }
}

class MachineRows {
 public:
  MachineRows(const Effort& effort, Table& table, Machine& machine, std::size_t waiters)
      : rounds_(std::min(effort.rounds, 11U)),
        operations_(
            static_cast<unsigned>(std::clamp<std::uint64_t>(effort.operations / 2000, 3, 100))),
        table_(table),
        machine_(machine),
        waiters_(waiters) {}

  // `undo` is not timed.
  template <typename F, typename G>
  void row(std::string_view what, std::optional<double> hold_ns, F&& work, G&& undo) {
    std::vector<double> medians;
    work(0U);
    undo();
    for (unsigned round = 0; round < rounds_; ++round) {
      double spent = 0;
      for (unsigned operation = 0; operation < operations_; ++operation) {
        spent += nanoseconds_each(1, [&] { work(operation); });
        undo();
      }
      medians.push_back(spent / operations_);
    }
    table_.time_alone_row(fmt::format("224 CPUs, {:4} wait: {}", waiters_, what),
                          Spread::of(std::move(medians)), hold_ns);
  }

  void run(std::vector<Token>& single) {
    Token token = 0;
    const auto undo = [&] { machine_.free(Machine::kMeasured, token); };
    const auto grant = [&](const pmu::Allocate& asked) {
      token = machine_.ask(Machine::kMeasured, asked);
      if (token == 0) give_up("a free counter was refused");
    };
    const auto refuse = [&](const pmu::Allocate& asked) {
      if (machine_.ask(Machine::kMeasured, asked) != 0) give_up("a taken counter was granted");
    };
    row(
        "grant, 1 event on 1 CPU", 20e3,
        [&](unsigned turn) { grant(one_of(turn * 7 % kCpus, kInstructions)); }, undo);
    row(
        "refusal, 1 event on 1 CPU", 20e3,
        [&](unsigned turn) { refuse(one_of(turn * 7 % kCpus, kAnything)); }, [] {});
    row(
        "grant, 1 event on all CPUs", {},
        [&](unsigned) {
          grant(asking(0, kCpus - 1, {arbiter::counters_for_event(1, kInstructions, 0)}));
        },
        undo);
    row(
        "refusal, 1 event on all CPUs", {},
        [&](unsigned) {
          refuse(asking(0, kCpus - 1, {arbiter::counters_for_event(1, kAnything, 0)}));
        },
        [] {});
    row(
        "refusal, all of it alone", {}, [&](unsigned) { refuse(asking(0, kCpus - 1, {})); }, [] {});
    // For each client that is served another one begins to wait.
    std::size_t next = 0;
    pmu::Allocate again;
    row(
        "free of 1 counter, and the next waiter gets it", 50e3,
        [&](unsigned) {
          const std::size_t freed = next * 29 % single.size();
          again = one_of(static_cast<std::uint32_t>(freed / (kGeneral - kOnAll)), kAnything);
          machine_.free(Machine::kOthers, single[freed]);
        },
        [&] {
          const std::size_t freed = next++ * 29 % single.size();
          if (waiters_ != 0) again.head.wait_ns = pmu::kForever;
          const Token served = machine_.granted();
          const Token now = machine_.ask(Machine::kOthers, again);
          single[freed] = now != 0 ? now : served;
        });
    row(
        "words of the ledger, of all CPUs", {},
        [&](unsigned) {
          std::uint64_t sum = 0;
          for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
            for (const std::uint64_t word : machine_.arbiter().slot_words(0, cpu)) sum += word;
          }
          keep(sum);
        },
        [] {});
  }

 private:
  unsigned rounds_;
  unsigned operations_;
  Table& table_;
  Machine& machine_;
  std::size_t waiters_;
};

}  // namespace

void lease_machine_rows(const Effort& effort, Table& table) {
  std::size_t before = 0;
  Machine machine;
  std::vector<Token> single = fill(machine);
  for (const std::size_t waiters : {std::size_t{0}, std::size_t{100}, std::size_t{1000}}) {
    if (waiters > 100 && effort.operations < 10'000) continue;
    add_waiters(machine, waiters - before);
    before = waiters;
    MachineRows(effort, table, machine, waiters).run(single);
  }
}

}  // namespace meterbank::bench
