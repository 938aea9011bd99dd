// SPDX-License-Identifier: Apache-2.0
//
// What both languages are made of: elements that hold entries and further elements. The readers
// know nothing of counters, and build.cpp knows nothing of parsers.
//
//   XML    <counter id="1" uri="a"/>          an element, its attributes and child elements
//   TOML   [[counterset.counter]]  id = 1     a table, its keys and the tables below it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/input/syntax/source_text.hpp"
#include "generator/manifest/place.hpp"
#include "generator/manifest/problems.hpp"

namespace meterbank::generator {

struct Entry {
  enum class Kind : std::uint8_t { kText, kInteger, kReal, kBoolean, kList, kOther };

  std::string name;  // of the key or attribute; an item of a list has its list's
  Place place;       // of the name, or of the item
  Kind kind = Kind::kText;
  std::string text;  // all that XML has
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Entry> items;
};

struct Element {
  std::string name;
  Place place;          // of `<` or `[`
  bool listed = false;  // TOML: one of an array of tables
  std::vector<Entry> entries;
  std::vector<Element> children;
};

inline constexpr std::uint32_t kDepthMax = 16;        // of what lies within each other
inline constexpr std::uint32_t kElementsMax = 65536;  // of a document

// The element <counters>. Nothing if there is none.
[[nodiscard]] std::optional<Element> read_xml(const SourceText& source, Problems& problems);
// The whole document, as a table without a name.
[[nodiscard]] std::optional<Element> read_toml(const SourceText& source, Problems& problems);

}  // namespace meterbank::generator
