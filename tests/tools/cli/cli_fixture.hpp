// SPDX-License-Identifier: Apache-2.0
//
// A shop that publishes into a directory of its own, and the program run against it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::cli {

struct Outcome {
  int code = -1;
  std::string out, err;

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
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

class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "meterbank-cli-XXXXXX");
    directory_ = ::mkdtemp(pattern.data());
  }
  ~CliTest() override {
    close_shop();
    std::filesystem::remove_all(directory_);
  }

  void open_shop(const std::vector<std::string>& aisles = {"fruit", "bread"}) {
    auto provider = Provider::create({.name = "shop", .directory = directory_});
    ASSERT_TRUE(provider) << provider.error().message();
    provider_.emplace(std::move(*provider));
    auto sales = provider_->add(kSales);
    ASSERT_TRUE(sales) << sales.error().message();
    sales_ = *sales;
    for (const auto& aisle : aisles) {
      auto instance = sales_.create_instance(aisle);
      ASSERT_TRUE(instance) << instance.error().message();
      instance->set(Sales::kStock, 17);
      instance->set(Sales::kTurnover, 1'572'864);
      aisles_.push_back(std::move(*instance));
    }
  }
  // A set whose rows a reader adds up.
  void open_bakery() {
    static constexpr std::array kCounters{CounterSpec{.id = 1,
                                                      .name = "Loaves",
                                                      .symbol = "loaves",
                                                      .type = CounterType::kLargeRawCount,
                                                      .aggregate = kAggregateSum}};
    auto ovens = provider_->add({.name = "Bakery",
                                 .symbol = "bakery",
                                 .instances = InstanceKind::kMultipleAggregate,
                                 .counters = kCounters});
    ASSERT_TRUE(ovens) << ovens.error().message();
    for (const char* const oven : {"left", "right"}) {
      auto instance = ovens->create_instance(oven);
      ASSERT_TRUE(instance) << instance.error().message();
      instance->set(0, 20);
      aisles_.push_back(std::move(*instance));
    }
  }
  void close_shop() {
    aisles_.clear();
    provider_.reset();
  }

  [[nodiscard]] Outcome run_plainly(std::vector<std::string> arguments) const {
    std::ostringstream out;
    std::ostringstream err;
    Outcome outcome;
    outcome.code = run(arguments, out, err);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }
  // Against the directory of this test.
  [[nodiscard]] Outcome meterbank(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--dir", directory_});
    return run_plainly(std::move(arguments));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] static std::string read(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::string directory_;
  std::optional<Provider> provider_;
  Registration sales_;
  std::vector<Instance> aisles_;
};

}  // namespace meterbank::cli
