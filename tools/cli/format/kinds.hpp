// SPDX-License-Identifier: Apache-2.0
//
// What a counter type means to a person: the kind of number it becomes and that number's unit.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank::cli {

struct KindWords {
  std::string_view kind;    // "rate", "level", "ratio", "time", "average", "change", "base"
  std::string_view phrase;  // how the number comes about
};
[[nodiscard]] KindWords kind_of(CounterType type) noexcept;

// "perf_counter_bulk_count", or the number of a type without a name.
[[nodiscard]] std::string type_text(CounterType type);

// Unit of the cooked value: "{order}/s" for a rate of "{order}", "%" for a ratio.
[[nodiscard]] std::string cooked_unit(const CounterView& counter);

// One word for scripts: "ok", "no-rate-yet", "dead" ... docs/cli.md lists them.
[[nodiscard]] std::string_view status_word(const CookedRow& row) noexcept;

// The number that a row offers, if it has one. `raw` asks for the stored value instead.
[[nodiscard]] bool row_has_value(const CookedRow& row, bool raw) noexcept;

}  // namespace meterbank::cli
