// SPDX-License-Identifier: Apache-2.0
//
// usage: meterbank_still_rows ROWS [silent]
//
// A provider of ten counters in ROWS instances whose values stand still, until its standard input
// ends. `silent`: it has one more set, with rows that it never computes when it is asked for them.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/publisher.hpp"

namespace {

using meterbank::CounterSpec;

constexpr std::array<const char*, 10> kSymbols = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

}  // namespace

int main(int argc, char** argv) {
  const bool is_silent = argc == 3 && std::string_view(argv[2]) == "silent";
  const unsigned long rows = argc == 2 || is_silent ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (rows == 0) {
    std::cerr << "usage: meterbank_still_rows ROWS [silent]\n";
    return 2;
  }
  std::vector<CounterSpec> counters;
  for (const char* const symbol : kSymbols) {
    const auto id = static_cast<std::uint32_t>(counters.size() + 1);
    counters.push_back({.id = id, .name = symbol, .symbol = symbol});
  }
  auto provider = meterbank::Provider::create({.name = "rows"});
  if (!provider) {
    std::cerr << provider.error().message() << '\n';
    return 3;
  }
  const auto set =
      provider->add({.name = "Still Rows", .symbol = "still_rows", .counters = counters});
  std::optional<meterbank::Registration> silent;
  if (is_silent) {
    const auto never = [](meterbank::CallbackRequest& request) -> std::uint32_t {
      using meterbank::CallbackReason;
      const bool asks = request.reason() == CallbackReason::kCollect ||
                        request.reason() == CallbackReason::kEnumerate;
      while (asks && !request.is_cancelled()) ::usleep(1000);
      return 0;
    };
    silent = *provider->add({.name = "Silent", .symbol = "silent", .counters = counters}, never);
  }
  std::vector<meterbank::Instance> instances;
  for (unsigned long row = 0; row < rows; ++row) {
    instances.push_back(*set->create_instance("row" + std::to_string(row)));
    for (std::uint32_t counter = 0; counter < kSymbols.size(); ++counter) {
      instances.back().add(counter, row * kSymbols.size() + counter);
    }
  }
  std::cout << "ready" << std::endl;
  std::cin.ignore(1'000'000, EOF);
  return 0;
}
