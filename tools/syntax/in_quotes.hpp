// SPDX-License-Identifier: Apache-2.0
//
// Words that a person or another program wrote, as errors show them.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::syntax {

// 'text', cleaned for a terminal, and shortened if it is long.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace meterbank::syntax
