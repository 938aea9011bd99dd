// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/simulated/simulated_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "arbiter/backend/simulated/breakpoint_slots.hpp"

namespace meterbank::arbiter {
namespace {

[[nodiscard]] OpenFailure failure(OpenFault fault) {
  switch (fault) {
    case OpenFault::kNoCounter:
      return {fault, ENOSPC};
    case OpenFault::kNotSupported:
      return {fault, ENOENT};
    case OpenFault::kDenied:
      return {fault, EACCES};
    case OpenFault::kNoTask:
      return {fault, ESRCH};
    case OpenFault::kNoDescriptors:
      return {fault, EMFILE};
    case OpenFault::kOffline:
      return {fault, ENODEV};
    case OpenFault::kNone:
    case OpenFault::kOther:
      return {OpenFault::kOther, EIO};
  }
  return {OpenFault::kOther, EIO};
}

[[nodiscard]] std::uint64_t standard_counts(const EventAttributes& attributes, Nanoseconds from,
                                            Nanoseconds to) {
  return (to - from) * (1 + attributes.event.code % 7);
}

[[nodiscard]] CpuSet all_cpus(const Topology& topology) {
  CpuSet cpus;
  for (const Pmu& pmu : topology.pmus) {
    for (const std::uint32_t cpu : pmu.cpus.numbers()) cpus.add(cpu);
  }
  return cpus;
}

[[nodiscard]] CpuSet without(const CpuSet& cpus, std::uint32_t cpu) {
  CpuSet rest;
  for (const std::uint32_t other : cpus.numbers()) {
    if (other != cpu) rest.add(other);
  }
  return rest;
}

}  // namespace

SimulatedKernel::SimulatedKernel(Topology topology, KernelClock clock, KernelOptions options)
    : topology_(std::move(topology)),
      clock_(std::move(clock)),
      options_(std::move(options)),
      online_(all_cpus(topology_)),
      now_(clock_()) {
  if (!options_.counts) options_.counts = standard_counts;
  processes_[kItself] = {.name = "kernel"};
  add_foreign(online_);
}

std::uint32_t SimulatedKernel::start_process(std::string name, std::uint32_t uid) {
  processes_[next_number_] = {.name = std::move(name), .uid = uid};
  return next_number_++;
}

void SimulatedKernel::end_process(std::uint32_t process) {
  settle();
  std::vector<std::uint32_t> tasks;
  for (const auto& [number, task] : tasks_) {
    if (task.process == process) tasks.push_back(number);
  }
  for (const std::uint32_t task : tasks) end_task(task);
  std::vector<EventNumber> held;
  for (const auto& [number, event] : events_) {
    held.insert(held.end(), event.holders.count(process), number);
  }
  for (const EventNumber event : held) close(event, process);
}

std::uint32_t SimulatedKernel::start_task(std::uint32_t process) {
  tasks_[next_number_] = {.process = process};
  return next_number_++;
}

void SimulatedKernel::run(std::uint32_t task, std::uint32_t cpu) {
  settle();
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || !online_.contains(cpu)) return;
  if (const auto before = running_.find(cpu); before != running_.end()) stop(before->second);
  stop(task);
  found->second.cpu = cpu;
  running_[cpu] = task;
  reschedule_cpu(cpu);
}

void SimulatedKernel::stop(std::uint32_t task) {
  settle();
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || !found->second.cpu) return;
  const std::uint32_t cpu = *found->second.cpu;
  leave_cpu(found->second);
  reschedule_cpu(cpu);
}

void SimulatedKernel::end_task(std::uint32_t task) {
  settle();
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  stop(task);
  Context context = found->second.context;
  for (const auto* list : {&context.pinned, &context.flexible}) {
    for (const EventNumber number : *list) detach(number, events_.at(number));
  }
  tasks_.erase(found);
}

bool SimulatedKernel::takes_up(std::uint32_t task, std::uint32_t process) {
  if (!options_.takes_any_task || online_.empty()) return false;
  tasks_[task] = {.process = process};
  const std::vector<std::uint32_t> cpus = online_.numbers();
  const auto idle = std::find_if(cpus.begin(), cpus.end(),
                                 [&](std::uint32_t cpu) { return !running_.contains(cpu); });
  run(task, idle != cpus.end() ? *idle : cpus[task % cpus.size()]);
  return true;
}

std::optional<OpenFailure> SimulatedKernel::fault_of(const EventAttributes& attributes) {
  if (failing_ && failing_->first-- == 0) {
    const OpenFault fault = failing_->second;
    failing_.reset();
    return failure(fault);
  }
  if (attributes.pmu >= topology_.pmus.size()) return failure(OpenFault::kNotSupported);
  const Pmu& pmu = topology_.pmus[attributes.pmu];
  if (attributes.cpu && !pmu.cpus.contains(*attributes.cpu)) {
    return failure(OpenFault::kNotSupported);
  }
  if (attributes.cpu && !online_.contains(*attributes.cpu)) return failure(OpenFault::kOffline);
  if (!attributes.cpu && attributes.task == 0) return OpenFailure{OpenFault::kOther, EINVAL};
  if (attributes.task != 0 && !tasks_.contains(attributes.task)) return failure(OpenFault::kNoTask);
  if (counters_for(attributes) == 0) return failure(OpenFault::kNotSupported);
  return pmu.name == kBreakpointPmu ? fault_of_breakpoint(attributes) : std::nullopt;
}

std::optional<OpenFailure> SimulatedKernel::fault_of_breakpoint(
    const EventAttributes& attributes) const {
  const std::uint32_t bytes = attributes.event.unit_mask;
  const bool is_known = attributes.event.code >= 1 && attributes.event.code <= 4;
  const bool has_length = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (!is_known || !has_length) return OpenFailure{OpenFault::kNotSupported, EINVAL};
  std::vector<BreakpointSlot> held;
  for (const auto& [number, event] : events_) {
    if (event.is_breakpoint && event.attributes.pmu == attributes.pmu) {
      held.push_back({event.attributes.cpu, event.attributes.task});
    }
  }
  const Pmu& pmu = topology_.pmus[attributes.pmu];
  if (has_slot(held, {attributes.cpu, attributes.task}, pmu.cpus, pmu.general)) return std::nullopt;
  return failure(OpenFault::kNoCounter);
}

tl::expected<EventNumber, OpenFailure> SimulatedKernel::open(std::uint32_t process,
                                                             const EventAttributes& attributes) {
  settle();
  if (attributes.task != 0 && !tasks_.contains(attributes.task)) {
    (void)takes_up(attributes.task, process);
  }
  if (const auto fault = fault_of(attributes)) return tl::make_unexpected(*fault);
  return add(process, attributes, counters_for(attributes));
}

CounterMask SimulatedKernel::counters_for(const EventAttributes& attributes) const noexcept {
  const auto [code, unit_mask, configuration] = attributes.event;
  const bool has_rule = topology_.class_of(attributes.pmu, code, unit_mask).has_value();
  if (topology_.pmus[attributes.pmu].is_closed && !has_rule) return 0;
  return topology_.counters_for(attributes.pmu, code, unit_mask);
}

EventNumber SimulatedKernel::add(std::uint32_t process, const EventAttributes& attributes,
                                 CounterMask counters) {
  const EventNumber number = next_event_++;
  KernelEvent& event = events_[number];
  event.attributes = attributes;
  event.counters = counters;
  event.opener = process;
  event.holders = {process};
  event.is_breakpoint = topology_.pmus[attributes.pmu].name == kBreakpointPmu;
  event.since_ns = now_;
  Context& context = context_of(event);
  (attributes.is_pinned ? context.pinned : context.flexible).push_back(number);
  if (!attributes.is_disabled) enable(number);
  return number;
}

// In the order of the topology; what does not fit any more is not there, as with a kernel that
// starts its watchdog late.
void SimulatedKernel::add_foreign(const CpuSet& cpus) {
  for (std::size_t i = 0; i < topology_.foreign.size(); ++i) {
    const ForeignHolder& holder = topology_.foreign[i];
    for (const std::uint32_t cpu : holder.cpus.common_with(cpus).numbers()) {
      const EventNumber number = add(kItself, {.pmu = holder.pmu, .event = {}, .cpu = cpu},
                                     topology_.classes[holder.event_class].counters);
      if (events_.at(number).state == EventState::kError) {
        destroy(number);
      } else {
        foreign_[number] = i;
      }
    }
  }
}

void SimulatedKernel::duplicate(EventNumber event, std::uint32_t process) {
  const auto found = events_.find(event);
  if (found != events_.end()) found->second.holders.insert(process);
}

void SimulatedKernel::close(EventNumber event, std::uint32_t process) {
  settle();
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  std::multiset<std::uint32_t>& holders = found->second.holders;
  const auto holder = holders.find(process);
  if (holder == holders.end()) return;
  holders.erase(holder);
  if (holders.empty()) destroy(event);
}

void SimulatedKernel::destroy(EventNumber number) {
  const auto found = events_.find(number);
  detach(number, found->second);
  events_.erase(found);
}

void SimulatedKernel::enable(EventNumber number) {
  settle();
  const auto found = events_.find(number);
  if (found == events_.end() || !found->second.is_attached) return;
  KernelEvent& event = found->second;
  if (event.state != EventState::kOff && event.state != EventState::kError) return;
  move_to(event, EventState::kWaiting);
  for (const Place& place : places_of(event)) reschedule(place);
}

void SimulatedKernel::disable(EventNumber number) {
  settle();
  const auto found = events_.find(number);
  if (found == events_.end() || found->second.state == EventState::kError) return;
  move_to(found->second, EventState::kOff);
  for (const Place& place : places_of(found->second)) reschedule(place);
}

std::optional<Reading> SimulatedKernel::read(EventNumber number) {
  settle();
  const auto found = events_.find(number);
  if (found == events_.end() || found->second.state == EventState::kError) return std::nullopt;
  account(found->second);
  return found->second.count;
}

void SimulatedKernel::fail_open(std::uint64_t after, OpenFault fault) { failing_ = {after, fault}; }

void SimulatedKernel::set_watchdog(bool is_on) {
  settle();
  if (is_on == has_watchdog_) return;
  has_watchdog_ = is_on;
  if (is_on) return add_foreign(online_);
  for (const auto& [number, holder] : std::exchange(foreign_, {})) destroy(number);
}

void SimulatedKernel::set_online(std::uint32_t cpu, bool is_online) {
  settle();
  if (online_.contains(cpu) == is_online) return;
  if (is_online) {
    online_.add(cpu);
    CpuSet one;
    one.add(cpu);
    if (has_watchdog_) add_foreign(one);
    return;
  }
  if (const auto found = running_.find(cpu); found != running_.end()) stop(found->second);
  online_ = without(online_, cpu);
  for (PmuIndex pmu = 0; pmu < topology_.pmus.size(); ++pmu) {
    const auto found = contexts_.find({pmu, cpu});
    if (found == contexts_.end()) continue;
    const Context context = found->second;
    for (const auto* list : {&context.pinned, &context.flexible}) {
      for (const EventNumber number : *list) detach(number, events_.at(number));
    }
  }
  std::erase_if(foreign_, [this](const auto& entry) {
    const bool is_dead = !events_.at(entry.first).is_attached;
    if (is_dead) destroy(entry.first);
    return is_dead;
  });
}

std::optional<SimulatedKernel::EventView> SimulatedKernel::view(EventNumber number) const {
  const auto found = events_.find(number);
  if (found == events_.end()) return std::nullopt;
  const KernelEvent& event = found->second;
  std::string who = processes_.at(event.opener).name;
  if (const auto foreign = foreign_.find(number); foreign != foreign_.end()) {
    who += " " + topology_.foreign[foreign->second].name;
  }
  return EventView{.attributes = event.attributes,
                   .state = event.state,
                   .opener = event.opener,
                   .who = std::move(who),
                   .counter = event.counter,
                   .holds_slot = event.is_breakpoint,
                   .is_attached = event.is_attached};
}

std::vector<SimulatedKernel::EventView> SimulatedKernel::views() const {
  std::vector<EventView> views;
  for (const auto& [number, event] : events_) views.push_back(*view(number));
  return views;
}

SimulatedKernel::Process SimulatedKernel::process(std::uint32_t number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? Process{} : found->second;
}

}  // namespace meterbank::arbiter
