// SPDX-License-Identifier: Apache-2.0
//
// A provider whose values change only when it is told to: `sell N` on standard input sells N items
// that take 1, 2, ... N milliseconds, in each aisle.
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "meterbank/publisher.hpp"

namespace {

using meterbank::CounterSpec;
using meterbank::CounterType;

enum class Shop : std::uint32_t { kSold, kStock, kTurnover, kServing, kState };

constexpr std::array kCounters{
    CounterSpec{.id = 1, .name = "Sold/sec", .symbol = "sold", .help = "Items sold."},
    CounterSpec{.id = 2,
                .name = "Stock",
                .symbol = "stock",
                .type = CounterType::kLargeRawCount,
                .help = "Items in the shop."},
    CounterSpec{.id = 3,
                .name = "Label Bytes/sec",
                .symbol = "label_bytes",
                .unit = "KiBy",
                .help = "Size of the \"labels\" \\ that were printed."},
    CounterSpec{.id = 4,
                .name = "Serving Time",
                .symbol = "serving_time",
                .unit = "s",
                .help = "Time of one customer.",
                .form = meterbank::ValueForm::kDistribution,
                .buckets = {.scale = 3, .least = 1e-3, .most = 10}},
    CounterSpec{.id = 5,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .help = "Open or closed.",
                .form = meterbank::ValueForm::kText,
                .text_bytes = 32}};
constexpr meterbank::CountersetSpec kShop{.name = "Still Shop",
                                          .symbol = "still_shop",
                                          .help = "A shop.",
                                          .label = "aisle",
                                          .counters = kCounters};

}  // namespace

int main() {
  auto provider = meterbank::Provider::create({.name = "shop", .keep_record = true});
  if (!provider) {
    std::cerr << provider.error().message() << '\n';
    return 3;
  }
  const auto shop = provider->add(kShop);
  std::vector<meterbank::Instance> aisles;
  for (const char* const name : {"fruit", "say \"bread\" \\ or ü", "a,b={c}"}) {
    aisles.push_back(*shop->create_instance(name));
    aisles.back().text(Shop::kState).set("open\n\"now\"");
    aisles.back().set(Shop::kStock, 18'446'744'073'709'551'615U);
  }
  std::cout << "ready" << std::endl;
  for (std::string word; std::cin >> word;) {
    std::uint32_t items = 0;
    std::cin >> items;
    for (meterbank::Instance& aisle : aisles) {
      meterbank::Recorder serving = aisle.recorder(Shop::kServing);
      for (std::uint32_t item = 1; item <= items; ++item) serving.record(item / 1000.0);
      aisle.add(Shop::kSold, items);
      aisle.add(Shop::kTurnover, items);
    }
    std::cout << "sold" << std::endl;
  }
  return 0;
}
