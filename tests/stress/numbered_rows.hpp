// SPDX-License-Identifier: Apache-2.0
//
// Instances whose name says what their values must be.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "../support/orders_schema.hpp"

namespace meterbank::test {

// "row 17", and for every eighth a name too long for its slot.
inline std::string name_of_row(std::uint64_t number) {
  std::string name = "row " + std::to_string(number);
  if (number % 8 == 0) name += " " + std::string(60, 'x');
  return name;
}

inline std::optional<std::uint64_t> number_of_row(std::string_view name) {
  constexpr std::string_view kHead = "row ";
  if (!name.starts_with(kHead)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const begin = name.data() + kHead.size();
  if (std::from_chars(begin, name.data() + name.size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return name == name_of_row(number) ? std::optional(number) : std::nullopt;
}

// One commit.
inline void fill_row(Instance& instance, std::uint64_t number) {
  instance.update([number](Values& values) noexcept {
    values.set(Venue::kAccepted, number);
    values.set(Venue::kBytes, number * 3);
    values.set(Venue::kDepth, ~number);
  });
}

// What fill_row() stored for this name, or what a new instance has.
inline bool is_right(std::uint64_t number, const std::uint64_t* row) {
  const bool is_new = row[0] == 0 && row[1] == 0 && row[2] == 0;
  return is_new || (row[0] == number && row[1] == number * 3 && row[2] == ~number);
}

}  // namespace meterbank::test
