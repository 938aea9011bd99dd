// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "exposition/family/family.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::exposition {

inline constexpr double kNsPerSecond = 1e9;

// One number of a row. Whole numbers keep all their digits.
struct Number {
  enum class Kind : std::uint8_t { kNone, kUnsigned, kSigned, kReal };
  Kind kind = Kind::kNone;
  std::uint64_t whole = 0;  // kSigned: in two's complement
  double real = 0;

  [[nodiscard]] double as_double() const noexcept;
};

// kNone: the row has no such number at this moment; a share of nothing, a start that has not
// happened.
[[nodiscard]] Number number_of(const NumberSource& source, const StoredRow& row,
                               const Timestamp& time) noexcept;

// Whether the number can be the value of a counter: finite and not less than zero.
[[nodiscard]] bool can_count(const Number& number) noexcept;

}  // namespace meterbank::exposition
