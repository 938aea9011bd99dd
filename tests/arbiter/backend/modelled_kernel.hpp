// SPDX-License-Identifier: Apache-2.0
//
// A kernel with the hardware that a test wants: sysfs is a folder, and perf events are booked on
// counters that are numbers. What it does with pinned events was measured on Linux 6.1.
#pragma once

#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "../../support/temporary_directory.hpp"
#include "arbiter/backend/perf/perf_backend.hpp"

namespace meterbank::arbiter {

// Opening more events than there are counters succeeds; those beyond read nothing, until they are
// enabled again when there is room.
class ModelledKernel : public PerfCalls {
 public:
  // Of one PMU, on each CPU.
  struct Counters {
    std::uint32_t general = 0;
    std::uint32_t for_cycles = 0;  // these count nothing else
    std::set<std::uint64_t> generic = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                       PERF_COUNT_HW_BRANCH_INSTRUCTIONS};
  };
  std::map<std::uint32_t, Counters> pmus;  // by type
  std::uint32_t core_type = 4;             // of events without a type
  int fault = 0;                           // of every open on a CPU
  int fault_of_tasks = EACCES;             // of every open for a task
  bool counts_breakpoints = true;
  int failing_open = -1;  // this one, from now on, fails with EMFILE

  bool has_counting_breakpoints() override { return counts_breakpoints; }
  int open(const perf_event_attr& attributes, pid_t task, int cpu) override {
    return open_in_group(attributes, task, cpu, -1);
  }

  // A group that would not fit on an empty PMU is refused. One whose leader is off does not run.
  int open_in_group(const perf_event_attr& attributes, pid_t task, int cpu, int leader) override {
    if (--failing_open == 0) return -EMFILE;
    if (task < 0 && fault != 0) return -fault;
    if (task >= 0 && fault_of_tasks != 0) return -fault_of_tasks;
    std::uint32_t type = attributes.type;
    if (type == PERF_TYPE_HARDWARE) {
      type = attributes.config >> 32 == 0 ? core_type
                                          : static_cast<std::uint32_t>(attributes.config >> 32);
    }
    if (type == PERF_TYPE_BREAKPOINT) return PerfCalls::open_in_group(attributes, task, cpu, -1);
    const auto pmu = pmus.find(type);
    const bool is_software = type == PERF_TYPE_SOFTWARE;
    if (pmu == pmus.end() && !is_software) return -ENOENT;
    const std::uint64_t number = attributes.config & 0xffffffff;
    const bool is_generic = attributes.type == PERF_TYPE_HARDWARE;
    if (is_generic && !pmu->second.generic.contains(number)) return -ENOENT;
    const bool is_cycles = is_generic && number == PERF_COUNT_HW_CPU_CYCLES;
    if (leader >= 0 && !fits_in_group(leader, type, is_cycles)) return -EINVAL;
    // Writing ends of pipes are in error when the other end is closed, and can be watched for it.
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) < 0) return -errno;
    const int descriptor = ends[1];
    Event event;
    event.type = type;
    event.cpu = cpu;
    event.attributes = attributes;
    event.is_cycles = is_cycles;
    event.leader = leader;
    event.id = ++last_id_;
    event.is_on = attributes.disabled == 0 && leader < 0 && !is_software && fits(event);
    event.silence = UniqueFd(ends[0]);
    events_.insert_or_assign(descriptor, std::move(event));
    return descriptor;
  }

  std::int64_t read(int descriptor, std::span<std::uint64_t> words) override {
    const auto found = events_.find(descriptor);
    if (found == events_.end()) return PerfCalls::read(descriptor, words);
    Event& event = found->second;
    if (!event.is_on && !event.is_disabled) return 0;
    if (event.is_on) event.value += 5;
    if (event.is_on) event.time += 1000;
    const std::array<std::uint64_t, 4> answer = {event.value, event.time, event.time, event.id};
    std::copy(answer.begin(), answer.end(), words.begin());
    return sizeof answer;
  }

  int control(int descriptor, unsigned long request, void* argument) override {
    const auto found = events_.find(descriptor);
    if (found == events_.end()) return PerfCalls::control(descriptor, request, argument);
    Event& event = found->second;
    if (request == PERF_EVENT_IOC_ID) *static_cast<std::uint64_t*>(argument) = event.id;
    if (request == PERF_EVENT_IOC_DISABLE) {
      event.is_on = false;
      event.is_disabled = true;
    }
    if (request == PERF_EVENT_IOC_ENABLE) {
      event.is_disabled = false;
      event.is_on = event.is_on || fits(event);
    }
    return 0;
  }

  void close(int descriptor) override {
    events_.erase(descriptor);
    ::close(descriptor);
  }

  // Another process takes the counter of an event that has one, and polling tells, as since Linux
  // 6.15.
  void steal() {
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
      if (!std::exchange(event->second.is_on, false)) continue;
      event->second.silence = UniqueFd();
      return;
    }
  }
  [[nodiscard]] std::size_t open_events() const noexcept { return events_.size(); }
  [[nodiscard]] const perf_event_attr& newest() const {
    return std::max_element(events_.begin(), events_.end(),
                            [](const auto& a, const auto& b) { return a.second.id < b.second.id; })
        ->second.attributes;
  }

 private:
  struct Event {
    std::uint32_t type = 0;
    int cpu = -1;
    perf_event_attr attributes = {};
    bool is_cycles = false;
    bool is_on = false;
    bool is_disabled = false;
    int leader = -1;
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    std::uint64_t time = 0;
    UniqueFd silence;
  };

  [[nodiscard]] bool fits_in_group(int leader, std::uint32_t type, bool is_cycles) const {
    std::uint32_t cycles = is_cycles ? 1 : 0;
    std::uint32_t others = is_cycles ? 0 : 1;
    for (const auto& [descriptor, event] : events_) {
      if (event.leader == leader) ++(event.is_cycles ? cycles : others);
    }
    const Counters& counters = pmus.at(type);
    return others + (cycles - std::min(cycles, counters.for_cycles)) <= counters.general;
  }

  [[nodiscard]] bool fits(const Event& wanted) const {
    const Counters& counters = pmus.at(wanted.type);
    std::uint32_t cycles = wanted.is_cycles ? 1 : 0;
    std::uint32_t others = wanted.is_cycles ? 0 : 1;
    for (const auto& [descriptor, event] : events_) {
      if (!event.is_on || event.type != wanted.type || event.cpu != wanted.cpu) continue;
      (event.is_cycles ? cycles : others) += 1;
    }
    return others + cycles - std::min(cycles, counters.for_cycles) <= counters.general;
  }

  std::map<int, Event> events_;
  std::uint64_t last_id_ = 0;
};

// The folders that a PerfBackend is given.
class ModelledFolders {
 public:
  ModelledFolders() {
    write("sys/devices/system/cpu/possible", "0-3\n");
    write("sys/devices/system/cpu/online", "0-3\n");
    write("proc/sys/kernel/nmi_watchdog", "0\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // Of a PMU.
  void describe(const std::string& pmu, const std::string& name, const std::string& text) const {
    write("sys/bus/event_source/devices/" + pmu + "/" + name, text);
  }
  // A PMU of a core as x86 has it.
  void add_core(const std::string& pmu, const std::string& type) const {
    describe(pmu, "type", type + "\n");
    describe(pmu, "format/event", "config:0-7\n");
    describe(pmu, "format/umask", "config:8-15\n");
    describe(pmu, "events/cpu-cycles", "event=0x3c\n");
    describe(pmu, "events/instructions", "event=0xc0\n");
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }
  [[nodiscard]] PerfOptions options(std::shared_ptr<ModelledKernel> kernel,
                                    CoreCounters counters = {}) const {
    PerfOptions options;
    options.sysfs = path("sys");
    options.proc = path("proc");
    options.calls = std::move(kernel);
    options.discovery.has_libpfm_names = false;
    options.discovery.core_counters = [counters](std::uint32_t) { return counters; };
    return options;
  }

 private:
  test::TemporaryDirectory folder_;
};

}  // namespace meterbank::arbiter
