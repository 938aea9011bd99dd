// SPDX-License-Identifier: Apache-2.0
//
// Foreign names as PCP allows them. docs/pcp.md has the rules.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::pcp {

// How long one part of a metric's name may be. Longer ones end in digits that are made of all of
// the name.
inline constexpr std::size_t kPartBytesMax = 100;

// One part of a metric's name, [a-z][a-z0-9_]*, made of the symbol, else of the name. Empty if
// neither has a letter or digit of ASCII.
[[nodiscard]] std::string metric_part(std::string_view symbol, std::string_view name);

// One part of an instance's external name: UTF-8 without control characters and spaces, which are
// '_' because PCP compares names up to the first space.
[[nodiscard]] std::string instance_part(std::string_view name);

// Eight hexadecimal digits that depend on all of the text.
[[nodiscard]] std::string digits_of(std::string_view text);

}  // namespace meterbank::pcp
