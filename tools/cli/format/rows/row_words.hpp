// SPDX-License-Identifier: Apache-2.0
//
// Words and numbers that programs get in every format.
#pragma once

#include <string>

#include "cli/format/quantity.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

// The word that commands and formats have for a set or a counter.
[[nodiscard]] const std::string& word_of(const Counterset& set) noexcept;
[[nodiscard]] const std::string& word_of(const CounterView& counter) noexcept;

// An identifier or a mask, of which every digit counts.
[[nodiscard]] bool is_hexadecimal(const CounterView& counter) noexcept;

// The unit of what is printed: the stored one, or that of the cooked value in its base.
[[nodiscard]] BaseUnit unit_for_programs(const CounterView& counter, bool raw);

}  // namespace meterbank::cli
