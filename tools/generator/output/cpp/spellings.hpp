// SPDX-License-Identifier: Apache-2.0
//
// Values as they are written in C++.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/publisher/schema.hpp"

namespace meterbank::generator {

// "kBulkCount"
[[nodiscard]] std::string_view enumerator_of(CounterType type) noexcept;
[[nodiscard]] std::string_view enumerator_of(ValueForm form) noexcept;
[[nodiscard]] std::string_view enumerator_of(InstanceKind kind) noexcept;
[[nodiscard]] std::string_view aggregate_constant(std::uint32_t aggregate) noexcept;

// The shortest literal that is this value again.
[[nodiscard]] std::string literal(double value);
// With its quotes. What does not print, or changes the order of what does, is escaped.
[[nodiscard]] std::string literal(std::string_view text);

// Text for a comment that ends with its line, whatever it says.
[[nodiscard]] std::string comment_text(std::string_view text);

}  // namespace meterbank::generator
