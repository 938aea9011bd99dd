// SPDX-License-Identifier: Apache-2.0
//
// How wide a text is in a fixed-width font, and where a string literal may be cut.
#pragma once

#include <cstddef>
#include <string_view>

namespace meterbank::generator {

// Of UTF-8. Where the width of a letter is not known here, the bytes of all: clang-format never
// takes them for more.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;
// Whether columns_of() is what clang-format takes it for.
[[nodiscard]] bool has_certain_width(std::string_view text) noexcept;

// The inside of a string literal and what follows it: where its closing quote is.
[[nodiscard]] std::size_t end_of_string(std::string_view text) noexcept;
// The longest beginning of a literal's inside that `columns` have room for. It ends behind a space
// if that can be, and never inside a character or an escape. 0: there is no such piece.
[[nodiscard]] std::size_t size_of_piece(std::string_view text, std::size_t columns) noexcept;

}  // namespace meterbank::generator
