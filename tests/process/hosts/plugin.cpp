// SPDX-License-Identifier: Apache-2.0
//
// A plugin with the library inside. Its host calls it by name, from any thread.
#include <array>
#include <optional>
#include <utility>

#include "../../support/orders_schema.hpp"
#include "../../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {
namespace {

struct Counted {
  Provider provider;
  Instance orders;
  ShardedInstance shared, by_processor;
};
std::optional<Counted> counted;

constexpr std::array kHitCounters{CounterSpec{
    .id = 1, .name = "Hits/sec", .symbol = "hits", .type = CounterType::kBulkCount, .unit = "1"}};

constexpr CountersetSpec kHits{.name = "Hits",
                               .symbol = "hits",
                               .consistency = Consistency::kIndependent,
                               .sharded = true,
                               .counters = kHitCounters};

constexpr CountersetSpec kHitsByProcessor{.name = "Hits by Processor",
                                          .symbol = "hits_by_processor",
                                          .sharded = true,
                                          .by_processor = true,
                                          .counters = kHitCounters};

}  // namespace
}  // namespace meterbank::test

using namespace meterbank;
using namespace meterbank::test;

extern "C" {

[[gnu::visibility("default")]] int plugin_start(const char* directory) {
  auto provider = Provider::create({.name = "plugin", .directory = directory});
  if (!provider) return 1;
  auto orders = provider->add(orders_with_cuts());
  auto waves = provider->add(kWaves, [](CallbackRequest&) { return 0U; }, {.serial = true});
  auto shared = provider->add(kHits);
  auto by_processor = provider->add(kHitsByProcessor);
  if (!orders || !waves || !shared || !by_processor) return 2;
  auto eu = orders->create_instance("eu");
  auto all = shared->create_sharded_instance("all");
  auto each = by_processor->create_sharded_instance("all");
  if (!eu || !all || !each) return 3;
  counted.emplace(Counted{std::move(*provider), std::move(*eu), std::move(*all), std::move(*each)});
  return 0;
}

[[gnu::visibility("default")]] void plugin_count() {
  for (int i = 0; i < 1000; ++i) {
    counted->shared.add(0U, 1);
    counted->by_processor.add(0U, 1);
  }
  counted->orders.add(Venue::kAccepted, 1);
}

// Ends the provider. Its handles stay: a thread may be counting.
[[gnu::visibility("default")]] void plugin_stop() {
  const Provider ended = std::move(counted->provider);
}
}
