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
// With its quotes.
[[nodiscard]] std::string literal(std::string_view text);

}  // namespace meterbank::generator
