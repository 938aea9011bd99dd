// SPDX-License-Identifier: Apache-2.0
//
// Parameters that lose nothing: what does not fit for certain does not compile.
//
//   void add_packets(Exact<std::uint32_t> n);
//
//   add_packets(1);            fits: the compiler sees that
//   add_packets(count);        of an unsigned type of at most 32 bits
//   add_packets(text.size());  does not compile: 64 bits
//   add_packets(difference);   does not compile: might be negative
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace meterbank {

namespace detail {

// Not those that are numbers in name only.
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                  !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                  !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

// All values of From are values of To.
template <typename From, typename To>
constexpr bool all_fit() noexcept {
  using Source = std::numeric_limits<From>;
  using Target = std::numeric_limits<To>;
  if (!Integer<From> && !std::floating_point<From>) return false;
  if (!Source::is_integer && Target::is_integer) return false;
  if (Source::is_signed && !Target::is_signed) return false;
  return Source::digits <= Target::digits;
}
template <typename From, typename To>
concept AllFit = all_fit<From, To>();
// Not defined: to call it in a constant expression is an error, with and without exceptions.
void this_constant_does_not_fit_the_counter();

template <typename From, typename To>
concept SomeFit = Integer<From> && !all_fit<From, To>();

}  // namespace detail

template <typename T>
class Exact {
 public:
  template <detail::AllFit<T> From>
  constexpr Exact(From value) noexcept : value_(static_cast<T>(value)) {}

  // A constant is looked at: one that does not fit does not compile.
  template <detail::SomeFit<T> From>
  consteval Exact(From constant) : value_(static_cast<T>(constant)) {
    const bool is_same = static_cast<From>(value_) == constant && (value_ < 0) == (constant < 0);
    if (!is_same) detail::this_constant_does_not_fit_the_counter();
  }

  [[nodiscard]] constexpr operator T() const noexcept { return value_; }

 private:
  T value_;
};

}  // namespace meterbank
