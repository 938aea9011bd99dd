// SPDX-License-Identifier: Apache-2.0
//
// A program outside of the tree: it counts, and reads what it has counted.
#include <array>
#include <cstdio>
#include <meterbank/publisher.hpp>
#include <meterbank/reader.hpp>

namespace mb = meterbank;

int main() {
  constexpr std::array kCounters{mb::CounterSpec{
      .id = 1, .name = "Laps", .symbol = "laps", .type = mb::CounterType::kLargeRawCount}};
  auto provider = mb::Provider::create({.name = "installed"});
  if (!provider) return std::fprintf(stderr, "%s\n", provider.error().message().c_str()), 1;
  auto set = provider->add({.name = "Installed", .symbol = "installed", .counters = kCounters});
  auto track = set->create_instance("track");
  track->add(0, 42);

  auto catalog = mb::Catalog::open({});
  auto query = mb::Query::compile(*catalog, {"installed/track/laps"});
  mb::Sample sample;
  query->collect(sample);
  for (const mb::Row& row : sample) {
    for (const mb::Value& value : row) return value.cooked.value == 42 ? 0 : 1;
  }
  return std::fputs("no value\n", stderr), 1;
}
