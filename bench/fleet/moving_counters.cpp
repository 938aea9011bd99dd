// SPDX-License-Identifier: Apache-2.0
//
// A provider of COUNTERS counters, of which each changes once in PERIOD_MS by a number that differs
// from one to the next, until standard input ends. Each of HISTOGRAMS distributions gets 100 values
// in that time. With the word "page" there is a row of twelve distributions more, for page_cost.py.
// The scripts of this folder measure what is beside it.
//
// usage: meterbank_moving_counters COUNTERS PERIOD_MS [HISTOGRAMS [page]]
#include <poll.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

constexpr std::array kLatency{
    meterbank::CounterSpec{.id = 1,
                           .name = "Latency",
                           .symbol = "latency",
                           .unit = "s",
                           .form = meterbank::ValueForm::kDistribution,
                           .buckets = {.scale = 3, .least = 1e-6, .most = 10}}};
constexpr meterbank::CountersetSpec kDistributions{.name = "Moving Distributions",
                                                   .symbol = "moving_distributions",
                                                   .label = "route",
                                                   .counters = kLatency};

constexpr std::array kStages{"accept",  "parse", "route", "lookup", "authorize", "price",
                             "reserve", "pay",   "pack",  "ship",   "notify",    "answer"};
constexpr auto kStageSpecs = [] {
  std::array<meterbank::CounterSpec, kStages.size()> specs{};
  for (std::uint32_t stage = 0; stage < kStages.size(); ++stage) {
    specs[stage] = {.id = stage + 1,
                    .name = kStages[stage],
                    .symbol = kStages[stage],
                    .unit = "s",
                    .form = meterbank::ValueForm::kDistribution,
                    .buckets = {.scale = 3, .least = 1e-6, .most = 10}};
  }
  return specs;
}();
constexpr meterbank::CountersetSpec kPage{
    .name = "Moving Page", .symbol = "moving_page", .label = "route", .counters = kStageSpecs};

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

using Rows = std::vector<meterbank::Instance>;

void move_counters(Rows& rows, std::uint64_t& random) {
  for (meterbank::Instance& row : rows) {
    row.update([&](meterbank::Values& values) noexcept {
      for (std::size_t counter = 0; counter + 1 < kCounters; ++counter) {
        values.add(counter, next(random) % 1000);
      }
      values.set(kCounters - 1, next(random) % 100);
    });
  }
}

// Values within a factor of two of `usual`, one in 64 ten times as large.
void move_distribution(meterbank::Recorder recorder, double usual, std::uint64_t& random) {
  for (unsigned value = 0; value < 100; ++value) {
    const double spread = std::exp2(static_cast<double>(next(random) % 2048) / 1024 +
                                    static_cast<double>(next(random) % 2048) / 1024 - 2);
    recorder.record(usual * spread * (next(random) % 64 == 0 ? 10 : 1));
  }
}

// The usual value of a row is between 40 us and 4 ms.
void move_distributions(Rows& rows, std::uint64_t& random) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    move_distribution(rows[row].recorder(0U), 40e-6 * static_cast<double>(1 + row % 100), random);
  }
}

void move_page(Rows& rows, std::uint64_t& random) {
  for (meterbank::Instance& row : rows) {
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      move_distribution(row.recorder(stage), 40e-6 * static_cast<double>(1 + stage), random);
    }
  }
}

template <typename T>
T must(meterbank::Result<T> result) {
  if (!result) {
    std::cerr << "meterbank_moving_counters: " << result.error().message() << '\n';
    std::exit(3);
  }
  return std::move(*result);
}

Rows make_rows(meterbank::Provider& provider, const meterbank::CountersetSpec& spec,
               std::size_t count) {
  const meterbank::Registration set = must(provider.add(spec));
  Rows rows;
  for (std::size_t row = 0; row < count; ++row) {
    rows.push_back(must(set.create_instance("/api/route/" + std::to_string(row))));
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_page = argc == 5 && argv[4] == std::string_view("page");
  if (argc < 3 || (argc > 4 && !has_page)) {
    std::cerr << "usage: meterbank_moving_counters COUNTERS PERIOD_MS [HISTOGRAMS [page]]\n";
    return 2;
  }
  const std::size_t counters = std::stoul(argv[1]) / kCounters;
  const std::size_t histograms = argc >= 4 ? std::stoul(argv[3]) : 0;
  const std::chrono::milliseconds period(std::stoul(argv[2]));
  meterbank::Provider provider = must(meterbank::Provider::create(
      {.name = "moving", .bytes_max = std::uint64_t{2} << 30, .instances_max = 3'000'000}));
  Rows rows = make_rows(provider, kMoving, counters);
  Rows distributions = make_rows(provider, kDistributions, histograms);
  Rows page = make_rows(provider, kPage, has_page ? 1 : 0);
  std::uint64_t random = 88'172'645'463'325'252U;
  const auto move_all = [&] {
    move_counters(rows, random);
    move_distributions(distributions, random);
    move_page(page, random);
  };
  move_all();
  std::cout << "ready" << std::endl;
  while (!has_ended(period)) move_all();
  return 0;
}
