// SPDX-License-Identifier: Apache-2.0
//
// What a counter type means to a person: the kind of number it becomes and that number's unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/format/quantity.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

struct KindWords {
  // "rate", "level", "ratio", "time", "average", "change", "base", "distribution", "percentile",
  // "text"
  std::string_view kind;
  std::string_view phrase;  // how the number comes about
};
[[nodiscard]] KindWords kind_of(CounterType type) noexcept;
// Of what its words are, too. A distribution without a word of its own is a percentile of one.
[[nodiscard]] KindWords kind_of(const CounterView& counter) noexcept;

// "perf_counter_bulk_count", or the number of a type without a name.
[[nodiscard]] std::string type_text(CounterType type);

// Unit of the cooked value: "{order}/s" for a rate of "{order}", "%" for a ratio. That of a
// distribution counts its values, whose own unit is that of the counter.
[[nodiscard]] std::string cooked_unit(const CounterView& counter);
// Unit of the stored value.
[[nodiscard]] std::string stored_unit(const CounterView& counter);

// The stored value by the form of its counter, with all its digits. Not of a text.
[[nodiscard]] std::string stored_text(const Value& row);
void append_stored(const Value& row, std::string& out);
// The number that is shown, where it is the stored integer and all its digits are shown: a level
// without a unit, or in a unit that is a base unit. A double has no room for some of them.
[[nodiscard]] std::optional<std::string> exact_text(const Value& row, UnitStyle units);
[[nodiscard]] double stored_number(const Value& row) noexcept;

// One word for scripts: "ok", "no-rate-yet", "dead" ... docs/cli.md lists them. `raw` asks for that
// of the stored value, which needs no earlier sample.
[[nodiscard]] std::string_view status_word(const Value& row, bool raw = false) noexcept;

// Whether the row offers a number or a text (Value::text). `raw` asks for the stored value
// instead.
[[nodiscard]] bool row_has_value(const Value& row, bool raw) noexcept;

}  // namespace meterbank::cli
