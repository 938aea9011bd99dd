// SPDX-License-Identifier: Apache-2.0
//
// The part of the simulated kernel that passes counters around as time goes by.
#include <algorithm>
#include <utility>

#include "arbiter/backend/simulated/order_of_service.hpp"
#include "arbiter/backend/simulated/simulated_kernel.hpp"

namespace meterbank::arbiter {
namespace {

// After a longer gap turns are that much longer, so that making up for it takes a bounded time.
constexpr Nanoseconds kTurnsMadeUpMax = 2048;

[[nodiscard]] bool is_enabled(EventState state) noexcept {
  return state == EventState::kWaiting || state == EventState::kInactive ||
         state == EventState::kActive;
}

}  // namespace

SimulatedKernel::Context& SimulatedKernel::context_of(const KernelEvent& event) {
  if (event.attributes.task != 0) return tasks_.at(event.attributes.task).context;
  return contexts_[{event.attributes.pmu, event.attributes.cpu.value_or(0)}];
}

// Where it takes part now: nowhere, if its task does not run where it may count.
std::vector<SimulatedKernel::Place> SimulatedKernel::places_of(const KernelEvent& event) const {
  const EventAttributes& attributes = event.attributes;
  if (!event.is_attached) return {};
  std::optional<std::uint32_t> cpu = attributes.cpu;
  if (attributes.task != 0) {
    const Task& task = tasks_.at(attributes.task);
    if (!task.cpu || task.cpu != attributes.cpu.value_or(*task.cpu)) return {};
    cpu = task.cpu;
  }
  if (!cpu || !topology_.pmus[attributes.pmu].cpus.contains(*cpu)) return {};
  return {{attributes.pmu, *cpu}};
}

void SimulatedKernel::detach(EventNumber number, KernelEvent& event) {
  if (!event.is_attached) return;
  const std::vector<Place> places = places_of(event);
  // What was in error must not read as a number afterwards.
  if (event.state != EventState::kError) move_to(event, EventState::kOff);
  Context& context = context_of(event);
  std::erase(context.pinned, number);
  std::erase(context.flexible, number);
  event.is_attached = false;
  for (const Place& place : places) reschedule(place);
}

// Time is never taken back: a clock that seems to is waited for.
void SimulatedKernel::settle() {
  const Nanoseconds now = clock_();
  if (now <= now_) return;
  const Nanoseconds turn_ns = std::max(options_.turn_ns, (now - now_) / kTurnsMadeUpMax);
  while (!crowded_.empty()) {
    const Nanoseconds next = now_ - now_ % turn_ns + turn_ns;
    if (next > now) break;
    now_ = next;
    const std::set<Place> places = crowded_;
    for (const Place& place : places) take_turns(place);
  }
  now_ = now;
}

void SimulatedKernel::account(KernelEvent& event) const {
  const Nanoseconds from = std::exchange(event.since_ns, now_);
  if (event.state == EventState::kActive || event.state == EventState::kInactive) {
    event.count.enabled_ns += now_ - from;
  }
  if (event.state != EventState::kActive) return;
  event.count.running_ns += now_ - from;
  if (event.attributes.counts) event.count.value += options_.counts(event.attributes, from, now_);
}

void SimulatedKernel::move_to(KernelEvent& event, EventState state) {
  account(event);
  event.state = state;
  if (state != EventState::kActive) event.counter.reset();
}

void SimulatedKernel::leave_cpu(Task& task) {
  running_.erase(*task.cpu);
  task.cpu.reset();
  for (const auto* list : {&task.context.pinned, &task.context.flexible}) {
    for (const EventNumber number : *list) {
      KernelEvent& event = events_.at(number);
      if (is_enabled(event.state)) move_to(event, EventState::kWaiting);
    }
  }
}

void SimulatedKernel::reschedule_cpu(std::uint32_t cpu) {
  for (PmuIndex pmu = 0; pmu < topology_.pmus.size(); ++pmu) {
    if (topology_.pmus[pmu].cpus.contains(cpu)) reschedule({pmu, cpu});
  }
}

void SimulatedKernel::reschedule(const Place& place) {
  const auto [pmu, cpu] = place;
  std::vector<Candidate> candidates;
  std::vector<EventNumber> numbers;
  const auto gather = [&](const std::vector<EventNumber>& list, ServiceClass service) {
    for (const EventNumber number : list) {
      const KernelEvent& event = events_.at(number);
      const EventAttributes& attributes = event.attributes;
      if (!is_enabled(event.state) || attributes.pmu != place.first ||
          attributes.cpu.value_or(place.second) != place.second) {
        continue;
      }
      candidates.push_back(
          {event.counters, service, attributes.is_exclusive && !event.is_breakpoint});
      numbers.push_back(number);
    }
  };
  const Context& of_cpu = contexts_[place];
  const auto running = running_.find(cpu);
  const Context* of_task = running == running_.end() ? nullptr : &tasks_[running->second].context;
  gather(of_cpu.pinned, ServiceClass::kCpuPinned);
  if (of_task != nullptr) gather(of_task->pinned, ServiceClass::kTaskPinned);
  gather(of_cpu.flexible, ServiceClass::kCpuFlexible);
  if (of_task != nullptr) gather(of_task->flexible, ServiceClass::kTaskFlexible);

  const auto counters = serve(candidates, options_.packing);
  bool is_crowded = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    KernelEvent& event = events_.at(numbers[i]);
    if (counters[i]) {
      move_to(event, EventState::kActive);
      event.counter = counters[i];
    } else {
      move_to(event, event.attributes.is_pinned ? EventState::kError : EventState::kInactive);
      is_crowded = is_crowded || !event.attributes.is_pinned;
    }
  }
  if (is_crowded) {
    crowded_.insert(place);
  } else {
    crowded_.erase(place);
  }
}

void SimulatedKernel::take_turns(const Place& place) {
  take_turns(place, contexts_[place]);
  if (const auto running = running_.find(place.second); running != running_.end()) {
    take_turns(place, tasks_[running->second].context);
  }
  reschedule(place);
}

// Where an event was left out, the first one that is on goes to the end; where none is on, the
// first.
void SimulatedKernel::take_turns(const Place& place, Context& context) {
  std::vector<EventNumber>& list = context.flexible;
  const auto is = [&](EventState state) {
    return [this, &place, state](EventNumber number) {
      const KernelEvent& event = events_.at(number);
      return event.state == state && event.attributes.pmu == place.first;
    };
  };
  const auto left_out = std::find_if(list.begin(), list.end(), is(EventState::kInactive));
  if (left_out == list.end()) return;
  auto first = std::find_if(list.begin(), list.end(), is(EventState::kActive));
  if (first == list.end()) first = left_out;
  std::rotate(first, first + 1, list.end());
}

}  // namespace meterbank::arbiter
