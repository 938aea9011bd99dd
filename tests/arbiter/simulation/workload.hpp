// SPDX-License-Identifier: Apache-2.0
//
// What happens on a machine whose counters are lent: requests of all sizes, clients that crash,
// outsiders, the watchdog, CPUs that go and come back. The same seed gives the same events; any
// lender of counters can be measured with them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "simulated_world.hpp"

namespace meterbank::arbiter {

enum class Happening : std::uint8_t {
  kRequest,       // client `who` asks, and gives back after `span` if it was granted
  kCrash,         // client `who` dies, and another one takes its place
  kOutsider,      // a process opens `count` pinned events on CPU `who`, for `span`
  kWatchdogFlip,  // is switched off, or on again
  kCpuFlip        // CPU `who` goes offline, or comes back
};

struct WorkloadEvent {
  Nanoseconds at_ns = 0;  // from the beginning
  Happening what = Happening::kRequest;
  std::uint32_t who = 0;
  std::uint32_t count = 0;
  Nanoseconds span_ns = 0;
  pmu::Allocate asked = {};
};

struct WorkloadShape {
  std::uint32_t seed = 1;
  std::uint32_t clients = 16;
  std::uint32_t requests = 400;
  Nanoseconds mean_gap_ns = 200 * kMillisecond;  // between two requests
  Nanoseconds mean_hold_ns = 2 * kSecond;
  Nanoseconds wait_ns = 20 * kSecond;
  std::uint32_t cpus_max = 4;              // of one request
  std::uint32_t cpus_used = 8;             // of the machine
  std::uint32_t counters_max = 4;          // of one request, on a CPU
  std::uint32_t whole_permille = 20;       // of requests, for a PMU alone
  std::uint32_t disturbed_permille = 100;  // of events, others than requests
};

class Workload {
 public:
  Workload(const Topology& topology, const WorkloadShape& shape)
      : topology_(topology), shape_(shape), random_(shape.seed) {}

  [[nodiscard]] std::vector<WorkloadEvent> events() {
    std::vector<WorkloadEvent> events;
    Nanoseconds time = 0;
    for (std::uint32_t left = shape_.requests; left != 0; --left) {
      time += about(shape_.mean_gap_ns);
      events.push_back(below(1000) < shape_.disturbed_permille ? disturbance() : request());
      events.back().at_ns = time;
    }
    return events;
  }
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }
  // A request that some client could make.
  [[nodiscard]] WorkloadEvent request() {
    WorkloadEvent event;
    event.who = below(shape_.clients);
    event.span_ns = about(shape_.mean_hold_ns);
    const PmuIndex pmu = below(static_cast<std::uint32_t>(topology_.pmus.size()));
    const CpuSet cpus = some_of(topology_.pmus[pmu].cpus);
    std::vector<Item> items;
    if (below(1000) >= shape_.whole_permille) {
      for (std::uint32_t left = 1 + below(shape_.counters_max); left != 0; --left) {
        const Event one = some_event(pmu);
        items.push_back(counters_for_event(1, one.code, one.unit_mask));
      }
    }
    event.asked = asking(cpus, std::move(items), static_cast<pmu::Priority>(below(4)));
    event.asked.head.pmu = wire_name(topology_.pmus[pmu].name);
    event.asked.head.wait_ns = shape_.wait_ns;
    event.asked.head.hold_ns = event.span_ns;
    return event;
  }

 private:
  // Half to one and a half of it: bounded, so that what must happen within a time can be said.
  [[nodiscard]] Nanoseconds about(Nanoseconds mean) { return mean / 2 + random_() % (mean + 1); }

  [[nodiscard]] CpuSet some_of(const CpuSet& all) {
    const std::vector<std::uint32_t> numbers = all.numbers();
    const auto used = std::min(shape_.cpus_used, static_cast<std::uint32_t>(numbers.size()));
    CpuSet cpus;
    for (std::uint32_t left = 1 + below(std::min(shape_.cpus_max, used)); left != 0; --left) {
      cpus.add(numbers[below(used)]);
    }
    return cpus;
  }
  [[nodiscard]] Event some_event(PmuIndex pmu) {
    std::vector<const EventRule*> rules;
    for (const EventRule& rule : topology_.events) {
      if (rule.pmu == pmu) rules.push_back(&rule);
    }
    if (rules.empty() || below(2) == 0) return {.code = 0xfe, .unit_mask = 0xff};
    const EventRule& rule = *rules[below(static_cast<std::uint32_t>(rules.size()))];
    return {.code = rule.first, .unit_mask = rule.unit_mask.value_or(0xf0)};
  }
  [[nodiscard]] WorkloadEvent disturbance() {
    constexpr std::array kKinds = {Happening::kCrash,        Happening::kCrash,
                                   Happening::kOutsider,     Happening::kOutsider,
                                   Happening::kWatchdogFlip, Happening::kCpuFlip};
    WorkloadEvent event;
    event.what = kKinds.at(below(kKinds.size()));
    const std::vector<std::uint32_t> cpus = topology_.pmus.front().cpus.numbers();
    const auto used = std::min(shape_.cpus_used, static_cast<std::uint32_t>(cpus.size()));
    event.who = event.what == Happening::kCrash ? below(shape_.clients) : cpus[below(used)];
    event.count = 1 + below(2);
    event.span_ns = about(shape_.mean_hold_ns);
    return event;
  }

  Topology topology_;
  WorkloadShape shape_;
  std::mt19937 random_;
};

}  // namespace meterbank::arbiter
