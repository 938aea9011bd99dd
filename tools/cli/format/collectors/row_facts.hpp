// SPDX-License-Identifier: Apache-2.0
//
// What formats of collectors have in common.
#pragma once

#include <string>

#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

// Whether collectors get this value: it is there, and its provider has not ended.
[[nodiscard]] bool is_for_collectors(const Value& value, bool raw) noexcept;

// "accepted"; of a distribution "latency.count", because "latency.p99" stands beside it.
[[nodiscard]] std::string counter_name(const CounterView& counter);

// "orders", or "orders@48213" where another provider has a row of the same name. Empty for a total
// of several providers.
[[nodiscard]] std::string provider_name(const Row& row);

// Whether the stored value grows for as long as its instance lives.
[[nodiscard]] bool is_stored_count(const CounterView& counter) noexcept;

}  // namespace meterbank::cli
