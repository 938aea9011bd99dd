// SPDX-License-Identifier: Apache-2.0
//
// Schemas and directories in fewer bytes: their size, the size of what follows, and one stretch of
// the range coder with these bytes as a text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../frames/bytes.hpp"

namespace meterbank::recording {

void append_packed(std::string_view bytes, std::string& out);

// Nothing: the bytes do not hold what they say, or more than `bytes_max`. Memory is taken as bytes
// come out, so a size that is a lie costs nothing.
[[nodiscard]] std::optional<std::string> read_packed(ByteReader& in, std::size_t bytes_max);

void skip_packed(ByteReader& in) noexcept;

}  // namespace meterbank::recording
