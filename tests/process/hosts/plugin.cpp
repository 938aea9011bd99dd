// SPDX-License-Identifier: Apache-2.0
//
// A plugin with the library inside. Its host calls it by name, from any thread.
#include <array>
#include <optional>

#include "../../support/orders_schema.hpp"
#include "../../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {
namespace {

struct Counted {
  Provider provider;
  Instance orders;
  ShardedInstance shared;
};
std::optional<Counted> counted;

constexpr std::array kHitCounters{CounterSpec{
    .id = 1, .name = "Hits/sec", .symbol = "hits", .type = CounterType::kBulkCount, .unit = "1"}};

constexpr CountersetSpec hits() noexcept {
  CountersetSpec spec{.name = "Hits",
                      .symbol = "hits",
                      .guid = "{77f6a7d0-5b9e-4f3b-8f1e-0a52d6f1c001}"_guid,
                      .consistency = Consistency::kIndependent,
                      .counters = kHitCounters};
  spec.sharded = true;
  return spec;
}

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
  auto shared = provider->add(hits());
  if (!orders || !waves || !shared) return 2;
  auto eu = orders->create_instance("eu");
  auto all = shared->create_sharded_instance("all");
  if (!eu || !all) return 3;
  counted.emplace(Counted{std::move(*provider), std::move(*eu), std::move(*all)});
  return 0;
}

[[gnu::visibility("default")]] void plugin_count() {
  for (int i = 0; i < 1000; ++i) counted->shared.add(0U, 1);
  counted->orders.add(Venue::kAccepted, 1);
}

[[gnu::visibility("default")]] void plugin_stop() { counted.reset(); }
}
