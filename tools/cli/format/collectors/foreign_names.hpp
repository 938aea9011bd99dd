// SPDX-License-Identifier: Apache-2.0
//
// Names of providers, sets and instances for systems that allow fewer characters than we do.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// What the last gate before the output would escape, line ends too, becomes U+FFFD: an escape has
// no meaning in these formats.
[[nodiscard]] std::string replace_hidden(std::string_view text, Charset charset);

// Each byte that `is_allowed` refuses becomes '_', and the name is cut to `bytes_max`. A name that
// this changes ends in '-' and eight hexadecimal digits of its digest, so that it stays apart from
// others. Precondition: bytes_max > 9.
[[nodiscard]] std::string restricted_name(std::string_view name, bool (*is_allowed)(char),
                                          std::size_t bytes_max = std::string_view::npos);

}  // namespace meterbank::cli
