// SPDX-License-Identifier: Apache-2.0
//
// A kitchen that publishes what is more than a whole number.
#pragma once

#include <array>
#include <map>

#include "../cli_fixture.hpp"
#include "../cli_json.hpp"

namespace meterbank::cli {

enum class Dish : std::uint32_t { kServed, kLatency, kTemperature, kBalance, kState };

inline constexpr std::array kDishCounters{
    CounterSpec{.id = 1, .name = "Served/sec", .symbol = "served", .unit = "{dish}"},
    CounterSpec{.id = 2,
                .name = "Latency",
                .symbol = "latency",
                .unit = "ms",
                .help = "From order to table.",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 2, .least = 1, .most = 1024}},
    CounterSpec{.id = 3,
                .name = "Temperature",
                .symbol = "temperature",
                .type = CounterType::kLargeRawCount,
                .unit = "Cel",
                .form = ValueForm::kReal,
                .timed = true},
    CounterSpec{.id = 4,
                .name = "Balance",
                .symbol = "balance",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
    CounterSpec{.id = 5,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 128}};
inline constexpr CountersetSpec kDishes{
    .name = "Dishes", .symbol = "dishes", .label = "dish", .counters = kDishCounters};

class KitchenTest : public CliTest {
 protected:
  KitchenTest() {
    provider_.emplace(*Provider::create({.name = "kitchen", .directory = directory_}));
    dishes_ = *provider_->add(kDishes);
    soup_ = *dishes_.create_instance("soup");
  }
  // 1 ms, 2 ms ... 100 ms.
  void serve_a_hundred() {
    Recorder latency = soup_.recorder(Dish::kLatency);
    for (int i = 1; i <= 100; ++i) latency.record(i);
  }
  // The rows of one sample by counter, of an interval in which nothing happened.
  [[nodiscard]] std::map<std::string, Json> rows_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-f", "json", "-i", "20ms"});
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::map<std::string, Json> rows;
    const auto document = parse_json(outcome.out);
    for (const auto& row : document["samples"]) rows[row["counter"]] = row;
    return rows;
  }
  // Those of a first sample, which speaks of all that was ever recorded.
  [[nodiscard]] std::map<std::string, Json> first_rows_of(
      std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-n", "2", "-f", "jsonl", "-i", "20ms"});
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::map<std::string, Json> rows;
    const auto document = parse_json(outcome.lines().at(0));
    for (const auto& row : document["samples"]) rows[row["counter"]] = row;
    return rows;
  }

  Registration dishes_;
  Instance soup_;
};

}  // namespace meterbank::cli
