// SPDX-License-Identifier: Apache-2.0
//
// The forms that a value can have: each function gives the value of an entry, or says at its place
// why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/input/elements.hpp"
#include "generator/input/near_word.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "generator/manifest/vocabulary.hpp"

namespace meterbank::generator {

struct Reading {
  Language language;
  Problems& problems;

  void add(const Entry& entry, std::string what, std::string hint = {}) const {
    problems.add(entry.place, std::move(what), std::move(hint));
  }
};

[[nodiscard]] std::optional<std::string> text_of(const Reading& reading, const Entry& entry);
// Decimal, or 0x and 1 to 8 hexadecimal digits.
[[nodiscard]] std::optional<std::uint32_t> number_of(const Reading& reading, const Entry& entry);
[[nodiscard]] std::optional<std::int32_t> integer_of(const Reading& reading, const Entry& entry);
[[nodiscard]] std::optional<double> real_of(const Reading& reading, const Entry& entry);
[[nodiscard]] std::optional<bool> boolean_of(const Reading& reading, const Entry& entry);
// In braces; in TOML without them too.
[[nodiscard]] std::optional<Guid> guid_in(const Reading& reading, const Entry& entry);

// What a word stands for. `refusal` begins the message about one that is not among them.
template <const auto& kWords>
[[nodiscard]] auto value_of(const Reading& reading, const Entry& entry, const std::string& text,
                            const std::string& refusal)
    -> std::optional<decltype(kWords.front().value)> {
  NearWord near(text);
  std::string known;
  for (const auto& word : kWords) {
    const std::string_view spelling = word.in(reading.language);
    if (spelling == text) return word.value;
    near.consider(spelling);
    known.append(known.empty() ? "one of " : ", ").append(spelling);
  }
  reading.add(entry, refusal + " " + in_quotes(text), near.hint(known));
  return std::nullopt;
}

template <const auto& kWords>
[[nodiscard]] auto word_of(const Reading& reading, const Entry& entry)
    -> std::optional<decltype(kWords.front().value)> {
  const auto text = text_of(reading, entry);
  if (!text) return std::nullopt;
  return value_of<kWords>(reading, entry, *text, entry.name + " cannot be");
}

}  // namespace meterbank::generator
