// SPDX-License-Identifier: Apache-2.0
//
// What a manifest says, whichever of its two languages it is written in. A CTRPP manifest (.man)
// and our TOML form have the same elements; the comments give their words as `XML / TOML`.
//
//   Manifest ─ Provider
//            └ Counterset*  ─ StructSpec*   which C structures hold the values, kernel mode
//                           └ Counter+      in the order of the file: counter i has word i
//
// Values are kept as they were written, with their places, and nothing here has been checked beyond
// its own form (a number is a number, a GUID a GUID); check.hpp knows the rules between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/manifest/place.hpp"
#include "meterbank/base/guid.hpp"
#include "meterbank/publisher/schema.hpp"

namespace meterbank::generator {

enum class Language : std::uint8_t { kXml, kToml };
enum class ProviderMode : std::uint8_t { kUser, kKernel };

struct StructSpec {  // <struct> / [[counterset.struct]]
  Place place;
  Placed<std::string> name;  // local: what Counter::structure refers to
  Placed<std::string> type;  // the C type in the provider's own code
};

struct Counter {  // <counter> / [[counterset.counter]]
  Place place;
  Placed<std::uint32_t> id;
  Placed<std::string> name;    // "Accepted/sec"
  Placed<std::string> symbol;  // a C identifier as it was written, may be missing
  // Metric word: snake_case of the symbol, else of the name, else counter_ID if it is hidden. A
  // base counter may be without.
  std::string word;
  Placed<std::string> uri;
  Placed<std::string> help;  // description / help
  Placed<std::string> unit;  // - / unit, UCUM code
  Placed<CounterType> type;
  // base, time, frequency, multi: ids, kNoCounter if not said.
  // baseID / base, perfTimeID / time, perfFreqID / frequency, multiCounterID / multi
  Placed<std::uint32_t> base{kNoCounter, {}};
  Placed<std::uint32_t> time{kNoCounter, {}};
  Placed<std::uint32_t> frequency{kNoCounter, {}};
  Placed<std::uint32_t> multi{kNoCounter, {}};
  Placed<std::int32_t> scale;             // defaultScale / scale
  Placed<std::uint32_t> detail{100, {}};  // detailLevel / detail: 100 standard, 200 advanced
  Placed<std::uint32_t> aggregate{kAggregateUndefined, {}};
  // <counterAttribute> / attributes = [...]: bits of vocabulary.hpp
  Placed<std::uint64_t> attributes;
  Placed<std::string> structure;  // struct
  Placed<std::string> field;
  Placed<std::uint32_t> name_id;  // nameID / name_id, of the resource script
  Placed<std::uint32_t> description_id;
  // Only in TOML: what Windows has no word for. CounterSpec says what they mean.
  Placed<ValueForm> form;
  Placed<bool> timed;
  Placed<bool> any_thread;
  Placed<std::uint32_t> text_bytes;
  Placed<BucketSpec> buckets;
};

struct Counterset {  // <counterSet> / [[counterset]]
  Place place;
  Placed<std::string> name;
  Placed<std::string> symbol;
  std::string word;  // as Counter::word
  Placed<std::string> uri;
  Placed<std::string> help;   // description / help
  Placed<std::string> label;  // - / label
  Placed<Guid> guid;          // not said: derived from provider and name, as Provider::add does
  Placed<InstanceKind> instances;
  Placed<std::uint32_t> name_id;
  Placed<std::uint32_t> description_id;
  // Only in TOML; CountersetSpec says what they mean.
  Placed<InstanceIdentity> identity;
  Placed<Consistency> consistency;
  Placed<bool> many;
  Placed<bool> checkpoint{true, {}};
  Placed<bool> stamped;
  Placed<bool> cuts;
  Placed<bool> sharded;
  Placed<std::uint32_t> shards;
  Placed<bool> by_processor;
  std::vector<StructSpec> structs;
  std::vector<Counter> counters;
};

struct Provider {  // <provider> / [provider]
  Place place;
  Placed<std::string> name;         // providerName / name
  Placed<std::string> symbol;       // variable of the handle in user mode; C++ namespace by default
  Placed<Guid> guid;                // providerGuid / guid
  Placed<std::string> application;  // applicationIdentity / application: a name or a path
  Placed<ProviderMode> mode;        // providerType / mode = "user" | "kernel"
  Placed<bool> custom_callback;     // callback="custom" / callback = "custom"
  Placed<std::uint32_t> resource_base;
};

struct Manifest {
  std::string file;  // as it was named, for messages
  Language language = Language::kToml;
  Placed<std::uint32_t> schema_version{20,
                                       {}};  // 11 or 20: schemaVersion "1.1" or "2.0"; 20 in TOML
  std::uint64_t hash = 0;                    // of the bytes: FNV-1a, 64 bits
  Provider provider;
  std::vector<Counterset> countersets;
};

// What a generated file says of its origin: the manifest's file without its folders, which differ
// from machine to machine, and its hash in 16 hexadecimal digits.
[[nodiscard]] std::string file_name_of(const Manifest& manifest);
[[nodiscard]] std::string hash_text_of(const Manifest& manifest);

// The counterset's own GUID, or the one that Provider::add() would derive for it.
[[nodiscard]] Guid guid_of(const Manifest& manifest, const Counterset& counterset);

// The same set in the types of the publisher library. Views into `counterset` and `counters`, which
// the call fills; both have to live as long. `guid` and `provider_guid` are filled in.
[[nodiscard]] CountersetSpec spec_of(const Manifest& manifest, const Counterset& counterset,
                                     std::vector<CounterSpec>& counters);

}  // namespace meterbank::generator
