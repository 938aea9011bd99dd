// SPDX-License-Identifier: Apache-2.0
//
// A collector: open a catalog, compile paths, collect twice, look at rows and their values.
#include <array>
#include <cstdio>

#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace mb = meterbank;

constexpr std::array kCounters{
    mb::CounterSpec{
        .id = 1, .name = "Orders", .symbol = "orders", .type = mb::CounterType::kLargeRawCount},
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
  // A collector does this once a tick: new providers first, then the values.
  if (catalog->stale() && catalog->refresh()) query->update(*catalog);
  query->collect(after);

  int values = 0;
  for (const mb::Row& row : after.since(before)) {
    for (const mb::Value& value : row) {
      if (!mb::has_value(value.cooked.status)) continue;  // a new row has no rate yet
      ++values;
      std::printf("%s = %g\n", value.path().c_str(), value.cooked.value);
    }
  }
  return values == 2 ? 0 : 1;
}
