// SPDX-License-Identifier: Apache-2.0
//
// Requests of all sizes, crashes, outsiders, watchdogs and CPUs that come and go, on every machine:
// whatever happens, each request is answered once, what is leased is there, and nothing is left.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../support/depth.hpp"
#include "../../support/sanitizers.hpp"
#include "simulated_world.hpp"
#include "workload.hpp"

namespace meterbank::arbiter {
namespace {

[[nodiscard]] std::uint32_t requests_of_a_storm() {
  return static_cast<std::uint32_t>(test::depth(test::kHasSanitizer ? 30 : 80, 1500));
}

struct Outcome {
  std::uint32_t asked = 0, granted = 0, refused = 0, unanswered = 0;
  std::uint32_t answered_twice = 0;
  std::uint32_t tokens_repeated = 0;
  std::uint32_t happenings = 0;  // others than requests
  std::optional<std::string> contradiction;
  std::optional<std::string> leftover;
};

class Storm {
 public:
  Storm(const Topology& topology, const WorkloadShape& shape, const WorldOptions& options)
      : world_(topology, options), events_(Workload(topology, shape).events()) {
    for (std::uint32_t i = 0; i < shape.clients; ++i) clients_.push_back(world_.connect());
    begin_ns_ = world_.now();
  }

  Outcome run() {
    for (const WorkloadEvent& event : events_) {
      pass_until(begin_ns_ + event.at_ns);
      happen(event);
      // A lease is only as good as its last sample.
      world_.sample();
      if (!outcome_.contradiction) outcome_.contradiction = world_.contradiction();
    }
    calm_down();
    for (const auto& [request, span] : open_) note(request);
    outcome_.leftover = world_.leftover();
    return outcome_;
  }

 private:
  void pass_until(Nanoseconds until) {
    // Leases are given back, and outsiders leave, when their time is over.
    while (!due_.empty() && due_.begin()->first <= until) {
      const auto [time, what] = *due_.begin();
      due_.erase(due_.begin());
      if (time > world_.now()) world_.pass(time - world_.now());
      take_back(what);
      look_for_grants();
    }
    if (until > world_.now()) world_.pass(until - world_.now());
    look_for_grants();
  }

  struct Due {
    ClientNumber client = 0;
    pmu::Token token = 0;       // to be freed
    std::uint32_t process = 0;  // or to end
  };
  void take_back(const Due& due) {
    if (due.token != 0) {
      world_.say(due.client, pmu::Free{due.token});
    } else {
      world_.kernel.end_process(due.process);
    }
  }

  void happen(const WorkloadEvent& event) {
    outcome_.happenings += event.what == Happening::kRequest ? 0U : 1U;
    switch (event.what) {
      case Happening::kRequest: {
        const ClientNumber client = clients_[event.who];
        const std::uint64_t request = world_.say(client, event.asked);
        open_[request] = {client, event.span_ns};
        ++outcome_.asked;
        return look_for_grants();
      }
      case Happening::kCrash:
        world_.disconnect(std::exchange(clients_[event.who], world_.connect()));
        return;
      case Happening::kOutsider: {
        const std::uint32_t process = world_.kernel.start_process("perf", 1000);
        for (std::uint32_t i = 0; i < event.count; ++i) {
          (void)world_.kernel.open(process,
                                   {.event = {.code = 0xfe, .unit_mask = 0xff}, .cpu = event.who});
        }
        due_.emplace(world_.now() + event.span_ns, Due{0, 0, process});
        return;
      }
      case Happening::kWatchdogFlip:
        has_watchdog_ = !has_watchdog_;
        return world_.kernel.set_watchdog(has_watchdog_);
      case Happening::kCpuFlip: {
        const bool is_online = world_.kernel.online().contains(event.who);
        return world_.kernel.set_online(event.who, !is_online);
      }
    }
  }

  void look_for_grants() {
    for (auto request = open_.begin(); request != open_.end();) {
      const auto& [client, span] = request->second;
      const pmu::Token token = world_.token(request->first);
      const bool is_answered =
          token != 0 || world_.answer<pmu::Refused>(request->first).has_value();
      if (!is_answered) {
        ++request;
        continue;
      }
      note(request->first);
      if (token != 0) due_.emplace(world_.now() + span, Due{client, token, 0});
      request = open_.erase(request);
    }
  }

  void note(std::uint64_t request) {
    std::uint32_t answers = 0;
    for (const pmu::ArbiterMessage& message : world_.answers[request]) {
      answers += std::holds_alternative<pmu::Queued>(message) ? 0U : 1U;
    }
    outcome_.unanswered += answers == 0 ? 1U : 0U;
    outcome_.answered_twice += answers > 1 ? 1U : 0U;
    outcome_.refused += world_.answer<pmu::Refused>(request) ? 1U : 0U;
    const pmu::Token token = world_.token(request);
    outcome_.granted += token != 0 ? 1U : 0U;
    if (token != 0 && !tokens_.insert(token).second) ++outcome_.tokens_repeated;
  }

  // Outsiders leave, CPUs are back, every client is served or gives up, and then all clients go.
  void calm_down() {
    for (const auto& [time, what] : std::exchange(due_, {})) {
      if (what.process != 0) take_back(what);
    }
    if (!has_watchdog_) world_.kernel.set_watchdog(true);
    for (const std::uint32_t cpu : world_.backend.machine().possible.numbers()) {
      world_.kernel.set_online(cpu, true);
    }
    pass_until(world_.now() + 60 * kSecond);
    // Those of clients that crashed are not answered any more.
    std::erase_if(open_, [&](const auto& entry) {
      return std::find(clients_.begin(), clients_.end(), entry.second.first) == clients_.end();
    });
    for (const ClientNumber client : clients_) world_.disconnect(client);
    world_.pass(10 * kSecond);
  }

  SimulatedWorld world_;
  std::vector<WorkloadEvent> events_;
  Nanoseconds begin_ns_ = 0;
  std::vector<ClientNumber> clients_;
  std::map<std::uint64_t, std::pair<ClientNumber, Nanoseconds>> open_;  // requests not yet answered
  std::multimap<Nanoseconds, Due> due_;
  std::set<pmu::Token> tokens_;
  bool has_watchdog_ = true;
  Outcome outcome_;
};

[[nodiscard]] WorkloadShape shape_for(std::uint32_t seed) {
  WorkloadShape shape;
  shape.seed = seed;
  shape.clients = 8;
  shape.requests = requests_of_a_storm();
  shape.mean_gap_ns = 300 * kMillisecond;
  shape.wait_ns = 5 * kSecond;
  return shape;
}

[[nodiscard]] Outcome storm(const std::string& name, std::uint32_t seed,
                            const WorldOptions& options = {}) {
  return Storm(with_few_cpus(topology_named(name), 4), shape_for(seed), options).run();
}

class SimulatedStorm : public testing::TestWithParam<const char*> {};

TEST_P(SimulatedStorm, AnswersEachRequestOnceAndLeavesNothingBehind) {
  const Outcome outcome = storm(GetParam(), 11);
  RecordProperty("asked", static_cast<int>(outcome.asked));
  RecordProperty("granted", static_cast<int>(outcome.granted));
  RecordProperty("refused", static_cast<int>(outcome.refused));
  EXPECT_EQ(outcome.contradiction, std::nullopt);
  EXPECT_EQ(outcome.leftover, std::nullopt);
  EXPECT_EQ(outcome.unanswered, 0U);
  EXPECT_EQ(outcome.answered_twice, 0U);
  EXPECT_EQ(outcome.tokens_repeated, 0U);
  EXPECT_GT(outcome.granted, 0U);
  EXPECT_GT(outcome.happenings, 0U);
}

INSTANTIATE_TEST_SUITE_P(OnAllMachines, SimulatedStorm,
                         testing::Values("skylake-sp", "icelake-sp", "sapphire-rapids-2s",
                                         "alder-lake", "zen2", "zen3", "zen4", "zen5",
                                         "neoverse-n1", "one-counter"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SimulatedStormControl, SeesAServerThatForgetsToClose) {
  WorldOptions options;
  options.forgets_closing = true;
  EXPECT_NE(storm("skylake-sp", 11, options).leftover, std::nullopt);
}

TEST(SimulatedStormControl, GoesTheSameWayForTheSameSeed) {
  const Outcome one = storm("zen3", 5);
  const Outcome other = storm("zen3", 5);
  EXPECT_EQ(one.granted, other.granted);
  EXPECT_EQ(one.refused, other.refused);
}

}  // namespace
}  // namespace meterbank::arbiter
