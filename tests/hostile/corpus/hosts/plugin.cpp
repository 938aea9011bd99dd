// SPDX-License-Identifier: Apache-2.0
//
// A plugin that contains the publisher library.
#include <optional>
#include <utility>

#include "../beside/healthy.hpp"

namespace {

using meterbank::hostile::Level;

struct Counting {
  meterbank::Provider provider = meterbank::Provider::create_or_disabled({.name = "plugin"});
  meterbank::Registration sharded, plain;
  meterbank::ShardedInstance row;
  meterbank::Instance block;
};
std::optional<Counting> counting;

}  // namespace

extern "C" void plugin_open() {
  counting.emplace();
  meterbank::CountersetSpec spec{.name = "Plugin Shards",
                                 .symbol = "plugin_shards",
                                 .sharded = true,
                                 .counters = meterbank::hostile::kLevelCounters};
  spec.by_processor = true;
  if (auto set = counting->provider.add(spec)) counting->sharded = *set;
  spec = {.name = "Plugin Rows",
          .symbol = "plugin_rows",
          .counters = meterbank::hostile::kLevelCounters};
  if (auto set = counting->provider.add(spec)) counting->plain = *set;
  if (auto row = counting->sharded.create_sharded_instance("row")) counting->row = *std::move(row);
  if (auto row = counting->plain.create_instance("row")) counting->block = *std::move(row);
}

extern "C" void plugin_count() {
  counting->row.add(Level::kCount, 1);
  counting->block.add(Level::kCount, 1);
}

// Ends the provider. Its handles stay: a thread may be counting.
extern "C" void plugin_close() { const meterbank::Provider ended = std::move(counting->provider); }
