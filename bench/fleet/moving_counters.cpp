// SPDX-License-Identifier: Apache-2.0
//
// A provider of COUNTERS counters, of which each changes once in PERIOD_MS by a number that differs
// from one to the next, until standard input ends. bench/fleet_cost.py measures the agent beside
// it.
//
// usage: meterbank_moving_counters COUNTERS PERIOD_MS
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "meterbank/publisher.hpp"

namespace {

constexpr std::size_t kCounters = 8;

constexpr std::array<meterbank::CounterSpec, kCounters> kSpecs = {{
    {.id = 1, .name = "Requests/sec", .symbol = "requests", .unit = "{request}"},
    {.id = 2, .name = "Errors/sec", .symbol = "errors", .unit = "{error}"},
    {.id = 3, .name = "Bytes Received/sec", .symbol = "bytes_received", .unit = "By"},
    {.id = 4, .name = "Bytes Sent/sec", .symbol = "bytes_sent", .unit = "By"},
    {.id = 5, .name = "Hits/sec", .symbol = "hits", .unit = "{hit}"},
    {.id = 6, .name = "Misses/sec", .symbol = "misses", .unit = "{miss}"},
    {.id = 7, .name = "Retries/sec", .symbol = "retries", .unit = "{retry}"},
    {.id = 8,
     .name = "Waiting",
     .symbol = "waiting",
     .type = meterbank::CounterType::kLargeRawCount,
     .unit = "{request}"},
}};

constexpr meterbank::CountersetSpec kMoving{.name = "Moving Counters",
                                            .symbol = "moving",
                                            .help = "Counters that change all the time.",
                                            .label = "route",
                                            .many = true,
                                            .counters = kSpecs};

bool has_ended(std::chrono::milliseconds wait) {
  pollfd input{.fd = 0, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, static_cast<int>(wait.count())) > 0;
}

// xorshift: the numbers are the same in each run.
std::uint64_t next(std::uint64_t& state) noexcept {
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  return state;
}

void move_all(std::vector<meterbank::Instance>& rows, std::uint64_t& random) {
  for (meterbank::Instance& row : rows) {
    row.update([&](meterbank::Values& values) noexcept {
      for (std::size_t counter = 0; counter + 1 < kCounters; ++counter) {
        values.add(counter, next(random) % 1000);
      }
      values.set(kCounters - 1, next(random) % 100);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: meterbank_moving_counters COUNTERS PERIOD_MS\n";
    return 2;
  }
  const auto rows = static_cast<std::uint32_t>(std::stoul(argv[1]) / kCounters);
  const std::chrono::milliseconds period(std::stoul(argv[2]));
  auto provider = meterbank::Provider::create(
      {.name = "moving", .bytes_max = std::uint64_t{2} << 30, .instances_max = rows + 1});
  if (!provider) {
    std::cerr << provider.error().message() << '\n';
    return 3;
  }
  const auto set = provider->add(kMoving);
  std::vector<meterbank::Instance> instances;
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto instance = set->create_instance("/api/route/" + std::to_string(row));
    if (!instance) {
      std::cerr << instance.error().message() << '\n';
      return 3;
    }
    instances.push_back(std::move(*instance));
  }
  std::uint64_t random = 88'172'645'463'325'252U;
  move_all(instances, random);
  std::cout << "ready" << std::endl;
  while (!has_ended(period)) move_all(instances, random);
  return 0;
}
