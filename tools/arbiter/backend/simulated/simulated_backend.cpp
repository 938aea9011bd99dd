// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/simulated/simulated_backend.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kBothModes = pmu::kItemExcludesUser | pmu::kItemExcludesKernel;

[[nodiscard]] EventAttributes attributes_of(const Opening& opening) {
  EventAttributes attributes;
  attributes.pmu = opening.pmu;
  attributes.event = opening.event;
  if (opening.cpu != pmu::kNoCpu) attributes.cpu = opening.cpu;
  attributes.task = opening.task;
  attributes.counts = (opening.flags & kBothModes) != kBothModes;
  return attributes;
}

[[nodiscard]] Reading sum_of(const Reading& one, const Reading& other) {
  Reading sum = one;
  sum.value += other.value;
  sum.enabled_ns += other.enabled_ns;
  sum.running_ns += other.running_ns;
  return sum;
}

// What perf calls the events of a class.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNamesOfClasses = {
    {{"cycles", "cycles"}, {"inst", "instructions"}, {"ref", "ref-cycles"}, {"slots", "slots"}}};
// What perf has for every processor, in the encoding of x86's architectural events.
constexpr std::array<std::pair<std::string_view, Event>, 6> kNamesOfCores = {
    {{"cycles", {.code = 0x3c, .unit_mask = 0}},
     {"instructions", {.code = 0xc0, .unit_mask = 0}},
     {"branches", {.code = 0xc4, .unit_mask = 0}},
     {"branch-misses", {.code = 0xc5, .unit_mask = 0}},
     {"cache-references", {.code = 0x2e, .unit_mask = 0x4f}},
     {"cache-misses", {.code = 0x2e, .unit_mask = 0x41}}}};

[[nodiscard]] std::vector<EventNames> names_in(const Machine& machine) {
  const Topology& topology = machine.topology;
  std::vector<EventNames> names(topology.pmus.size());
  for (const EventRule& rule : topology.events) {
    for (const auto& [of_class, name] : kNamesOfClasses) {
      if (topology.classes[rule.event_class].name != of_class) continue;
      names[rule.pmu].try_emplace(
          std::string(name), Event{.code = rule.first, .unit_mask = rule.unit_mask.value_or(0)});
    }
  }
  for (PmuIndex pmu = 0; pmu < topology.pmus.size(); ++pmu) {
    const Pmu& candidate = topology.pmus[pmu];
    const bool is_of_cores =
        !candidate.cpus.empty() && machine.pmu_on(candidate.cpus.numbers().front()) == pmu;
    if (!is_of_cores || candidate.is_closed) continue;
    for (const auto& [name, event] : kNamesOfCores)
      names[pmu].try_emplace(std::string(name), event);
  }
  return names;
}

// Events that reach every counter of a PMU between them: one of each class, and any other one. What
// has least choice comes first, so that it is not left without when others took what it needs.
[[nodiscard]] std::vector<Event> events_reaching_all(const Topology& topology, PmuIndex pmu) {
  if (topology.pmus[pmu].name == kBreakpointPmu) return {{.code = 2, .unit_mask = 1}};
  std::vector<Event> events;
  std::vector<CounterMask> masks;
  const auto add = [&](const Event& event) {
    const CounterMask mask = topology.counters_for(pmu, event.code, event.unit_mask);
    if (mask == 0 || std::find(masks.begin(), masks.end(), mask) != masks.end()) return;
    masks.push_back(mask);
    events.push_back(event);
  };
  for (const EventRule& rule : topology.events) {
    if (rule.pmu == pmu) add({.code = rule.first, .unit_mask = rule.unit_mask.value_or(0xff)});
  }
  constexpr Event kOrdinary = {.code = 0xfe, .unit_mask = 0xff};
  if (!topology.pmus[pmu].is_closed) add(kOrdinary);
  std::stable_sort(events.begin(), events.end(), [&](const Event& one, const Event& other) {
    return std::popcount(topology.counters_for(pmu, one.code, one.unit_mask)) <
           std::popcount(topology.counters_for(pmu, other.code, other.unit_mask));
  });
  return events;
}

}  // namespace

SimulatedBackend::SimulatedBackend(Topology topology, KernelClock clock, KernelOptions options)
    : kernel_(std::move(topology), clock, std::move(options)),
      own_process_(kernel_.start_process("meterbank-pmud")),
      clock_(std::move(clock)) {
  // Holders without a lease are found as on a real machine: by survey().
  machine_.topology = kernel_.topology();
  machine_.topology.foreign.clear();
  machine_.possible = kernel_.online();
  machine_.online = kernel_.online();
  machine_.names = names_in(machine_);
  for (PmuIndex pmu = 0; pmu < machine_.topology.pmus.size(); ++pmu) {
    guard_events_.push_back(events_reaching_all(machine_.topology, pmu));
  }
}

std::string SimulatedBackend::why_no_pmu() const {
  const std::vector<Pmu>& pmus = machine_.topology.pmus;
  if (std::any_of(pmus.begin(), pmus.end(), [](const Pmu& pmu) { return !pmu.is_named_only; })) {
    return {};
  }
  return "the simulated machine has none: add a pmu line to its topology file";
}

OpenOutcome SimulatedBackend::open(CarrierNumber carrier, std::span<const Opening> openings) {
  OpenCarrier fresh;
  fresh.openings.assign(openings.begin(), openings.end());
  fresh.events.resize(openings.size());
  fresh.before.resize(openings.size());
  fresh.last.resize(openings.size());
  OpenOutcome outcome = start(fresh);
  if (outcome.fault == OpenFault::kNone) {
    carriers_[carrier] = std::move(fresh);
  } else {
    close_events(fresh);
    revive_tasks();
  }
  return outcome;
}

// A guard may stand on the very counter that an event needs while others would do for the guard, so
// guards step aside once before the answer is no.
OpenOutcome SimulatedBackend::start(OpenCarrier& carrier) {
  OpenOutcome outcome = start_once(carrier);
  if (outcome.fault != OpenFault::kNoCounter) return outcome;
  const std::vector<Place> places = guarded_places(carrier.openings);
  if (places.empty()) return outcome;
  for (const Place& place : places) drop_guards(place);
  outcome = start_once(carrier);
  for (const Place& place : places) fill_guards(place);
  return outcome;
}

// What the event has counted stays counted.
void SimulatedBackend::retire(OpenCarrier& carrier, std::size_t i) {
  if (const auto count = kernel_.read(carrier.events[i])) {
    carrier.before[i] = sum_of(carrier.before[i], *count);
  } else {
    carrier.before[i] = carrier.last[i];
    carrier.before[i].enabled_ns -= std::min(carrier.before[i].enabled_ns, carrier.paused_ns);
  }
  kernel_.close(std::exchange(carrier.events[i], 0), own_process_);
}

// Opens what is closed or dead, and enables the rest.
OpenOutcome SimulatedBackend::start_once(OpenCarrier& carrier) {
  OpenOutcome outcome;
  for (std::uint32_t i = 0; i < carrier.openings.size(); ++i) {
    EventNumber& event = carrier.events[i];
    if (event != 0 && !kernel_.view(event)->is_attached) retire(carrier, i);
    OpenFailure failure{OpenFault::kNone};
    if (event != 0) {
      kernel_.enable(event);
    } else {
      const auto opened = kernel_.open(own_process_, attributes_of(carrier.openings[i]));
      event = opened.value_or(0);
      if (!opened) failure = opened.error();
    }
    if (event != 0 && kernel_.view(event)->state == EventState::kError) {
      failure.fault = OpenFault::kNoCounter;
    }
    outcome.kernel_ids.push_back(event);
    if (failure.fault == OpenFault::kNone) continue;
    return {failure.fault, i, failure.system_error, {}};
  }
  return outcome;
}

void SimulatedBackend::close_events(OpenCarrier& carrier) {
  for (EventNumber& event : carrier.events) kernel_.close(std::exchange(event, 0), own_process_);
}

// Another process with a descriptor of it must not count on: the event is switched off before.
void SimulatedBackend::close(CarrierNumber carrier) {
  const auto found = carriers_.find(carrier);
  if (found == carriers_.end()) return;
  for (const EventNumber event : found->second.events) {
    if (event == 0) continue;
    kernel_.disable(event);
    kernel_.close(event, own_process_);
    if (kernel_.view(event)) closed_[carrier].push_back(event);
  }
  carriers_.erase(found);
}

bool SimulatedBackend::has_let_go(CarrierNumber carrier) {
  if (carriers_.contains(carrier)) return false;
  const auto found = closed_.find(carrier);
  if (found == closed_.end()) return true;
  for (const EventNumber event : found->second) {
    const auto view = kernel_.view(event);
    if (view && (view->holds_slot || view->state == EventState::kActive)) return false;
  }
  closed_.erase(found);
  return true;
}

void SimulatedBackend::refresh(OpenCarrier& carrier) {
  const Nanoseconds paused_ns =
      carrier.paused_ns + (carrier.is_paused ? clock_() - carrier.paused_at_ns : 0);
  for (std::size_t i = 0; i < carrier.events.size(); ++i) {
    if (carrier.events[i] == 0) {
      carrier.last[i] = carrier.before[i];
      carrier.last[i].enabled_ns += paused_ns;
      carrier.last[i].has_counter = carrier.is_paused;
      continue;
    }
    const auto count = kernel_.read(carrier.events[i]);
    if (count) {
      carrier.last[i] = sum_of(carrier.before[i], *count);
      carrier.last[i].enabled_ns += paused_ns;
    }
    // An event whose CPU was offline for a moment reads as before, and never counts again.
    const bool is_dead =
        carrier.openings[i].task == 0 && !kernel_.view(carrier.events[i])->is_attached;
    carrier.last[i].has_counter = carrier.is_paused || (count && !is_dead);
  }
}

// A counter is given back by an event that is off, a breakpoint's slot only by one that is closed.
void SimulatedBackend::pause(CarrierNumber carrier) {
  const auto found = carriers_.find(carrier);
  if (found == carriers_.end()) return;
  OpenCarrier& paused = found->second;
  if (paused.is_paused) return;
  refresh(paused);
  paused.is_paused = true;
  paused.paused_at_ns = clock_();
  for (std::size_t i = 0; i < paused.events.size(); ++i) {
    if (paused.events[i] == 0) continue;
    kernel_.disable(paused.events[i]);
    if (kernel_.view(paused.events[i])->holds_slot) retire(paused, i);
  }
}

OpenOutcome SimulatedBackend::resume(CarrierNumber carrier) {
  const auto found = carriers_.find(carrier);
  if (found == carriers_.end()) return {.fault = OpenFault::kOther, .kernel_ids = {}};
  pause(carrier);
  OpenCarrier& paused = found->second;
  OpenOutcome outcome = start(paused);
  paused.is_paused = false;
  paused.paused_ns += clock_() - paused.paused_at_ns;
  if (outcome.fault != OpenFault::kNone) {
    pause(carrier);
  } else {
    refresh(paused);
  }
  return outcome;
}

std::vector<Reading> SimulatedBackend::read(CarrierNumber carrier) {
  const auto found = carriers_.find(carrier);
  if (found == carriers_.end()) return {};
  refresh(found->second);
  return found->second.last;
}

std::uint32_t SimulatedBackend::probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                      std::uint32_t at_most) {
  const bool is_any = event == Event();
  const std::vector<Event> events = is_any ? guard_events_.at(pmu) : std::vector<Event>{event};
  std::uint32_t least = at_most;
  for (const std::uint32_t cpu : cpus.numbers()) {
    const Place place = {pmu, cpu};
    drop_guards(place);
    const std::vector<EventNumber> opened = fill(place, events, least);
    least = static_cast<std::uint32_t>(opened.size());
    for (const EventNumber one : opened) kernel_.close(one, own_process_);
    fill_guards(place);
  }
  revive_tasks();
  return cpus.empty() ? 0 : least;
}

// Events that count nothing, and that all have a counter.
std::vector<EventNumber> SimulatedBackend::fill(const Place& place,
                                                const std::vector<Event>& events,
                                                std::uint32_t at_most) {
  std::vector<EventNumber> opened;
  for (const Event& event : events) {
    while (opened.size() < at_most) {
      const auto one = kernel_.open(
          own_process_, {.pmu = place.first, .event = event, .cpu = place.second, .counts = false});
      if (!one) break;
      if (kernel_.view(*one)->state == EventState::kError) {
        kernel_.close(*one, own_process_);
        break;
      }
      opened.push_back(*one);
    }
  }
  return opened;
}

std::uint32_t SimulatedBackend::guard(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counters) {
  const Place place = {pmu, cpu};
  GuardedPlace& guarded = guards_[place];
  guarded.wanted = counters;
  std::erase_if(guarded.events, [this](EventNumber event) {
    const auto view = kernel_.view(event);
    const bool is_held = view->is_attached && view->state == EventState::kActive;
    if (!is_held) kernel_.close(event, own_process_);
    return !is_held;
  });
  while (guarded.events.size() > counters) {
    kernel_.close(guarded.events.back(), own_process_);
    guarded.events.pop_back();
  }
  fill_guards(place);
  const auto held = static_cast<std::uint32_t>(guarded.events.size());
  if (counters == 0) guards_.erase(place);
  return held;
}

std::vector<SimulatedBackend::Place> SimulatedBackend::guarded_places(
    std::span<const Opening> openings) const {
  std::vector<Place> places;
  for (const auto& entry : guards_) {
    const Place& place = entry.first;
    const bool is_wanted =
        std::any_of(openings.begin(), openings.end(), [&](const Opening& opening) {
          return opening.pmu == place.first &&
                 (opening.cpu == pmu::kNoCpu || opening.cpu == place.second);
        });
    if (is_wanted && !entry.second.events.empty()) places.push_back(place);
  }
  return places;
}

void SimulatedBackend::drop_guards(const Place& place) {
  const auto found = guards_.find(place);
  if (found == guards_.end()) return;
  for (const EventNumber event : std::exchange(found->second.events, {})) {
    kernel_.close(event, own_process_);
  }
}

void SimulatedBackend::fill_guards(const Place& place) {
  const auto found = guards_.find(place);
  if (found == guards_.end()) return;
  std::vector<EventNumber>& held = found->second.events;
  const auto missing = found->second.wanted - static_cast<std::uint32_t>(held.size());
  const auto more = fill(place, guard_events_.at(place.first), missing);
  held.insert(held.end(), more.begin(), more.end());
}

// A CPU-wide event that is opened only to try pushes out a task's that runs there, which stays out
// until it is enabled again.
void SimulatedBackend::revive_tasks() {
  for (const auto& [number, carrier] : carriers_) {
    for (std::size_t i = 0; i < carrier.events.size(); ++i) {
      if (carrier.openings[i].task == 0 || carrier.is_paused || carrier.events[i] == 0) continue;
      if (kernel_.view(carrier.events[i])->state == EventState::kError) {
        kernel_.enable(carrier.events[i]);
      }
    }
  }
}

// Events that take turns make room for a lease, and block no lease.
std::vector<Outsider> SimulatedBackend::survey() {
  std::map<std::tuple<std::string, std::uint32_t, PmuIndex>, std::map<std::uint32_t, std::uint32_t>>
      found;
  for (const SimulatedKernel::EventView& view : kernel_.views()) {
    if (view.opener == own_process_) continue;
    const bool is_off = view.state == EventState::kOff || view.state == EventState::kError;
    if (!view.holds_slot && (is_off || !view.attributes.is_pinned)) continue;
    auto& on_cpus = found[{view.who, view.opener, view.attributes.pmu}];
    const CpuSet& everywhere = machine_.topology.pmus[view.attributes.pmu].cpus;
    const CpuSet cpus = view.attributes.cpu
                            ? CpuSet::range(*view.attributes.cpu, *view.attributes.cpu)
                            : everywhere;
    for (const std::uint32_t cpu : cpus.numbers()) ++on_cpus[cpu];
  }
  std::vector<Outsider> outsiders;
  const Nanoseconds now = clock_();
  for (const auto& [who, on_cpus] : found) {
    const auto& [name, pid, pmu] = who;
    std::map<std::uint32_t, CpuSet> by_count;
    for (const auto& [cpu, counters] : on_cpus) by_count[counters].add(cpu);
    const Nanoseconds first = first_seen_.try_emplace(who, now).first->second;
    for (const auto& [counters, cpus] : by_count) {
      outsiders.push_back({.name = name,
                           .pid = pid,
                           .uid = kernel_.process(pid).uid,
                           .is_kernel = pid == SimulatedKernel::kItself,
                           .pmu = pmu,
                           .cpus = cpus,
                           .counters = counters,
                           .how = "simulation",
                           .first_ns = first,
                           .last_ns = now});
    }
  }
  std::erase_if(first_seen_, [&](const auto& entry) { return !found.contains(entry.first); });
  return outsiders;
}

std::vector<SavedCarrier> SimulatedBackend::save() {
  std::vector<SavedCarrier> saved;
  for (auto& [number, carrier] : carriers_) {
    refresh(carrier);
    saved.push_back({.carrier = number,
                     .openings = carrier.openings,
                     .descriptors = std::vector<int>(carrier.openings.size(), -1),
                     .before = carrier.last,
                     .is_paused = carrier.is_paused});
  }
  return saved;
}

// Those that are here still stay as they are. What cannot be opened again is lost, as its readings
// will say.
void SimulatedBackend::adopt(std::vector<SavedCarrier> saved) {
  for (SavedCarrier& each : saved) {
    if (carriers_.contains(each.carrier)) continue;
    OpenCarrier& carrier = carriers_[each.carrier];
    carrier.openings = std::move(each.openings);
    carrier.events.resize(carrier.openings.size());
    carrier.before = std::move(each.before);
    carrier.before.resize(carrier.openings.size());
    carrier.last = carrier.before;
    carrier.is_paused = each.is_paused;
    carrier.paused_at_ns = clock_();
    if (each.is_paused || start(carrier).fault == OpenFault::kNone) continue;
    close_events(carrier);
  }
}

std::vector<EventNumber> SimulatedBackend::events_of(CarrierNumber carrier) const {
  const auto found = carriers_.find(carrier);
  if (found == carriers_.end()) return {};
  std::vector<EventNumber> events = found->second.events;
  std::erase(events, EventNumber{0});
  return events;
}

std::unique_ptr<Backend> make_simulated_backend(Topology topology, KernelClock clock) {
  return std::make_unique<SimulatedBackend>(std::move(topology), std::move(clock),
                                            KernelOptions{.counts = {}, .takes_any_task = true});
}

}  // namespace meterbank::arbiter
