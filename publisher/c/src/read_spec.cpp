// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "handles.hpp"
#include "meterbank/border/versioned.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::border {
namespace {

// The members of CounterSpec that are not zero where they are not given.
CounterSpec read_counter(const mb_counter_spec& counter) {
  const auto linked = [](const mb_link& link) { return link.is_set != 0 ? link.id : kNoCounter; };
  constexpr std::uint32_t kStandardDetail = 100;
  return {.id = counter.id,
          .name = text_of(counter.name),
          .symbol = text_of(counter.symbol),
          .type = static_cast<CounterType>(counter.type),
          .unit = text_of(counter.unit),
          .help = text_of(counter.help),
          .base = linked(counter.base),
          .time = linked(counter.time),
          .frequency = linked(counter.frequency),
          .multi = linked(counter.multi),
          .scale = counter.scale,
          .detail = counter.detail == 0 ? kStandardDetail : counter.detail,
          .aggregate = counter.aggregate,
          .attributes = counter.attributes,
          .form = static_cast<ValueForm>(counter.form),
          .timed = (counter.flags & MB_COUNTER_TIMED) != 0,
          .any_thread = (counter.flags & MB_COUNTER_ANY_THREAD) != 0,
          .text_bytes = counter.text_bytes,
          .buckets = {.scale = counter.bucket_scale,
                      .least = counter.bucket_least,
                      .most = counter.bucket_most}};
}

Guid read_guid(const mb_guid& given) noexcept { return std::bit_cast<Guid>(given); }

tl::unexpected<Refusal> refuse_spec(std::string_view name, const std::string& why) {
  return refuse(MB_INVALID_ARGUMENT, "counterset '" + std::string(name) + "': " + why,
                "correct the specification");
}

// `given` has its own size of counters, which is that of its header's version.
Outcome<std::vector<CounterSpec>> read_counters(const mb_counterset_spec& given) {
  constexpr std::uint32_t kKnownFlags = MB_COUNTER_TIMED | MB_COUNTER_ANY_THREAD;
  const std::string_view name = text_of(given.name);
  if (given.counters == nullptr && given.counters_count != 0) {
    return refuse_spec(name, "counters is NULL");
  }
  constexpr std::size_t kFirstBytes = 128;
  const std::size_t stride = given.counter_size;
  if (stride < kFirstBytes || stride > kStructBytesMax || stride % alignof(mb_counter_spec) != 0) {
    return refuse_spec(name, "counter_size is " + std::to_string(stride) +
                                 ", not that of any version of mb_counter_spec");
  }
  if (given.counters_count > kCountersMax) {
    return refuse_spec(name, "more than " + std::to_string(kCountersMax) + " counters");
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(given.counters);
  std::vector<CounterSpec> counters;
  counters.reserve(given.counters_count);
  for (std::size_t i = 0; i < given.counters_count; ++i) {
    const std::byte* const at = bytes + i * stride;
    mb_counter_spec counter{};
    const std::size_t known = std::min(stride, sizeof counter);
    std::memcpy(&counter, at, known);
    const bool has_unknown =
        std::any_of(at + known, at + stride, [](std::byte byte) { return byte != std::byte{0}; });
    if (has_unknown || counter.reserved != 0 || (counter.flags & ~kKnownFlags) != 0) {
      return refuse_spec(name, "counter " + std::to_string(counter.id) +
                                   " has members or flags that this library does not know");
    }
    counters.push_back(read_counter(counter));
  }
  return counters;
}

}  // namespace

Outcome<CountersetSpec> read_spec(const mb_counterset_spec* spec,
                                  std::vector<CounterSpec>& counters) {
  constexpr std::uint32_t kKnownFlags = MB_SET_INDEPENDENT | MB_SET_MANY | MB_SET_NO_CHECKPOINT |
                                        MB_SET_STAMPED | MB_SET_CUTS | MB_SET_SHARDED |
                                        MB_SET_BY_PROCESSOR | MB_SET_NAME_AND_ID;
  constexpr mb_counterset_spec kDefaults = MB_COUNTERSET_SPEC_INIT;
  constexpr std::size_t kFirstBytes = 96;
  auto taken = take_versioned(spec, kDefaults, kFirstBytes, "mb_counterset_spec");
  if (!taken) return tl::make_unexpected(taken.error());
  const std::string_view name = text_of(taken->name);
  const std::uint32_t flags = taken->flags;
  if ((flags & ~kKnownFlags) != 0) {
    return refuse_spec(name, "has flags that this library does not know");
  }
  if (!is_known(static_cast<InstanceKind>(taken->instances))) {
    return refuse_spec(name, "instances is not a value of mb_instances");
  }
  auto read = read_counters(*taken);
  if (!read) return tl::make_unexpected(read.error());
  counters = std::move(*read);
  return CountersetSpec{.name = name,
                        .symbol = text_of(taken->symbol),
                        .help = text_of(taken->help),
                        .label = text_of(taken->label),
                        .guid = read_guid(taken->guid),
                        .provider_guid = read_guid(taken->provider_guid),
                        .instances = static_cast<InstanceKind>(taken->instances),
                        .identity = (flags & MB_SET_NAME_AND_ID) != 0 ? InstanceIdentity::kNameAndId
                                                                      : InstanceIdentity::kUnique,
                        .consistency = (flags & MB_SET_INDEPENDENT) != 0 ? Consistency::kIndependent
                                                                         : Consistency::kBlock,
                        .many = (flags & MB_SET_MANY) != 0,
                        .checkpoint = (flags & MB_SET_NO_CHECKPOINT) == 0,
                        .stamped = (flags & MB_SET_STAMPED) != 0,
                        .cuts = (flags & MB_SET_CUTS) != 0,
                        .shards = taken->shards,
                        .sharded = (flags & MB_SET_SHARDED) != 0,
                        .by_processor = (flags & MB_SET_BY_PROCESSOR) != 0,
                        .counters = counters};
}

}  // namespace meterbank::border
