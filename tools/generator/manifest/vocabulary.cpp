// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/vocabulary.hpp"

namespace meterbank::generator {

std::string_view short_name_of(CounterType type) noexcept {
  std::string_view name = name_of(type);
  for (const std::string_view prefix : {"perf_counter_", "perf_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

std::optional<CounterType> type_of(std::string_view word, Language language) noexcept {
  for (const auto& [type, enumerator] : kTypes) {
    if (word == name_of(type)) return type;
    if (language == Language::kToml && word == short_name_of(type)) return type;
  }
  return std::nullopt;
}

}  // namespace meterbank::generator
