// SPDX-License-Identifier: Apache-2.0
//
// The spellings of one name: C++ types, functions and enumerators, metric words.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::generator {

// [_A-Za-z][_0-9A-Za-z]*, and not a keyword of C or C++.
[[nodiscard]] bool is_identifier(std::string_view text) noexcept;
[[nodiscard]] bool is_keyword(std::string_view text) noexcept;

// "Square Wave", "SquareWave" and "square_wave" are square_wave; "% Processor Time" is
// processor_time; "Accepted/sec" is accepted_sec; "IOReads" is io_reads. Empty if no letter or
// digit of ASCII is left.
[[nodiscard]] std::string snake_case(std::string_view name);
// Letters of ASCII.
[[nodiscard]] std::string upper_case(std::string_view text);
// square_wave is SquareWave. Of a word from snake_case().
[[nodiscard]] std::string camel_case(std::string_view word);

}  // namespace meterbank::generator
