// SPDX-License-Identifier: Apache-2.0
//
// A provider of the sets in every_meaning.toml whose counters move until its standard input ends.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

#include "every_meaning.hpp"

namespace {

namespace em = every_meaning;

constexpr int kStepMs = 50;

void step(em::EveryMeaningInstance& aisle, std::uint64_t now_ns) {
  constexpr std::uint64_t kStepNs = 50'000'000;
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  aisle.update([now_ns](em::EveryMeaningUpdate& row) noexcept {
    row.add_sold(3U);
    row.add_label_bytes(2U);
    row.add_busy(kStepNs / 4);
    row.add_not_idle(kStepNs / 400);
    row.add_queue_length(kStepNs / 50);
    row.add_hits(1U);
    row.add_lookups(4U);
    row.add_items_per_customer(6U);
    row.add_customers(2U);
    row.record_serving_time(0.5);
    row.record_serving_time(2.0);
    row.set_stock(40U);
    row.set_temperature(4.5);
    row.set_full(1U);
    row.set_room(4U);
    row.set_open_since(kSecondNs);
    row.set_clock(now_ns);
    row.set_clock_frequency(kSecondNs);
    row.set_state("open");
  });
}

bool has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, kStepMs) > 0;
}

}  // namespace

int main() {
  auto provider = meterbank::Provider::create({.name = "shop"});
  if (!provider) {
    std::cerr << provider.error().message() << '\n';
    return 3;
  }
  auto aisles = em::EveryMeaning::add(*provider);
  auto doors = em::OneRow::add(*provider);
  if (!aisles || !doors) return 3;
  std::vector<em::EveryMeaningInstance> rows;
  for (const std::string_view name : {"fruit", "say \"bread\" {{ or }} ü"}) {
    rows.push_back(*aisles->create(name));
  }
  auto door = *doors->create();
  std::cout << "ready" << std::endl;
  do {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    for (em::EveryMeaningInstance& row : rows) step(row, static_cast<std::uint64_t>(now_ns));
    door.add_opened(1U);
  } while (!has_ended());
  return 0;
}
