// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/rules/wording.hpp"

#include <fmt/format.h>

#include "generator/manifest/vocabulary.hpp"

namespace meterbank::generator {

std::string which(const Counter& counter) {
  if (counter.name.value.empty()) return fmt::format("counter {}", counter.id.value);
  return fmt::format("counter {} {}", counter.id.value, in_quotes(counter.name.value));
}

std::string which(const Counterset& counterset) {
  return "counterset " + in_quotes(counterset.name.value);
}

std::string type_word(Language language, CounterType type) {
  const std::string_view name = name_of(type);
  if (name.empty()) return fmt::format("0x{:08x}", bits_of(type));
  return std::string(language == Language::kXml ? name : short_name_of(type));
}

std::string line_of(Place place) {
  return place.is_known() ? fmt::format("in line {}", place.line) : "further up";
}

}  // namespace meterbank::generator
