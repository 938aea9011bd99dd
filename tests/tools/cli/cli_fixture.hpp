// SPDX-License-Identifier: Apache-2.0
//
// A shop that publishes into a directory of its own, and the program run against it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::cli {

// With each digit a 9: what is left of a number that changes is its form.
[[nodiscard]] std::string with_nines(std::string text);

struct Outcome {
  int code = -1;
  std::string out, err;

  [[nodiscard]] std::vector<std::string> lines() const;
};

enum class Sales : std::uint32_t { kSold, kStock, kTurnover };

inline constexpr std::array kSalesCounters{CounterSpec{.id = 1,
                                                       .name = "Sold/sec",
                                                       .symbol = "sold",
                                                       .type = CounterType::kBulkCount,
                                                       .unit = "{item}",
                                                       .help = "Items that left the shop."},
                                           CounterSpec{.id = 2,
                                                       .name = "Stock",
                                                       .symbol = "stock",
                                                       .type = CounterType::kLargeRawCount,
                                                       .unit = "{item}",
                                                       .help = "Items in the shop."},
                                           CounterSpec{.id = 3,
                                                       .name = "Label Bytes",
                                                       .symbol = "label_bytes",
                                                       .type = CounterType::kLargeRawCount,
                                                       .unit = "By",
                                                       .help = "Size of the labels."}};
inline constexpr CountersetSpec kSales{.name = "Shop Sales",
                                       .symbol = "shop_sales",
                                       .help = "What a shop sells.",
                                       .label = "aisle",
                                       .counters = kSalesCounters};

inline constexpr std::array kBakeryCounters{CounterSpec{.id = 1,
                                                        .name = "Loaves",
                                                        .symbol = "loaves",
                                                        .type = CounterType::kLargeRawCount,
                                                        .aggregate = kAggregateSum}};
inline constexpr CountersetSpec kBakery{.name = "Bakery",
                                        .symbol = "bakery",
                                        .instances = InstanceKind::kMultipleAggregate,
                                        .counters = kBakeryCounters};

// A stream's target that calls a function at each flush; the flush fails if that is not 0.
class FlushTrap : public std::stringbuf {
 public:
  explicit FlushTrap(std::function<int()> at_flush) : at_flush_(std::move(at_flush)) {}
  int sync() override { return at_flush_(); }

 private:
  std::function<int()> at_flush_;
};

[[nodiscard]] inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CliTest : public ::testing::Test {
 protected:
  CliTest();
  ~CliTest() override;

  void open_shop(const std::vector<std::string>& aisles = {"fruit", "bread"});
  // A set whose rows a reader adds up.
  void open_bakery();
  void close_shop();

  [[nodiscard]] static Outcome run_plainly(const std::vector<std::string>& arguments);
  // Against the directory of this test.
  [[nodiscard]] Outcome meterbank(std::vector<std::string> arguments) const;
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] static std::string read(const std::string& path);

  std::string directory_;
  std::optional<Provider> provider_;
  Registration sales_, ovens_;
  std::vector<Instance> aisles_;
};

}  // namespace meterbank::cli
