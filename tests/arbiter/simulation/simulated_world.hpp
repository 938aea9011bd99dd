// SPDX-License-Identifier: Apache-2.0
//
// An arbiter on a simulated machine: executes its actions as the server does, and lets time pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arbiter/backend/simulated/simulated_backend.hpp"
#include "arbiter/core/arbiter.hpp"
#include "simulated_machine.hpp"

namespace meterbank::arbiter {

// `items` on CPUs; none: the whole PMU.
[[nodiscard]] inline pmu::Allocate asking(const CpuSet& cpus, std::vector<Item> items,
                                          pmu::Priority priority = pmu::Priority::kMonitoring) {
  pmu::Allocate asked;
  std::map<std::uint32_t, std::uint64_t> groups;
  for (const std::uint32_t cpu : cpus.numbers()) {
    groups[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  for (const auto& [group, mask] : groups) {
    asked.groups.push_back({.mask = mask, .group = static_cast<std::uint16_t>(group)});
  }
  asked.head.flags = pmu::kAllocateHasGroups;
  if (!items.empty()) asked.head.flags |= pmu::kAllocateHasItems;
  asked.head.group_count = static_cast<std::uint32_t>(asked.groups.size());
  asked.head.item_count = static_cast<std::uint32_t>(items.size());
  asked.head.priority = static_cast<std::uint32_t>(priority);
  asked.items = std::move(items);
  return asked;
}

struct WorldOptions {
  ArbiterOptions arbiter = {};
  Policy policy = Policy::standard();
  Nanoseconds sample_ns = 100 * kMillisecond;  // between two looks at what counts; 0: never
  bool forgets_closing = false;                // a server with a leak
};

class SimulatedWorld {
 public:
  explicit SimulatedWorld(Topology topology, WorldOptions chosen = {})
      : backend(std::move(topology), clock.reader()),
        kernel(backend.kernel()),
        arbiter(MachineBook::open(backend.machine()).value(), chosen.policy, chosen.arbiter),
        options(std::move(chosen)) {
    arbiter.surveyed(backend.survey(), now());
    settle();
  }

  [[nodiscard]] Nanoseconds now() const { return clock.now(); }

  ClientNumber connect(std::uint32_t uid = 0) {
    const ClientNumber client = next_client_++;
    const auto pid = static_cast<std::uint32_t>(100'000 + client);
    arbiter.connected(client,
                      {.pid = pid,
                       .uid = uid,
                       .groups = {},
                       .start_time = pid,
                       .program = "client" + std::to_string(client),
                       .executable = {},
                       .cgroup = {}},
                      now());
    settle();
    return client;
  }
  void disconnect(ClientNumber client) {
    arbiter.disconnected(client, now());
    settle();
  }
  // Returns the id, by which its answer is found.
  std::uint64_t say(ClientNumber client, const pmu::ClientMessage& message) {
    const std::uint64_t id = next_id_++;
    arbiter.received(client, id, message, now());
    settle();
    return id;
  }
  // The token, if it was granted at once.
  pmu::Token get(ClientNumber client, const pmu::Allocate& asked) {
    return token(say(client, asked));
  }

  void pass(Nanoseconds span) {
    const Nanoseconds until = now() + span;
    while (now() < until) {
      Nanoseconds next = until;
      if (const auto due = arbiter.deadline()) next = std::min(next, std::max(*due, now() + 1));
      if (options.sample_ns != 0) next = std::min(next, sampled_ns_ + options.sample_ns);
      clock.advance(std::max(next, now() + 1) - now());
      tick();
    }
  }
  void tick() {
    arbiter.passed(now());
    settle();
    if (backend.online() != arbiter.book().machine().online) {
      arbiter.online(backend.online(), now());
      settle();
    }
    if (options.sample_ns != 0 && now() >= sampled_ns_ + options.sample_ns) sample();
  }
  void sample() {
    sampled_ns_ = now();
    std::vector<CarrierNumber> open;
    for (const auto& [number, carrier] : arbiter.carriers()) {
      if (carrier.state() == CarrierState::kOpen) open.push_back(number);
    }
    for (const CarrierNumber number : open) {
      arbiter.sampled(number, backend.read(number), now());
      settle();
    }
  }

  // ---- What clients were sent ----
  template <typename Message>
  [[nodiscard]] std::optional<Message> answer(std::uint64_t id) const {
    const auto found = answers.find(id);
    if (found == answers.end()) return std::nullopt;
    for (const pmu::ArbiterMessage& message : found->second) {
      if (const auto* one = std::get_if<Message>(&message)) return *one;
    }
    return std::nullopt;
  }
  [[nodiscard]] pmu::Token token(std::uint64_t id) const {
    const auto granted = answer<pmu::Granted>(id);
    return granted ? granted->head.token : 0;
  }
  [[nodiscard]] pmu::Reason reason(std::uint64_t id) const {
    const auto refused = answer<pmu::Refused>(id);
    return refused ? refused->head.reason : pmu::Reason::kNone;
  }
  [[nodiscard]] std::vector<pmu::Notice> notices(pmu::NoticeKind kind) const {
    std::vector<pmu::Notice> found;
    for (const auto& [client, notice] : told) {
      if (notice.kind == kind) found.push_back(notice);
    }
    return found;
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
  [[nodiscard]] pmu::LeaseValues read(ClientNumber client, pmu::Token token) {
    return answer<pmu::LeaseValues>(say(client, pmu::Read{token})).value_or(pmu::LeaseValues{});
  }

  // What is wrong with what clients were told and what the kernel has, if anything: each active
  // lease whose events were all sampled as they are now has a counter for each of them.
  [[nodiscard]] std::optional<std::string> contradiction() {
    for (const auto& [number, carrier] : arbiter.carriers()) {
      if (carrier.state() != CarrierState::kOpen) continue;
      const auto readings = backend.read(number);
      if (readings.size() != carrier.openings.size()) return "an open carrier is not open";
    }
    for (const SimulatedKernel::EventView& view : kernel.views()) {
      if (view.opener == backend.own_process() && view.state == EventState::kError) {
        return "an event of ours has no counter";
      }
    }
    return std::nullopt;
  }
  // What is left when no client holds or wants anything any more.
  [[nodiscard]] std::optional<std::string> leftover() const {
    if (!arbiter.leases().empty()) return "a lease";
    if (!arbiter.queue().empty()) return "a waiter";
    if (!arbiter.carriers().empty()) return "a carrier";
    for (const SimulatedKernel::EventView& view : kernel.views()) {
      if (view.opener == backend.own_process()) return "an event in the kernel";
    }
    for (const CpuOwners& owners : arbiter.book().ownership().cpus) {
      for (const CounterOwner& owner : owners.counters) {
        if (owner.kind != OwnerKind::kFree && owner.kind != OwnerKind::kForeign) {
          return "a counter in the books";
        }
      }
    }
    return std::nullopt;
  }

  void settle() {
    while (std::optional<Action> action = arbiter.next_action()) {
      std::visit([this](auto& one) { execute(one); }, *action);
    }
  }

  ManualClock clock;
  SimulatedBackend backend;
  SimulatedKernel& kernel;
  Arbiter arbiter;
  WorldOptions options;
  std::map<std::uint64_t, std::vector<pmu::ArbiterMessage>> answers;   // by the request's id
  std::vector<std::pair<ClientNumber, pmu::Notice>> told;              // in order
  std::vector<std::pair<ClientNumber, pmu::LeaseValues>> last_values;  // unasked, in order
  std::function<void(const Send&)> on_send;

 private:
  void execute(Send& action) {
    if (on_send) on_send(action);
    if (action.id != 0) {
      answers[action.id].push_back(std::move(action.message));
    } else if (const auto* notice = std::get_if<pmu::Notice>(&action.message)) {
      told.emplace_back(action.client, *notice);
    } else if (const auto* values = std::get_if<pmu::LeaseValues>(&action.message)) {
      last_values.emplace_back(action.client, *values);
    }
  }
  void execute(const Deliver&) {}
  void execute(const Record&) {}
  void execute(const Disconnect&) {}
  void execute(const Open& action) {
    arbiter.opened(action.carrier, backend.open(action.carrier, action.openings), now());
  }
  void execute(const Close& action) {
    if (!options.forgets_closing) backend.close(action.carrier);
  }
  void execute(const Pause& action) { backend.pause(action.carrier); }
  void execute(const Resume& action) {
    arbiter.opened(action.carrier, backend.resume(action.carrier), now());
  }
  void execute(const ReadCounters& action) {
    arbiter.sampled(action.carrier, backend.read(action.carrier), now());
  }
  void execute(const Confirm& action) {
    const bool has_let_go = options.forgets_closing || backend.has_let_go(action.carrier);
    arbiter.confirmed(action.carrier, has_let_go, now());
  }
  void execute(const Guard& action) { backend.guard(action.pmu, action.cpu, action.counters); }
  void execute(const ProbeKernel& action) {
    const std::uint32_t room = backend.probe(action.pmu, action.cpus, action.event, action.at_most);
    answers[action.id].push_back(pmu::Room{std::min(room, action.at_most), 1});
  }
  void execute(const Verify& action) {
    const std::uint32_t room = backend.probe(action.pmu, action.cpus, Event(), action.counters);
    arbiter.verified(action.lease, action.pmu, room, now());
  }
  void execute(const Survey&) { arbiter.surveyed(backend.survey(), now()); }

  ClientNumber next_client_ = 1;
  std::uint64_t next_id_ = 1;
  Nanoseconds sampled_ns_ = 0;
};

}  // namespace meterbank::arbiter
