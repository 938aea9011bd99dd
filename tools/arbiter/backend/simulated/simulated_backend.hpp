// SPDX-License-Identifier: Apache-2.0
//
// A machine that is not there, for the arbiter's server (--simulate) and for tests: what the server
// asks of the kernel, asked of a model of it.
//
// There are no descriptors: none is passed to clients, none survives a new program image; counters
// that such an image adopts are opened anew and count on from where they were.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arbiter/backend/backend.hpp"
#include "arbiter/backend/simulated/simulated_kernel.hpp"

namespace meterbank::arbiter {

class SimulatedBackend final : public Backend {
 public:
  // `clock`: CLOCK_MONOTONIC, or what a test says it is.
  SimulatedBackend(Topology topology, KernelClock clock, KernelOptions options = {});

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] std::string why_no_pmu() const override;
  OpenOutcome open(CarrierNumber carrier, std::span<const Opening> openings) override;
  void close(CarrierNumber carrier) override;
  [[nodiscard]] bool has_let_go(CarrierNumber carrier) override;
  void pause(CarrierNumber carrier) override;
  OpenOutcome resume(CarrierNumber carrier) override;
  [[nodiscard]] std::vector<Reading> read(CarrierNumber carrier) override;
  // For Event(): any that there is, so that every counter can be had by one or the other.
  [[nodiscard]] std::uint32_t probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                    std::uint32_t at_most) override;
  std::uint32_t guard(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counters) override;
  [[nodiscard]] bool has_descriptors() const override { return false; }
  [[nodiscard]] int descriptor(CarrierNumber, std::uint32_t) override { return -1; }
  [[nodiscard]] std::vector<Outsider> survey() override;
  [[nodiscard]] CpuSet online() override { return kernel_.online(); }
  [[nodiscard]] std::vector<SavedCarrier> save() override;
  void adopt(std::vector<SavedCarrier> saved) override;

  // What else happens on the machine: outsiders, tasks, the watchdog, CPUs that come and go.
  [[nodiscard]] SimulatedKernel& kernel() noexcept { return kernel_; }
  // The process that the events of carriers belong to.
  [[nodiscard]] std::uint32_t own_process() const noexcept { return own_process_; }
  // Of a carrier, as many as its openings, but for breakpoints that are paused.
  [[nodiscard]] std::vector<EventNumber> events_of(CarrierNumber carrier) const;

 private:
  using Place = std::pair<PmuIndex, std::uint32_t>;
  struct OpenCarrier {
    std::vector<Opening> openings;
    std::vector<EventNumber> events;  // 0: closed
    std::vector<Reading> before;      // counted by events that are closed
    std::vector<Reading> last;
    bool is_paused = false;
    Nanoseconds paused_at_ns = 0;  // the last time
    Nanoseconds paused_ns = 0;     // in all, before that
  };
  struct GuardedPlace {
    std::uint32_t wanted = 0;
    std::vector<EventNumber> events;
  };

  [[nodiscard]] OpenOutcome start(OpenCarrier& carrier);
  [[nodiscard]] OpenOutcome start_once(OpenCarrier& carrier);
  void close_events(OpenCarrier& carrier);
  void retire(OpenCarrier& carrier, std::size_t i);
  void refresh(OpenCarrier& carrier);
  [[nodiscard]] std::vector<EventNumber> fill(const Place& place, const std::vector<Event>& events,
                                              std::uint32_t at_most);
  [[nodiscard]] std::vector<Place> guarded_places(std::span<const Opening> openings) const;
  void drop_guards(const Place& place);
  void fill_guards(const Place& place);
  void revive_tasks();

  SimulatedKernel kernel_;
  Machine machine_;
  std::uint32_t own_process_;
  std::map<CarrierNumber, OpenCarrier> carriers_;
  std::map<CarrierNumber, std::vector<EventNumber>> closed_;  // that another process still has open
  std::map<Place, GuardedPlace> guards_;
  std::vector<std::vector<Event>> guard_events_;  // by PMU, the most particular ones first
  std::map<std::tuple<std::string, std::uint32_t, PmuIndex>, Nanoseconds> first_seen_;
  KernelClock clock_;
};

// As the server wants it: any task that a client names is taken for one that runs.
[[nodiscard]] std::unique_ptr<Backend> make_simulated_backend(Topology topology, KernelClock clock);

}  // namespace meterbank::arbiter
