// SPDX-License-Identifier: Apache-2.0
//
// Doubles as integers. Most published doubles are decimals of few places: 12, 0.25, 98.6. The
// differences of such numbers are short if they are counted in units of the last place. All other
// doubles are taken as the integer whose order is that of the doubles.
#pragma once

#include <bit>
#include <cstdint>

namespace meterbank::recording {

// Forms 0 to 6: decimals of so many places. 7: any bits.
inline constexpr unsigned kAnyReal = 7;

// Of bits that do not fit the form, some number: both sides compute the same one. It must not
// depend on how a compiler contracts multiplication and addition (-ffp-contract=off).
[[nodiscard]] inline std::uint64_t number_of(std::uint64_t bits, unsigned form) noexcept;
[[nodiscard]] inline std::uint64_t bits_of(std::uint64_t number, unsigned form) noexcept;

namespace detail {

inline constexpr double kPowers[kAnyReal] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

[[nodiscard]] inline bool fits(std::uint64_t bits, unsigned form) noexcept {
  return bits_of(number_of(bits, form), form) == bits;
}

}  // namespace detail

inline std::uint64_t number_of(std::uint64_t bits, unsigned form) noexcept {
  if (form == kAnyReal) return (bits & detail::kSignBit) != 0 ? ~bits : bits | detail::kSignBit;
  constexpr double kExactMax = 0x1p53;
  const double scaled = std::bit_cast<double>(bits) * detail::kPowers[form];
  if (!(scaled > -kExactMax && scaled < kExactMax)) return 0;  // or not a number
  const double half = scaled < 0 ? -0.5 : 0.5;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled + half));
}

inline std::uint64_t bits_of(std::uint64_t number, unsigned form) noexcept {
  if (form == kAnyReal) {
    return (number & detail::kSignBit) != 0 ? number & ~detail::kSignBit : ~number;
  }
  const auto whole = static_cast<double>(static_cast<std::int64_t>(number));
  return std::bit_cast<std::uint64_t>(whole / detail::kPowers[form]);
}

// The form to code a value in: the present one as long as it fits, else the shortest.
[[nodiscard]] inline unsigned form_of(std::uint64_t bits, unsigned present) noexcept {
  if (present != kAnyReal && detail::fits(bits, present)) return present;
  if (!detail::fits(bits, kAnyReal - 1)) return kAnyReal;
  unsigned form = 0;
  while (!detail::fits(bits, form)) ++form;  // ends at the longest, which fits
  return form;
}

}  // namespace meterbank::recording
