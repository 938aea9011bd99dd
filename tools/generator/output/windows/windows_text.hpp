// SPDX-License-Identifier: Apache-2.0
//
// Text of a manifest as it may stand in C, in comments and in resource scripts: UTF-8 without
// control characters, as check() wants it. It stays what it is, but for the characters that turn
// the direction of writing: compilers warn of those.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/base/guid.hpp"

namespace meterbank::generator {

// Between the quotes of "..." and L"...".
[[nodiscard]] std::string c_text(std::string_view text);

// Between the quotes of a resource script's L"...".
[[nodiscard]] std::string resource_text(std::string_view text);

// Behind `//`: on one line, whatever is in it; a file's name may be anything.
[[nodiscard]] std::string c_comment(std::string_view text);

// {0xd2ffffff, 0xc923, 0x4794, {0xb6, ...}}, and without the braces as DEFINE_GUID takes it.
[[nodiscard]] std::string guid_initializer(const Guid& guid);
[[nodiscard]] std::string guid_arguments(const Guid& guid);

}  // namespace meterbank::generator
