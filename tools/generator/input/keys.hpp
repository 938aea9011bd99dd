// SPDX-License-Identifier: Apache-2.0
//
// Which attribute or key fills which field. The two vocabularies stand side by side; a name that is
// empty is not of that language.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "generator/input/forms.hpp"

namespace meterbank::generator {

enum class Needed : std::uint8_t { kNo, kInXml, kInToml, kAlways };

template <typename Owner>
struct Key {
  std::string_view xml;
  std::string_view toml;
  void (*take)(const Reading&, const Entry&, Owner&);
  Needed needed = Needed::kNo;

  [[nodiscard]] constexpr std::string_view in(Language language) const noexcept {
    return language == Language::kXml ? xml : toml;
  }
  [[nodiscard]] constexpr bool is_needed_in(Language language) const noexcept {
    return needed == Needed::kAlways ||
           needed == (language == Language::kXml ? Needed::kInXml : Needed::kInToml);
  }
};

// Reads an entry in one of the forms, into a member.
template <auto kMember, auto kForm, typename Owner>
void take(const Reading& reading, const Entry& entry, Owner& owner) {
  if (const auto value = kForm(reading, entry)) {
    (owner.*kMember).value = *value;
    (owner.*kMember).place = entry.place;
  }
}

// The bounds of a distribution while they are read: BucketSpec has no places.
struct BucketKeys {
  Placed<std::int32_t> scale;
  Placed<double> least;
  Placed<double> most;
};

void take_schema_version(const Reading& reading, const Entry& entry, Manifest& manifest);
void take_type(const Reading& reading, const Entry& entry, Counter& counter);
void take_form(const Reading& reading, const Entry& entry, Counter& counter);
void take_attributes(const Reading& reading, const Entry& entry, Counter& counter);
void take_attribute(const Reading& reading, const Entry& entry, Counter& counter);

inline constexpr std::array<Key<Manifest>, 1> kCountersKeys{{
    {"schemaVersion", "", take_schema_version, Needed::kInXml},
}};

inline constexpr std::array<Key<Manifest>, 0> kDocumentKeys{};

inline constexpr std::array<Key<Provider>, 7> kProviderKeys{{
    {"providerName", "name", take<&Provider::name, text_of>, Needed::kInToml},
    {"providerGuid", "guid", take<&Provider::guid, guid_in>, Needed::kInXml},
    {"symbol", "symbol", take<&Provider::symbol, text_of>},
    {"applicationIdentity", "application", take<&Provider::application, text_of>, Needed::kInXml},
    {"providerType", "mode", take<&Provider::mode, word_of<kModeWords>>},
    {"callback", "callback", take<&Provider::custom_callback, word_of<kCallbackWords>>},
    {"resourceBase", "resource_base", take<&Provider::resource_base, number_of>},
}};

inline constexpr std::array<Key<Counterset>, 18> kCountersetKeys{{
    {"name", "name", take<&Counterset::name, text_of>, Needed::kAlways},
    {"symbol", "symbol", take<&Counterset::symbol, text_of>, Needed::kInXml},
    {"guid", "guid", take<&Counterset::guid, guid_in>, Needed::kInXml},
    {"uri", "uri", take<&Counterset::uri, text_of>, Needed::kInXml},
    {"description", "help", take<&Counterset::help, text_of>, Needed::kInXml},
    {"instances", "instances", take<&Counterset::instances, word_of<kInstanceWords>>},
    {"nameID", "name_id", take<&Counterset::name_id, number_of>},
    {"descriptionID", "description_id", take<&Counterset::description_id, number_of>},
    {"", "label", take<&Counterset::label, text_of>},
    {"", "identity", take<&Counterset::identity, word_of<kIdentityWords>>},
    {"", "consistency", take<&Counterset::consistency, word_of<kConsistencyWords>>},
    {"", "many", take<&Counterset::many, boolean_of>},
    {"", "checkpoint", take<&Counterset::checkpoint, boolean_of>},
    {"", "stamped", take<&Counterset::stamped, boolean_of>},
    {"", "cuts", take<&Counterset::cuts, boolean_of>},
    {"", "sharded", take<&Counterset::sharded, boolean_of>},
    {"", "shards", take<&Counterset::shards, number_of>},
    {"", "by_processor", take<&Counterset::by_processor, boolean_of>},
}};

inline constexpr std::array<Key<Counter>, 23> kCounterKeys{{
    {"id", "id", take<&Counter::id, number_of>, Needed::kAlways},
    {"name", "name", take<&Counter::name, text_of>},
    {"symbol", "symbol", take<&Counter::symbol, text_of>},
    {"uri", "uri", take<&Counter::uri, text_of>, Needed::kInXml},
    {"description", "help", take<&Counter::help, text_of>},
    {"type", "type", take_type, Needed::kInXml},
    {"baseID", "base", take<&Counter::base, number_of>},
    {"perfTimeID", "time", take<&Counter::time, number_of>},
    {"perfFreqID", "frequency", take<&Counter::frequency, number_of>},
    {"multiCounterID", "multi", take<&Counter::multi, number_of>},
    {"defaultScale", "scale", take<&Counter::scale, integer_of>},
    {"detailLevel", "detail", take<&Counter::detail, word_of<kDetailWords>>, Needed::kInXml},
    {"aggregate", "aggregate", take<&Counter::aggregate, word_of<kAggregateWords>>},
    {"struct", "struct", take<&Counter::structure, text_of>},
    {"field", "field", take<&Counter::field, text_of>},
    {"nameID", "name_id", take<&Counter::name_id, number_of>},
    {"descriptionID", "description_id", take<&Counter::description_id, number_of>},
    {"", "unit", take<&Counter::unit, text_of>},
    {"", "form", take_form},
    {"", "timed", take<&Counter::timed, boolean_of>},
    {"", "any_thread", take<&Counter::any_thread, boolean_of>},
    {"", "text_bytes", take<&Counter::text_bytes, number_of>},
    {"", "attributes", take_attributes},
}};

inline constexpr std::array<Key<StructSpec>, 2> kStructKeys{{
    {"name", "name", take<&StructSpec::name, text_of>, Needed::kAlways},
    {"type", "type", take<&StructSpec::type, text_of>, Needed::kAlways},
}};

inline constexpr std::array<Key<Counter>, 1> kAttributeKeys{{
    {"name", "", take_attribute, Needed::kInXml},
}};

inline constexpr std::array<Key<BucketKeys>, 3> kBucketKeys{{
    {"", "scale", take<&BucketKeys::scale, integer_of>},
    {"", "least", take<&BucketKeys::least, real_of>, Needed::kInToml},
    {"", "most", take<&BucketKeys::most, real_of>, Needed::kInToml},
}};

}  // namespace meterbank::generator
