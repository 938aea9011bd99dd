// SPDX-License-Identifier: Apache-2.0
//
// Between UTF-8, in which names live here, and the wide characters of the Windows interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank {

// The bytes of a character in names and strings.
enum class CharacterWidth : std::uint8_t { kTwo = 2, kFour = 4 };

// Characters may lie at any address; a trailing part of one is ignored. What is no character
// becomes U+FFFD.
[[nodiscard]] std::string utf8_of(std::span<const std::byte> characters, CharacterWidth width);

// Nothing if any of them is no character.
[[nodiscard]] std::optional<std::string> valid_utf8_of(std::span<const std::byte> characters,
                                                       CharacterWidth width);

// Appends the characters and a NUL.
void append_wide(std::string_view utf8, CharacterWidth width, std::vector<std::byte>& out);

// The bytes that append_wide() appends.
[[nodiscard]] std::size_t wide_bytes(std::string_view utf8, CharacterWidth width) noexcept;

}  // namespace meterbank
