// SPDX-License-Identifier: Apache-2.0
//
// Formatted text as Windows programs write it. In a wide format of theirs %s is a wide string and
// %lu has 32 bits; the C library here reads it otherwise. So these functions look at the arguments,
// whose types the compiler knows: a string is printed as what it is, a number with the bits it has,
// and an argument that does not fit its place is printed by its own type.
//
// wprintf and fwprintf are overloads that unqualified calls with arguments choose; std::wprintf is
// the C library's. There is nothing of this under -fshort-wchar, where the C library's wide streams
// cannot be used at all.
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#if __SIZEOF_WCHAR_T__ == 4

#include <type_traits>

#include "meterbank/windows/secure_crt.h"

namespace meterbank::crt {

// One argument, by the type it has. A character is a number until a format says otherwise.
struct Argument {
  enum class Kind : unsigned char { kSigned, kUnsigned, kReal, kPointer, kNarrow, kWide };

  template <typename T>
  static Argument of(T value) noexcept {
    Argument argument{};
    argument.bytes = sizeof(T);
    if constexpr (std::is_enum_v<T>) {
      return of(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      argument.kind = Kind::kReal;
      argument.real = static_cast<double>(value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      argument.kind = Kind::kSigned;
      argument.number = static_cast<unsigned long long>(static_cast<long long>(value));
    } else if constexpr (std::is_integral_v<T>) {
      argument.kind = Kind::kUnsigned;
      argument.number = value;
    } else if constexpr (std::is_same_v<T, char*> || std::is_same_v<T, const char*>) {
      argument.kind = Kind::kNarrow;
      argument.pointer = value;
    } else if constexpr (std::is_same_v<T, wchar_t*> || std::is_same_v<T, const wchar_t*>) {
      argument.kind = Kind::kWide;
      argument.pointer = value;
    } else {
      static_assert(std::is_pointer_v<T> || std::is_null_pointer_v<T>,
                    "only numbers, strings and pointers have a format");
      argument.kind = Kind::kPointer;
      argument.pointer = value;
    }
    return argument;
  }

  Kind kind;
  unsigned char bytes;
  unsigned long long number;
  double real;
  const void* pointer;
};

// The text in a buffer: its length, or -1 if it does not fit or the format is invalid. `limit` is
// the number of characters to keep; _TRUNCATE keeps what fits. In all failures the buffer is empty,
// but that a text that was cut stays.
int format_to(wchar_t* target, size_t capacity, size_t limit, const wchar_t* format,
              const Argument* arguments, size_t count) noexcept;
int format_to(char* target, size_t capacity, size_t limit, const char* format,
              const Argument* arguments, size_t count) noexcept;
// The text to a stream: its length, or -1.
int format_to(FILE* stream, const wchar_t* format, const Argument* arguments,
              size_t count) noexcept;

inline constexpr size_t kMustFit = kAll;

template <typename Target, typename Character, typename... Arguments>
int format_into(Target* target, size_t capacity, size_t limit, const Character* format,
                Arguments... arguments) noexcept {
  const Argument list[] = {Argument::of(arguments)..., Argument::of(0)};
  return format_to(target, capacity, limit, format, list, sizeof...(arguments));
}

}  // namespace meterbank::crt

template <typename... Arguments>
int swprintf_s(wchar_t* target, size_t capacity, const wchar_t* format,
               Arguments... arguments) noexcept {
  return meterbank::crt::format_into(target, capacity, meterbank::crt::kMustFit, format,
                                     arguments...);
}
template <size_t kCapacity, typename... Arguments>
int swprintf_s(wchar_t (&target)[kCapacity], const wchar_t* format,
               Arguments... arguments) noexcept {
  return meterbank::crt::format_into(&target[0], kCapacity, meterbank::crt::kMustFit, format,
                                     arguments...);
}
template <typename... Arguments>
int _snwprintf_s(wchar_t* target, size_t capacity, size_t limit, const wchar_t* format,
                 Arguments... arguments) noexcept {
  return meterbank::crt::format_into(target, capacity, limit, format, arguments...);
}
template <size_t kCapacity, typename... Arguments>
int _snwprintf_s(wchar_t (&target)[kCapacity], size_t limit, const wchar_t* format,
                 Arguments... arguments) noexcept {
  return meterbank::crt::format_into(&target[0], kCapacity, limit, format, arguments...);
}
template <typename... Arguments>
int sprintf_s(char* target, size_t capacity, const char* format, Arguments... arguments) noexcept {
  return meterbank::crt::format_into(target, capacity, meterbank::crt::kMustFit, format,
                                     arguments...);
}
template <size_t kCapacity, typename... Arguments>
int sprintf_s(char (&target)[kCapacity], const char* format, Arguments... arguments) noexcept {
  return meterbank::crt::format_into(&target[0], kCapacity, meterbank::crt::kMustFit, format,
                                     arguments...);
}

template <typename First, typename... Arguments>
int fwprintf(FILE* stream, const wchar_t* format, First first, Arguments... arguments) noexcept {
  using meterbank::crt::Argument;
  const Argument list[] = {Argument::of(first), Argument::of(arguments)...};
  return meterbank::crt::format_to(stream, format, list, 1 + sizeof...(arguments));
}
template <typename First, typename... Arguments>
int wprintf(const wchar_t* format, First first, Arguments... arguments) noexcept {
  return fwprintf(stdout, format, first, arguments...);
}
template <typename... Arguments>
int wprintf_s(const wchar_t* format, Arguments... arguments) noexcept {
  using meterbank::crt::Argument;
  const Argument list[] = {Argument::of(arguments)..., Argument::of(0)};
  return meterbank::crt::format_to(stdout, format, list, sizeof...(arguments));
}

#endif
