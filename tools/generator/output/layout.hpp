// SPDX-License-Identifier: Apache-2.0
//
// Breaks the long lines of generated C and C++ as clang-format does it in this tree's style.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meterbank::generator {

inline constexpr std::size_t kColumnsMax = 100;

// Of text in a fixed-width font, as clang-format counts them or more.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

// Lines that fit are left alone, so a template writes everything that clang-format would join on
// one line. Longer ones are broken if they are one of these:
//
//   // a comment                                   at spaces
//   <anything>"a long string"<anything>            into several strings, each on a line of its own
//   void function(T one, T two) noexcept { x(); }  behind the brace, then behind commas
//   call(one, two);                                behind commas
//
// What cannot be broken, such as a name of a hundred letters, is put between `clang-format off` and
// `on`, and stays as it is.
[[nodiscard]] std::string lay_out(std::string_view text);

}  // namespace meterbank::generator
