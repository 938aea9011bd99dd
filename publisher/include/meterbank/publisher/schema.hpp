// SPDX-License-Identifier: Apache-2.0
//
// How a program declares a counterset. Everything is a view, so a schema can be constexpr; it is
// copied into the segment when it is registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/counter_type.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

struct CounterSpec {
  std::uint32_t id = 0;          // unique in the set
  std::string_view name = {};    // "Accepted/sec"; may be empty for a base counter
  std::string_view symbol = {};  // "accepted": short path, JSON field, metric name
  CounterType type = CounterType::kBulkCount;
  std::string_view unit = {};  // UCUM code: "s", "By", "{order}"
  std::string_view help = {};
  std::uint32_t base = kNoCounter;  // ids of linked counters, windows counter type rules
  std::uint32_t time = kNoCounter;
  std::uint32_t frequency = kNoCounter;
  std::uint32_t multi = kNoCounter;
  std::int32_t scale = 0;       // -10..10, for display only
  std::uint32_t detail = 100;   // 100 standard, 200 advanced
  std::uint32_t aggregate = kAggregateUndefined;
  std::uint64_t attributes = 0;
};

struct CountersetSpec {
  std::string_view name;    // "Demo Orders"
  std::string_view symbol;  // "demo_orders"
  std::string_view help = {};
  std::string_view label = {};  // what an instance is: "venue"
  Guid guid = {};               // zero: derived from the provider's name and the set's
  Guid provider_guid = {};
  InstanceKind instances = InstanceKind::kMultiple;
  Consistency consistency = Consistency::kBlock;
  bool many = false;       // many instances, created and written by one thread: tile form
  bool checkpoint = true;  // bounded reads against a writer that never pauses; block sets only
  bool stamped = false;    // one more word: when the values were true, set by Values::stamp()
  bool cuts = false;       // readers can have all instances as of one moment; block sets only
  std::span<const CounterSpec> counters = {};  // counter i lives in word i
};

// The schema as it lies in the segment, or kInvalidArgument / kBadName with the rule it breaks.
[[nodiscard]] Result<std::vector<std::byte>> encode_schema(const CountersetSpec& spec,
                                                           std::string_view provider_name);

// The block form that a specification leads to.
[[nodiscard]] BlockForm form_of(const CountersetSpec& spec) noexcept;

}  // namespace meterbank
