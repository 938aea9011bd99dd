// SPDX-License-Identifier: Apache-2.0
//
// How messages speak of the parts of a manifest: in the words of the language it is written in.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "generator/manifest/manifest.hpp"
#include "syntax/in_quotes.hpp"

namespace meterbank::generator {

using syntax::in_quotes;

// counter 3 'Average Latency', or counter 3 if it has no name.
[[nodiscard]] std::string which(const Counter& counter);
// counterset 'Demo Orders'
[[nodiscard]] std::string which(const Counterset& counterset);
// perf_average_bulk / average_bulk
[[nodiscard]] std::string type_word(Language language, CounterType type);
// "in line 12", or "further up" of what has no place.
[[nodiscard]] std::string line_of(Place place);

[[nodiscard]] constexpr std::string_view word_of(Language language, std::string_view xml,
                                                 std::string_view toml) noexcept {
  return language == Language::kXml ? xml : toml;
}

// The first that is known: a value that was not said is complained about at its element.
[[nodiscard]] constexpr Place first_known(std::initializer_list<Place> places) noexcept {
  for (const Place place : places) {
    if (place.is_known()) return place;
  }
  return {};
}

}  // namespace meterbank::generator
