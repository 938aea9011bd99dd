// SPDX-License-Identifier: Apache-2.0
//
// What the kernel does with performance events, as far as a lender of counters can see it: a
// machine from a topology, the processes that open events on it, the tasks that run, a clock.
//
//            enable                               gets a counter
//   off ------------------> inactive <--------------------------------------> active
//    ^                         |         has to make room (flexible)             |
//    |  disable                |  pinned, and there is no counter                |
//    +-------------------------+-----------------> error <-----------------------+
//                                                    |  enable: tries once more
//
//   * Opening says yes to whatever one event alone could count on an empty PMU. Whether it has a
//     counter is seen by reading: an event in error reads as nothing, and stays so although
//     counters come free, until it is enabled again.
//   * A pinned event that is off holds nothing. A breakpoint holds its slot from open to close.
//   * Flexible events that do not fit take turns, blindly, every 4 ms.
//   * Events of a task that ends give their counters back at once, even if descriptors are open;
//     breakpoints do not. Events of a CPU that goes offline are dead, and stay so when it returns.
//   * A re-enabled event has the age that it had: it may push out what was opened after it.
//
// Breakpoints are the PMU of that name. Chained counters, event groups and inheritance are left
// out.
//
// One thread. Time is that of the clock it is given; it is looked at with every call, and what the
// kernel did by itself since the last one (taking turns) is made up for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "arbiter/backend/simulated/counter_packing.hpp"
#include "arbiter/core/arbiter.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

using EventNumber = std::uint64_t;  // of an open event; never 0, never used again
using KernelClock = std::function<Nanoseconds()>;

inline constexpr std::string_view kBreakpointPmu = "breakpoint";

struct EventAttributes {
  PmuIndex pmu = 0;
  Event event;
  std::optional<std::uint32_t> cpu = {};  // nothing: wherever its task runs
  std::uint32_t task = 0;                 // 0: whatever runs on the CPU
  bool is_pinned = true;
  bool is_exclusive = false;
  bool is_disabled = false;  // when it is opened
  bool counts = true;  // false: excludes everything that runs, and has its counter none the less
};

enum class EventState : std::uint8_t {
  kOff,
  kError,
  kWaiting,   // its task does not run, or elsewhere
  kInactive,  // without a counter
  kActive
};

struct OpenFailure {
  OpenFault fault = OpenFault::kOther;
  int system_error = 0;
};

struct KernelOptions {
  Packing packing = Packing::kGreedy;
  Nanoseconds turn_ns = 4'000'000;
  // Of what an event counts between two times. Standard: 1 + code % 7 for each nanosecond.
  std::function<std::uint64_t(const EventAttributes&, Nanoseconds from, Nanoseconds to)> counts =
      {};
  // A task that was never started is taken for one that runs, on a CPU of its own while there are
  // any: for a server whose clients are real.
  bool takes_any_task = false;
};

class SimulatedKernel {
 public:
  static constexpr std::uint32_t kItself = 0;  // the process that kernel events belong to

  // Those that the topology calls foreign are the kernel's own, and there from the beginning.
  SimulatedKernel(Topology topology, KernelClock clock, KernelOptions options = {});

  // ---- Processes and tasks ----
  [[nodiscard]] std::uint32_t start_process(std::string name, std::uint32_t uid = 0);
  void end_process(std::uint32_t process);  // with its tasks and descriptors
  [[nodiscard]] std::uint32_t start_task(std::uint32_t process);
  // The task that ran there waits until it is run again.
  void run(std::uint32_t task, std::uint32_t cpu);
  void stop(std::uint32_t task);
  void end_task(std::uint32_t task);

  // ---- Events ----
  [[nodiscard]] tl::expected<EventNumber, OpenFailure> open(std::uint32_t process,
                                                            const EventAttributes& attributes);
  // Another descriptor of it, in a process.
  void duplicate(EventNumber event, std::uint32_t process);
  // One descriptor of the process; with the last one of all the event is gone.
  void close(EventNumber event, std::uint32_t process);
  void enable(EventNumber event);
  void disable(EventNumber event);
  // Nothing: it is in error, or gone.
  [[nodiscard]] std::optional<Reading> read(EventNumber event);
  // The next open but `after` fails so.
  void fail_open(std::uint64_t after, OpenFault fault);

  // ---- The machine ----
  void set_watchdog(bool is_on);  // all that the topology calls foreign
  void set_online(std::uint32_t cpu, bool is_online);

  // ---- To be looked at ----
  struct EventView {
    EventAttributes attributes;
    EventState state = EventState::kOff;
    std::uint32_t opener = kItself;
    std::string who;                       // the opener's name; "kernel watchdog"
    std::optional<std::uint32_t> counter;  // that it is on
    bool holds_slot = false;               // of a breakpoint
    bool is_attached = true;               // false: its task or its CPU has gone
  };
  [[nodiscard]] std::optional<EventView> view(EventNumber event) const;
  [[nodiscard]] std::vector<EventView> views() const;
  struct Process {
    std::string name;
    std::uint32_t uid = 0;
  };
  [[nodiscard]] Process process(std::uint32_t number) const;  // its name outlives it
  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] const CpuSet& online() const noexcept { return online_; }

 private:
  using Place = std::pair<PmuIndex, std::uint32_t>;  // PMU and CPU
  struct KernelEvent {
    EventAttributes attributes;
    CounterMask counters = 0;
    std::uint32_t opener = kItself;
    std::multiset<std::uint32_t> holders;  // processes, once for each descriptor
    EventState state = EventState::kOff;
    std::optional<std::uint32_t> counter = {};
    bool is_breakpoint = false;
    bool is_attached = true;
    Reading count = {};
    Nanoseconds since_ns = 0;  // when `count` was right
  };
  // Those of a CPU, or of a task; the oldest first, flexible ones in the order of their turns.
  struct Context {
    std::vector<EventNumber> pinned, flexible;
  };
  struct Task {
    std::uint32_t process = 0;
    std::optional<std::uint32_t> cpu = {};
    Context context = {};
  };

  [[nodiscard]] std::optional<OpenFailure> fault_of(const EventAttributes& attributes);
  [[nodiscard]] std::optional<OpenFailure> fault_of_breakpoint(
      const EventAttributes& attributes) const;
  [[nodiscard]] CounterMask counters_for(const EventAttributes& attributes) const noexcept;
  [[nodiscard]] EventNumber add(std::uint32_t process, const EventAttributes& attributes,
                                CounterMask counters);
  void add_foreign(const CpuSet& cpus);
  [[nodiscard]] Context& context_of(const KernelEvent& event);
  [[nodiscard]] std::vector<Place> places_of(const KernelEvent& event) const;
  void detach(EventNumber number, KernelEvent& event);
  void destroy(EventNumber number);
  [[nodiscard]] bool takes_up(std::uint32_t task, std::uint32_t process);

  void settle();  // up to what the clock says
  void move_to(KernelEvent& event, EventState state);
  void account(KernelEvent& event) const;
  void leave_cpu(Task& task);
  void reschedule(const Place& place);
  void reschedule_cpu(std::uint32_t cpu);
  void take_turns(const Place& place);
  void take_turns(const Place& place, Context& context);

  Topology topology_;
  KernelClock clock_;
  KernelOptions options_;
  CpuSet online_;
  Nanoseconds now_ = 0;
  EventNumber next_event_ = 1;
  std::uint32_t next_number_ = 1000;  // of processes and tasks
  std::map<std::uint32_t, Process> processes_;
  std::map<std::uint32_t, Task> tasks_;
  std::map<std::uint32_t, std::uint32_t> running_;  // CPU to task
  std::map<EventNumber, KernelEvent> events_;
  std::map<Place, Context> contexts_;
  std::set<Place> crowded_;                     // where flexible events take turns
  std::map<EventNumber, std::size_t> foreign_;  // which of the topology's foreign holders
  bool has_watchdog_ = true;
  std::optional<std::pair<std::uint64_t, OpenFault>> failing_;
};

}  // namespace meterbank::arbiter
