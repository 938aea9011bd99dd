// SPDX-License-Identifier: Apache-2.0
//
// A reader: find providers, compile a query, take two samples, turn them into numbers.
#include <array>
#include <cstdio>

#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace mb = meterbank;

constexpr std::array kCounters{mb::CounterSpec{.id = 1, .name = "Orders", .symbol = "orders",
                                               .type = mb::CounterType::kLargeRawCount},
                               mb::CounterSpec{.id = 2, .name = "Bytes/sec", .symbol = "bytes"}};
constexpr mb::CountersetSpec kVenues{
    .name = "Read Back", .symbol = "read_back", .label = "venue", .counters = kCounters};

int main() {
  // Something to read, in this process for once.
  auto provider = mb::Provider::create_or_disabled({.name = "example"});
  auto venues = provider.add(kVenues);
  auto eu = venues ? venues->create_instance("eu") : mb::Result<mb::Instance>(mb::Instance());

  auto catalog = mb::Catalog::open({});
  if (!catalog) return std::fprintf(stderr, "%s\n", catalog.error().message().c_str()), 1;
  auto query = mb::Query::compile(*catalog, {"\\Read Back(*)\\*"});
  if (!query) return std::fprintf(stderr, "%s\n", query.error().message().c_str()), 1;

  mb::Sample before, after;
  query->collect(before);
  eu->add(0, 42);
  eu->add(1, 4200);
  query->collect(after);

  int rows = 0;
  for (const mb::CookedRow& row : mb::cook(before, after)) {
    std::printf("%s = %g\n", row.path().c_str(), row.cooked.value);
    ++rows;
  }
  return rows == 2 ? 0 : 1;
}
