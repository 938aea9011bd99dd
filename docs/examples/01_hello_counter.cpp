// SPDX-License-Identifier: Apache-2.0
//
// The least a service does to be seen: one provider, one counterset, one counter.
#include <array>
#include <cstdio>

#include "meterbank/publisher.hpp"

namespace mb = meterbank;

enum class Venue : std::uint32_t { accepted };

constexpr std::array kCounters{mb::CounterSpec{.id = 1,
                                               .name = "Accepted/sec",
                                               .symbol = "accepted",
                                               .type = mb::CounterType::kBulkCount,
                                               .unit = "{order}",
                                               .help = "Orders accepted."}};
constexpr mb::CountersetSpec kVenues{
    .name = "Orders", .symbol = "orders", .label = "venue", .counters = kCounters};

int main() {
  // Never fails: without a directory or memory it says so once and counts into nothing.
  auto provider = mb::Provider::create_or_disabled({.name = "hello"});
  auto venues = provider.add(kVenues);
  if (!venues) return std::fprintf(stderr, "%s\n", venues.error().message().c_str()), 1;
  auto eu = venues->create_instance("eu");
  if (!eu) return std::fprintf(stderr, "%s\n", eu.error().message().c_str()), 1;

  for (int order = 0; order < 1000; ++order) eu->add(Venue::accepted, 1);

  std::printf("published %llu orders\n",
              static_cast<unsigned long long>(eu->value(Venue::accepted)));
}
