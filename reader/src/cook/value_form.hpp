// SPDX-License-Identifier: Apache-2.0
//
// What is more than a plain number: signed and real values, texts, distributions, set times.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "meterbank/reader/sample.hpp"

namespace meterbank {

using Words = std::span<const std::uint64_t>;

// A plain number's cooked value, in the form of its counter.
[[nodiscard]] CookedValue cooked_in_form(const CounterView& counter, CookedValue plain,
                                         std::uint64_t word) noexcept;

// Two stored words as one by an aggregate function, and a sum of `count` of them divided by it.
[[nodiscard]] std::uint64_t joined_in_form(ValueForm form, std::uint32_t aggregate,
                                           std::uint64_t so_far, std::uint64_t next) noexcept;
[[nodiscard]] std::uint64_t divided_in_form(const CounterView& counter, std::uint64_t sum,
                                            std::uint64_t count) noexcept;

// Of a counter of that form. False where its words contradict each other; then the distribution
// is undefined.
[[nodiscard]] bool read_distribution(const CounterView& counter, Words words,
                                     Distribution& distribution);

// What the distribution and the text of a value refer to, kept for the next value.
struct FormRoom {
  Distribution distribution, before;
  std::string text, text_before;
};

// Completes a value that was cooked as a plain number. `older` is the row as it was, or empty;
// both have the words that the counter speaks of.
void add_form(Words newer, Words older, FormRoom& room, Value& value);

}  // namespace meterbank
