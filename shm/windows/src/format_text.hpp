// SPDX-License-Identifier: Apache-2.0
//
// Formats of Windows over the arguments of a variadic function, whose types only the format says.
#pragma once

#include <cstdarg>
#include <optional>
#include <string>

namespace meterbank::crt {

// Nothing: the format is malformed. Narrow text is UTF-8.
[[nodiscard]] std::optional<std::wstring> formatted(const wchar_t* format, std::va_list arguments);
[[nodiscard]] std::optional<std::string> formatted(const char* format, std::va_list arguments);

}  // namespace meterbank::crt
