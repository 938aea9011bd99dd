// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/manifest.hpp"

#include <fmt/format.h>

namespace meterbank::generator {
namespace {

CounterSpec spec_of(const Counter& counter) {
  // A base counter exists for its neighbours: it is shown only if the manifest names it.
  const bool is_nameless = is_base(counter.type.value) && counter.symbol.value.empty();
  // Windows hides the others without a name; here their word stands in for it.
  const bool is_hidden = !is_base(counter.type.value) && counter.name.value.empty();
  return {.id = counter.id.value,
          .name = is_hidden ? counter.word : counter.name.value,
          .symbol = is_nameless ? std::string_view() : counter.word,
          .type = counter.type.value,
          .unit = counter.unit.value,
          .help = counter.help.value,
          .base = counter.base.value,
          .time = counter.time.value,
          .frequency = counter.frequency.value,
          .multi = counter.multi.value,
          .scale = counter.scale.value,
          .detail = counter.detail.value,
          .aggregate = counter.aggregate.value,
          .attributes = counter.attributes.value,
          .form = counter.form.value,
          .timed = counter.timed.value,
          .any_thread = counter.any_thread.value,
          .text_bytes = counter.text_bytes.value,
          .buckets = counter.buckets.value};
}

}  // namespace

std::string file_name_of(const Manifest& manifest) {
  return manifest.file.substr(manifest.file.rfind('/') + 1);
}
std::string hash_text_of(const Manifest& manifest) { return fmt::format("{:016x}", manifest.hash); }

Guid guid_of(const Manifest& manifest, const Counterset& counterset) {
  if (!counterset.guid.value.is_zero()) return counterset.guid.value;
  return Guid::from_name(manifest.provider.name.value, counterset.name.value);
}

CountersetSpec spec_of(const Manifest& manifest, const Counterset& counterset,
                       std::vector<CounterSpec>& counters) {
  counters.clear();
  counters.reserve(counterset.counters.size());
  for (const Counter& counter : counterset.counters) counters.push_back(spec_of(counter));
  return {.name = counterset.name.value,
          .symbol = counterset.word,
          .help = counterset.help.value,
          .label = counterset.label.value,
          .guid = guid_of(manifest, counterset),
          .provider_guid = manifest.provider.guid.value,
          .instances = counterset.instances.value,
          .identity = counterset.identity.value,
          .consistency = counterset.consistency.value,
          .many = counterset.many.value,
          .checkpoint = counterset.checkpoint.value,
          .stamped = counterset.stamped.value,
          .cuts = counterset.cuts.value,
          .shards = counterset.shards.value,
          .sharded = counterset.sharded.value,
          .by_processor = counterset.by_processor.value,
          .counters = counters};
}

}  // namespace meterbank::generator
