// SPDX-License-Identifier: Apache-2.0
//
// A document as elements that hold entries and further elements, without the parser's types: a TOML
// table, its keys and the tables below it. The manifests' XML is read into the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syntax/place.hpp"
#include "syntax/problems.hpp"
#include "syntax/source_text.hpp"

namespace meterbank::syntax {

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

inline constexpr std::uint32_t kDepthMax = 16;  // of what lies within each other

// The whole document, as a table without a name. Nothing after a fault, which is then in
// `problems`. Entries and children are in the order of their names, the members of an array of
// tables in that of the file.
[[nodiscard]] std::optional<Element> read_toml(const SourceText& source, Problems& problems);

}  // namespace meterbank::syntax
