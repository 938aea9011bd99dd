// SPDX-License-Identifier: Apache-2.0
//
// What is more than a plain number: signed and real values, texts, distributions, set times.
#pragma once

#include <cstdint>
#include <span>

#include "meterbank/reader/cook.hpp"

namespace meterbank {

using Words = std::span<const std::uint64_t>;

// Completes a row that was cooked as a plain number. `older` is the row as it was, empty if there
// is none; both have the words that the counter speaks of.
void add_form(Words newer, Words older, CookedRow& row);

}  // namespace meterbank
