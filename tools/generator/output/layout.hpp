// SPDX-License-Identifier: Apache-2.0
//
// Breaks the long lines of generated C and C++ as clang-format does it in this tree's style.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meterbank::generator {

inline constexpr std::size_t kColumnsMax = 100;

// Lines that fit are left alone, so a template writes everything that clang-format would join on
// one line. Longer ones are broken if they are one of these:
//
//   // a comment                                   at spaces
//   x = "a long string";                           into several strings, a line each
//   void function(T one, T two) noexcept { x(); }  at the braces, then behind commas
//   X(T one) : one_(one) {}                        before the colon, then behind commas
//   x = something;                                 behind the =
//   call(one, two);                                behind commas
//
// Where something cannot be broken, such as a name of a hundred letters, clang-format is switched
// off below the first comment.
[[nodiscard]] std::string lay_out(std::string_view text);

}  // namespace meterbank::generator
