// SPDX-License-Identifier: Apache-2.0
//
// Counters of this machine's PMUs, and its breakpoints, by perf_event_open.
//
// Each counter is a pinned event that is its own group. The kernel opens pinned events beyond what
// there is and then lets them read nothing, so every event of a CPU is read until it has run before
// it counts as held. An event of a task gets its counter when the task runs, and is only known to
// be lost then. Breakpoints are refused when they are opened, and held by open files alone: to
// pause one is to close it.
//
// All paths are opened when the backend is made; afterwards there are only calls relative to
// directories that are held open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/backend/backend.hpp"
#include "arbiter/backend/perf/discovery.hpp"
#include "arbiter/backend/perf/outsiders.hpp"
#include "arbiter/backend/perf/perf_calls.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

struct PerfOptions {
  std::string sysfs = "/sys";
  std::string proc = "/proc";
  DiscoveryOptions discovery = {};
  std::shared_ptr<PerfCalls> calls = std::make_shared<PerfCalls>();
};

class PerfBackend final : public Backend {
 public:
  // Errors: kNoDirectory; those of discover().
  [[nodiscard]] static Result<std::unique_ptr<PerfBackend>> open(const PerfOptions& options);
  ~PerfBackend() override;

  [[nodiscard]] const Machine& machine() const override;
  [[nodiscard]] std::string why_no_pmu() const override;

  OpenOutcome open(CarrierNumber carrier, std::span<const Opening> openings) override;
  OpenOutcome take_back(CarrierNumber carrier, std::span<const Opening> openings,
                        std::vector<UniqueFd> kept) override;
  void close(CarrierNumber carrier) override;
  // True at once but where a descriptor was passed on, and is open somewhere.
  [[nodiscard]] bool has_let_go(CarrierNumber carrier) override;
  void pause(CarrierNumber carrier) override;
  OpenOutcome resume(CarrierNumber carrier) override;
  [[nodiscard]] std::vector<Reading> read(CarrierNumber carrier) override;

  [[nodiscard]] std::uint32_t probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                    std::uint32_t at_most) override;
  std::uint32_t guard(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counters) override;

  [[nodiscard]] int descriptor(CarrierNumber carrier, std::uint32_t opening) override;
  [[nodiscard]] std::vector<Outsider> survey() override;
  [[nodiscard]] CpuSet online() override;
  // Of carriers with hardware counters. Kernels before 6.15 tell nothing: sample once a second.
  // read() makes a descriptor silent again.
  [[nodiscard]] std::map<int, CarrierNumber> watched() const override;

  // A carrier without openings was closed, and a client has duplicates of its events.
  [[nodiscard]] std::vector<SavedCarrier> save() override;
  void adopt(std::vector<SavedCarrier> saved) override;

 private:
  struct Counter {
    Opening opening;
    EventFile file = {};
    Reading before = {};  // counted by events that were closed
    Reading last = {};
  };
  struct Held {
    std::vector<Counter> counters;
    bool is_paused = false;
    std::uint64_t paused_ns = 0;  // CLOCK_MONOTONIC, since when it is
    bool is_hardware = false;     // one of them is
    UniqueFd watch;               // an epoll that knows the events; not all carriers have one
  };
  // Events that were closed here and may be open elsewhere: an epoll forgets an event when its last
  // descriptor, anywhere, is closed.
  struct Limbo {
    UniqueFd watch;
    std::vector<int> descriptors;  // the numbers that they had
    bool was_seen = false;
  };

  PerfBackend(std::shared_ptr<PerfCalls> calls, Discovered discovered, UniqueFd own_files,
              UniqueFd online, int proc);

  [[nodiscard]] OpenOutcome try_open(Counter& counter);
  [[nodiscard]] OpenOutcome count_on(Counter& counter);
  // Whether it has what it needs; closes nothing.
  [[nodiscard]] bool is_counting(const Counter& counter);
  [[nodiscard]] OpenFault fault_of(int system_error, const Opening& opening);
  void watch_events(Held& held);
  static void silence(const Held& held);  // until there is something new
  // Continues with another event if the one that there is does not come back.
  [[nodiscard]] OpenOutcome resume_counter(Counter& counter);
  // A lease that takes turns wants its counters all the time, so time without them is enabled, not
  // running. Not for tasks, because it is unknown whether they ran.
  static void count_pause(Held& held);
  // Pinned events of CPUs go before those of tasks, which then need to be enabled again.
  void revive_tasks();
  [[nodiscard]] Reading read_counter(Counter& counter);

  std::shared_ptr<PerfCalls> calls_;
  Discovered discovered_;
  UniqueFd own_files_;  // /proc/self/fdinfo
  UniqueFd online_;
  OutsiderSearch outsiders_;
  std::map<CarrierNumber, Held> held_;
  std::map<CarrierNumber, Limbo> limbo_;
  std::map<std::pair<PmuIndex, std::uint32_t>, std::vector<EventFile>> guards_;
};

}  // namespace meterbank::arbiter
