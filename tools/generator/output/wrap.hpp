// SPDX-License-Identifier: Apache-2.0
//
// Prose on several lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::generator {

// The words of a text on lines of at most `bytes_max` bytes. A longer word has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t bytes_max);

}  // namespace meterbank::generator
