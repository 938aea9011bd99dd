// SPDX-License-Identifier: Apache-2.0
//
// Drives an Arbiter in tests: executes its actions against a kernel that does as it is told, and
// keeps what clients were sent.
//
//   ScriptedKernel world(machine);            a kernel with as many counters as the machine says
//   const ClientNumber orders = world.connect_as(7);
//   world.say(orders, 1, allocate({counters_for_event(1, 0x3c, 0)}));
//   world.answer(orders, 1)                   what it was answered
//
// The kernel gives counters where there are any, in no order; outsiders take some. It lets
// go of what is closed at once, unless `keeps` says for how many looks it does not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arbiter/core/arbiter.hpp"

namespace meterbank::arbiter {

constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr Nanoseconds kSecond = 1'000'000'000;

inline pmu::Allocate allocate(std::vector<Item> items, std::uint64_t cpu_mask = 1) {
  pmu::Allocate asked;
  asked.head.flags = pmu::kAllocateHasItems | pmu::kAllocateHasGroups;
  asked.head.group_count = 1;
  asked.groups = {{.mask = cpu_mask}};
  asked.head.item_count = static_cast<std::uint32_t>(items.size());
  asked.items = std::move(items);
  return asked;
}
inline pmu::Allocate allocate_whole(std::uint64_t cpu_mask = 1) {
  pmu::Allocate asked = allocate({}, cpu_mask);
  asked.head.flags = pmu::kAllocateHasGroups;
  return asked;
}

// Of a thread of the client, wherever it runs.
inline pmu::Allocate allocate_of_task(std::vector<Item> items, std::uint32_t task) {
  pmu::Allocate asked = allocate(std::move(items));
  asked.head.flags = pmu::kAllocateHasItems;
  asked.head.group_count = 0;
  asked.groups.clear();
  asked.head.task = task;
  return asked;
}

class ScriptedKernel {
 public:
  explicit ScriptedKernel(const Machine& machine, Policy policy = Policy::standard(),
                          ArbiterOptions options = {})
      : arbiter(MachineBook::open(machine).value(), std::move(policy), options), machine_(machine) {
    run();
  }

  // ---- Clients ----
  ClientNumber connect(ClientIdentity identity = {}) {
    if (identity.pid == 0) identity.pid = static_cast<std::uint32_t>(1000 + next_client_);
    if (identity.start_time == 0) identity.start_time = identity.pid;
    if (identity.program.empty()) identity.program = "client" + std::to_string(next_client_);
    arbiter.connected(next_client_, std::move(identity), now);
    run();
    return next_client_++;
  }
  ClientNumber connect_as(std::uint32_t uid, std::uint32_t pid = 0) {
    ClientIdentity identity;
    identity.uid = uid;
    identity.pid = pid;
    return connect(std::move(identity));
  }
  void disconnect(ClientNumber client) {
    arbiter.disconnected(client, now);
    run();
  }
  void say(ClientNumber client, std::uint64_t id, const pmu::ClientMessage& message) {
    arbiter.received(client, id, message, now);
    run();
  }
  // Time passes as a server lets it pass: no deadline is overslept.
  void pass(Nanoseconds span) {
    const Nanoseconds until = now + span;
    for (;;) {
      const std::optional<Nanoseconds> due = arbiter.deadline();
      now = due && *due < until ? std::max(now, *due) : until;
      if (on_tick) on_tick();
      arbiter.passed(now);
      run();
      if (now == until) return;
    }
  }

  // ---- What they were sent ----
  template <typename Message>
  [[nodiscard]] std::vector<Message> all(ClientNumber client) const {
    std::vector<Message> result;
    for (const Send& one : sent) {
      const auto* message = std::get_if<Message>(&one.message);
      if (one.client == client && message != nullptr) result.push_back(*message);
    }
    return result;
  }
  // The last message of this sort that answers `id`.
  template <typename Message>
  [[nodiscard]] std::optional<Message> answer(ClientNumber client, std::uint64_t id) const {
    std::optional<Message> result;
    for (const Send& one : sent) {
      const auto* message = std::get_if<Message>(&one.message);
      if (one.client == client && one.id == id && message != nullptr) result = *message;
    }
    return result;
  }
  [[nodiscard]] pmu::Token token(ClientNumber client, std::uint64_t id) const {
    const auto granted = answer<pmu::Granted>(client, id);
    return granted ? granted->head.token : 0;
  }
  [[nodiscard]] pmu::Reason reason(ClientNumber client, std::uint64_t id) const {
    const auto refused = answer<pmu::Refused>(client, id);
    return refused ? refused->head.reason : pmu::Reason::kNone;
  }
  [[nodiscard]] const Lease* lease(pmu::Token token) const {
    const auto found = arbiter.leases().find(pmu::lease_of(token));
    return found == arbiter.leases().end() || found->second.token != token ? nullptr
                                                                           : &found->second;
  }
  [[nodiscard]] pmu::LeaseState state(pmu::Token token) const {
    const Lease* one = lease(token);
    return one == nullptr ? pmu::LeaseState::kNone : one->state();
  }

  // ---- The kernel ----
  // What each counter counts from now on: `events` in `span`.
  void count(std::uint64_t events, Nanoseconds span) {
    for (auto& [number, carrier] : open_) {
      for (Reading& reading : carrier.readings) {
        reading.enabled_ns += span;
        if (carrier.is_paused || starves) continue;
        reading.value += events;
        reading.running_ns += span;
      }
    }
  }
  void sample_all() {
    std::vector<CarrierNumber> numbers;
    for (const auto& [number, carrier] : arbiter.carriers()) numbers.push_back(number);
    for (const CarrierNumber number : numbers) {
      if (open_.contains(number)) sample(number);
    }
    run();
  }
  // How many slot words of a place are in this state.
  [[nodiscard]] std::size_t slots(std::uint32_t cpu, pmu::CounterState state) const {
    const auto words = arbiter.slot_words(0, cpu);
    return static_cast<std::size_t>(std::count_if(
        words.begin(), words.end(),
        [&](std::uint64_t word) { return pmu::state_of<pmu::CounterState>(word) == state; }));
  }
  [[nodiscard]] std::uint32_t free_at(PmuIndex pmu, std::uint32_t cpu) const {
    const auto taken = used(pmu, cpu);
    const Pmu& one = machine_.topology.pmus.at(pmu);
    const std::uint32_t all = one.general + one.fixed;
    return all > taken ? all - taken : 0;
  }
  [[nodiscard]] bool has_open(CarrierNumber number) const { return open_.contains(number); }
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }
  void set_online(const CpuSet& cpus) {
    machine_.online = cpus;
    arbiter.online(cpus, now);
    run();
  }
  // The next arbiter, with what this one wrote down; the kernel stays.
  void restart_from(const std::string& saved, Policy policy = Policy::standard()) {
    arbiter =
        Arbiter::restore(saved, MachineBook::open(machine_).value(), std::move(policy)).value();
    run();
  }

  void run() {
    while (std::optional<Action> action = arbiter.next_action()) {
      std::visit([this](auto& one) { execute(one); }, *action);
    }
  }

  Arbiter arbiter;
  Nanoseconds now = 100 * kSecond;
  std::vector<Send> sent;
  std::vector<Deliver> delivered;
  std::vector<JournalRecord> journal;
  std::vector<std::uint64_t> last_kept;  // of the last Open
  std::vector<Action> executed;          // all but Send and Record
  std::vector<Outsider> outsiders;       // take counters, and are found
  std::map<std::pair<PmuIndex, std::uint32_t>, std::uint32_t> thieves;  // the same, not found
  std::map<std::pair<PmuIndex, std::uint32_t>, std::uint32_t> guards;
  std::uint32_t keeps = 0;          // looks for which what is closed is not let go
  bool lets_paused_run = false;     // a holder with descriptors counts on
  bool starves = false;             // counters are there, and never run
  std::optional<OpenFault> fault;   // of every Open
  std::vector<CarrierNumber> lost;  // carriers whose counters are gone
  std::function<void()> on_tick;    // before each passed()

 private:
  struct OpenCarrier {
    std::vector<Opening> openings;
    std::vector<Reading> readings;
    bool is_paused = false;
  };

  [[nodiscard]] std::uint32_t used(PmuIndex pmu, std::uint32_t cpu) const {
    std::uint32_t taken = 0;
    std::map<std::uint32_t, std::uint32_t> of_tasks;
    for (const auto& [number, carrier] : open_) {
      if (carrier.is_paused) continue;
      for (const Opening& opening : carrier.openings) {
        if (opening.pmu != pmu) continue;
        if (opening.task != 0) ++of_tasks[opening.task];
        if (opening.cpu == cpu) ++taken;
      }
    }
    std::uint32_t most = 0;
    for (const auto& [task, count] : of_tasks) most = std::max(most, count);
    taken += most;
    for (const Outsider& one : outsiders) {
      if (one.pmu == pmu && one.cpus.contains(cpu)) taken += one.counters;
    }
    for (const ForeignHolder& one : machine_.topology.foreign) {
      if (one.pmu == pmu && one.cpus.contains(cpu)) ++taken;
    }
    if (const auto thief = thieves.find({pmu, cpu}); thief != thieves.end()) {
      taken += thief->second;
    }
    for (const auto& [carrier, left] : closing_) {
      for (const Opening& opening : left.openings)
        taken += opening.pmu == pmu && opening.cpu == cpu;
    }
    if (const auto guard = guards.find({pmu, cpu}); guard != guards.end()) taken += guard->second;
    return taken;
  }
  // The first opening that has no counter beside all that is open.
  [[nodiscard]] OpenOutcome outcome_of(const std::vector<Opening>& openings) const {
    if (fault) return {.fault = *fault, .opening = 0, .system_error = 0, .kernel_ids = {}};
    std::map<std::pair<PmuIndex, std::uint32_t>, std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < openings.size(); ++i) {
      const Opening& opening = openings[i];
      const auto fails = [&](OpenFault why) {
        return OpenOutcome{.fault = why, .opening = i, .system_error = 0, .kernel_ids = {}};
      };
      const Pmu& pmu = machine_.topology.pmus.at(opening.pmu);
      for (const std::uint32_t cpu : pmu.cpus.numbers()) {
        if (opening.task == 0 && opening.cpu != cpu) continue;
        if (opening.task == 0 && !machine_.online.contains(cpu)) return fails(OpenFault::kOffline);
        // Beside other tasks there is room: only one of them runs at a time.
        if (opening.task != 0) continue;
        if (++wanted[{opening.pmu, cpu}] > free_at(opening.pmu, cpu)) {
          return fails(OpenFault::kNoCounter);
        }
      }
    }
    OpenOutcome outcome;
    for (std::size_t i = 0; i < openings.size(); ++i) outcome.kernel_ids.push_back(900 + i);
    return outcome;
  }

  void sample(CarrierNumber number) {
    const auto found = open_.find(number);
    std::vector<Reading> readings;
    if (found != open_.end()) readings = found->second.readings;
    const bool is_lost = std::find(lost.begin(), lost.end(), number) != lost.end();
    for (Reading& reading : readings) reading.has_counter = !is_lost;
    arbiter.sampled(number, std::move(readings), now);
  }

  void execute(Send& action) { sent.push_back(std::move(action)); }
  void execute(Record& action) { journal.push_back(action.record); }
  void execute(Deliver& action) {
    delivered.push_back(action);
    executed.emplace_back(action);
  }
  void execute(Open& action) {
    last_kept = action.kept;
    executed.emplace_back(action);
    const OpenOutcome outcome = outcome_of(action.openings);
    if (outcome.fault == OpenFault::kNone) {
      open_[action.carrier] = {.openings = action.openings,
                               .readings = std::vector<Reading>(action.openings.size())};
    }
    arbiter.opened(action.carrier, outcome, now);
  }
  void execute(Close& action) {
    executed.emplace_back(action);
    auto node = open_.extract(action.carrier);
    if (!node.empty() && keeps != 0 && !node.mapped().is_paused) {
      closing_[action.carrier] = {.openings = node.mapped().openings, .looks = keeps};
    }
  }
  void execute(Pause& action) {
    executed.emplace_back(action);
    if (open_.contains(action.carrier)) open_[action.carrier].is_paused = !lets_paused_run;
  }
  void execute(Resume& action) {
    executed.emplace_back(action);
    OpenCarrier& carrier = open_.at(action.carrier);
    const bool is_lost = std::find(lost.begin(), lost.end(), action.carrier) != lost.end();
    OpenOutcome outcome = outcome_of(carrier.openings);
    if (is_lost) outcome.fault = OpenFault::kNoCounter;
    if (outcome.fault == OpenFault::kNone) carrier.is_paused = false;
    arbiter.opened(action.carrier, outcome, now);
  }
  void execute(ReadCounters& action) {
    executed.emplace_back(action);
    sample(action.carrier);
  }
  void execute(Confirm& action) {
    executed.emplace_back(action);
    const auto left = closing_.find(action.carrier);
    const bool has_let_go = left == closing_.end() || left->second.looks-- == 0;
    if (has_let_go) closing_.erase(action.carrier);
    arbiter.confirmed(action.carrier, has_let_go, now);
  }
  void execute(Guard& action) {
    executed.emplace_back(action);
    guards[{action.pmu, action.cpu}] = action.counters;
  }
  void execute(ProbeKernel& action) {
    executed.emplace_back(action);
    std::uint32_t room = action.at_most;
    for (const std::uint32_t cpu : action.cpus.numbers()) {
      room = std::min(room, free_at(action.pmu, cpu));
    }
    sent.push_back({action.client, action.id, pmu::Room{room, 1}});
  }
  void execute(Survey& action) {
    executed.emplace_back(action);
    arbiter.surveyed(outsiders, now);
  }
  void execute(Verify& action) {
    executed.emplace_back(action);
    std::uint32_t room = action.counters;
    for (const std::uint32_t cpu : action.cpus.numbers()) {
      room = std::min(room, free_at(action.pmu, cpu));
    }
    arbiter.verified(action.lease, action.pmu, room, now);
  }
  void execute(Disconnect& action) { executed.emplace_back(action); }

  struct Closing {
    std::vector<Opening> openings;
    std::uint32_t looks = 0;
  };
  Machine machine_;
  ClientNumber next_client_ = 1;
  std::map<CarrierNumber, OpenCarrier> open_;
  std::map<CarrierNumber, Closing> closing_;
};

// Four counters alike on each of two CPUs.
inline Machine small_machine() {
  Machine machine;
  machine.topology.pmus.push_back(
      {.name = "cpu", .cpus = CpuSet::range(0, 1), .general = 4, .has_overflow = true});
  machine.topology.classes = {{.name = "any", .pmu = 0, .counters = 0xf}};
  machine.possible = CpuSet::range(0, 1);
  machine.online = machine.possible;
  return machine;
}

// `count` counters for event 0x3c.
inline Item cycles(std::uint32_t count = 1) { return counters_for_event(count, 0x3c, 0); }

}  // namespace meterbank::arbiter
