// SPDX-License-Identifier: Apache-2.0
//
// Names by the conventions of Prometheus: words of [a-z0-9_], the base unit last.
//
//   set "demo_orders", counter "bytes_received", unit "By"  -> meterbank_demo_orders_received_bytes
//
// A counter gets "_total" behind it, where it is written.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::exposition {

// Lower case; each run of other characters is one '_', none at the ends. May be empty.
[[nodiscard]] std::string snake_case(std::string_view text);

// The unit of a metric's values, as a name has it and as a code.
struct UnitWord {
  std::string word;  // "seconds", "bytes_per_second"; empty: names say nothing of it
  double factor = 1, divisor = 1;
  std::string ucum;  // "s", "By/s", "{order}"
};
[[nodiscard]] UnitWord unit_word_of(std::string_view ucum);
// The same without a change of scale: "milliseconds" for "ms".
[[nodiscard]] UnitWord stored_unit_word_of(std::string_view ucum);

// `name` with the words of `unit` moved to its end, or appended.
[[nodiscard]] std::string with_unit_last(std::string_view name, std::string_view unit);
// The same without words that name a multiple or part of the unit, which its values are no more:
// "free_megabytes" in "bytes" is "free_bytes".
[[nodiscard]] std::string with_unit_instead(std::string_view name, std::string_view unit);

}  // namespace meterbank::exposition
