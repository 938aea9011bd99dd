// SPDX-License-Identifier: Apache-2.0
//
// How a program declares a counterset. Everything is a view, so a schema can be constexpr.
//
// Thread safety  All functions may be called concurrently.
// Errors         kInvalidArgument or kBadName, with the rule that the schema breaks.
// Lifetime       What the views refer to is needed until Provider::add() returns: it is copied into
//                the segment.
// Units          CounterSpec::unit is a UCUM code.
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

// The values that a distribution tells apart: those from `least` to `most`, in 2^scale buckets for
// each factor of two. A percentile is off by at most a share of (b - 1) / (b + 1), where b is
// 2^2^-scale: 4.3 % at scale 3, 0.54 % at scale 6. Smaller and larger values are counted as such.
struct BucketSpec {
  std::int32_t scale = 3;  // -4..8
  double least = 0;        // more than zero
  double most = 0;
};

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
  std::int32_t scale = 0;      // -10..10, for display only
  std::uint32_t detail = 100;  // 100 standard, 200 advanced
  std::uint32_t aggregate = kAggregateUndefined;
  std::uint64_t attributes = 0;
  // What is not a plain count. Forms of more than one word, and `timed`, are for block sets.
  ValueForm form = ValueForm::kUnsigned;  // kSigned, kReal: for kLargeRawCount
  bool timed = false;                     // keeps when it was set; raw counts and texts
  bool any_thread = false;       // counted by Counter::add_from_any_thread(); independent sets
  std::uint32_t text_bytes = 0;  // of a text at most, 1..256; its type is kText
  BucketSpec buckets = {};       // of a distribution; its type is kBulkCount or kLargeRawCount
};

struct CountersetSpec {
  std::string_view name;    // "Demo Orders"
  std::string_view symbol;  // "demo_orders"
  std::string_view help = {};
  std::string_view label = {};  // what an instance is: "venue"
  Guid guid = {};               // zero: derived from the provider's name and the set's
  Guid provider_guid = {};
  InstanceKind instances = InstanceKind::kMultiple;
  // Sets of meterbank::pcw have kNameAndId. See docs/decisions/0022-identity-of-instances.md.
  InstanceIdentity identity = InstanceIdentity::kUnique;
  Consistency consistency = Consistency::kBlock;
  bool many = false;       // many instances, created and written by one thread: tile form
  bool checkpoint = true;  // bounded reads against a writer that never pauses; block sets only
  bool stamped = false;    // one more word: when the values were true, set by Values::stamp()
  bool cuts = false;       // readers can have all instances as of one moment; block sets only
  // How many threads may write to shards of their own; those beyond share one. 0: chosen by the
  // number of processors, if the set is sharded. Any number makes it so.
  std::uint32_t shards = 0;
  bool sharded = false;  // any thread may write, see sharded.hpp
  // A sharded block set has blocks of processors, where that can be, instead of threads. For many
  // threads, or short ones: a commit costs some nanoseconds more.
  bool by_processor = false;
  std::span<const CounterSpec> counters = {};  // counter i begins in word i
};

// The schema as it lies in the segment, or kInvalidArgument / kBadName with the rule it breaks.
[[nodiscard]] Result<std::vector<std::byte>> encode_schema(const CountersetSpec& spec,
                                                           std::string_view provider_name);

// Whether rows of it can be computed on demand: an answer has one word a counter, which excludes
// distributions, texts and timed values. Precondition: encode_schema() takes it.
[[nodiscard]] Result<void> check_callback(const CountersetSpec& spec);

// The rule that its instances keep: a set of one row has no names to share.
[[nodiscard]] InstanceIdentity identity_of(const CountersetSpec& spec) noexcept;

// The block form that a specification leads to. Precondition: encode_schema() takes it.
[[nodiscard]] BlockForm form_of(const CountersetSpec& spec) noexcept;

}  // namespace meterbank
