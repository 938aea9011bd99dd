// SPDX-License-Identifier: Apache-2.0
//
// The bounded string functions of Microsoft's C library. They return an errno value. Where their
// originals end the program (no room, a null pointer) these leave an empty string and return the
// code. None touches the target beyond its terminator.
#pragma once

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "meterbank/windows/crt.h"

#define _TRUNCATE (static_cast<size_t>(-1))
#define STRUNCATE 80

namespace meterbank::crt {

// Characters before the NUL, at most `limit`.
template <typename Character>
size_t length(const Character* text, size_t limit) noexcept {
  size_t count = 0;
  while (count < limit && text[count] != 0) ++count;
  return count;
}

// Copies at most `count` characters behind the first `used` of the target.
template <typename Character>
errno_t put(Character* target, size_t capacity, size_t used, const Character* source,
            size_t count) noexcept {
  if (target == nullptr || capacity == 0) return EINVAL;
  if (source == nullptr || used >= capacity) {
    target[0] = 0;
    return EINVAL;
  }
  const size_t room = capacity - used - 1;
  const bool cuts = count == _TRUNCATE;
  const size_t wanted = length(source, cuts || count > room ? room + 1 : count);
  if (wanted > room && !cuts) {
    target[0] = 0;
    return ERANGE;
  }
  const size_t copied = wanted > room ? room : wanted;
  for (size_t index = 0; index < copied; ++index) target[used + index] = source[index];
  target[used + copied] = 0;
  return wanted > room ? STRUNCATE : 0;
}

template <typename Character>
size_t used(const Character* target, size_t capacity) noexcept {
  return target == nullptr ? 0 : length(target, capacity);
}

// More characters than any room: what is not cut must fit.
inline constexpr size_t kAll = _TRUNCATE - 1;

template <typename Character, typename Lower>
int compare_without_case(const Character* left, const Character* right, Lower lower) noexcept {
  for (;; ++left, ++right) {
    const auto first = lower(*left);
    const auto second = lower(*right);
    if (first != second) return first < second ? -1 : 1;
    if (first == 0) return 0;
  }
}

}  // namespace meterbank::crt

inline errno_t wcscpy_s(wchar_t* target, rsize_t capacity, const wchar_t* source) noexcept {
  return meterbank::crt::put(target, capacity, 0, source, meterbank::crt::kAll);
}
inline errno_t wcsncpy_s(wchar_t* target, rsize_t capacity, const wchar_t* source,
                         rsize_t count) noexcept {
  return meterbank::crt::put(target, capacity, 0, source, count);
}
inline errno_t wcscat_s(wchar_t* target, rsize_t capacity, const wchar_t* source) noexcept {
  return meterbank::crt::put(target, capacity, meterbank::crt::used(target, capacity), source,
                             meterbank::crt::kAll);
}
inline errno_t wcsncat_s(wchar_t* target, rsize_t capacity, const wchar_t* source,
                         rsize_t count) noexcept {
  return meterbank::crt::put(target, capacity, meterbank::crt::used(target, capacity), source,
                             count);
}
inline errno_t strcpy_s(char* target, rsize_t capacity, const char* source) noexcept {
  return meterbank::crt::put(target, capacity, 0, source, meterbank::crt::kAll);
}
inline errno_t strncpy_s(char* target, rsize_t capacity, const char* source,
                         rsize_t count) noexcept {
  return meterbank::crt::put(target, capacity, 0, source, count);
}
inline errno_t strcat_s(char* target, rsize_t capacity, const char* source) noexcept {
  return meterbank::crt::put(target, capacity, meterbank::crt::used(target, capacity), source,
                             meterbank::crt::kAll);
}
inline errno_t strncat_s(char* target, rsize_t capacity, const char* source,
                         rsize_t count) noexcept {
  return meterbank::crt::put(target, capacity, meterbank::crt::used(target, capacity), source,
                             count);
}

// Arrays know their own room.
template <size_t kCapacity>
errno_t wcscpy_s(wchar_t (&target)[kCapacity], const wchar_t* source) noexcept {
  return wcscpy_s(target, kCapacity, source);
}
template <size_t kCapacity>
errno_t wcsncpy_s(wchar_t (&target)[kCapacity], const wchar_t* source, rsize_t count) noexcept {
  return wcsncpy_s(target, kCapacity, source, count);
}
template <size_t kCapacity>
errno_t wcscat_s(wchar_t (&target)[kCapacity], const wchar_t* source) noexcept {
  return wcscat_s(target, kCapacity, source);
}
template <size_t kCapacity>
errno_t strcpy_s(char (&target)[kCapacity], const char* source) noexcept {
  return strcpy_s(target, kCapacity, source);
}
template <size_t kCapacity>
errno_t strncpy_s(char (&target)[kCapacity], const char* source, rsize_t count) noexcept {
  return strncpy_s(target, kCapacity, source, count);
}
template <size_t kCapacity>
errno_t strcat_s(char (&target)[kCapacity], const char* source) noexcept {
  return strcat_s(target, kCapacity, source);
}

inline size_t wcsnlen_s(const wchar_t* text, size_t limit) noexcept {
  return text == nullptr ? 0 : meterbank::crt::length(text, limit);
}
inline size_t strnlen_s(const char* text, size_t limit) noexcept {
  return text == nullptr ? 0 : meterbank::crt::length(text, limit);
}

inline errno_t memcpy_s(void* target, rsize_t capacity, const void* source,
                        rsize_t count) noexcept {
  if (count == 0) return 0;
  if (target == nullptr) return EINVAL;
  if (source == nullptr || count > capacity) {
    memset(target, 0, capacity);
    return source == nullptr ? EINVAL : ERANGE;
  }
  memcpy(target, source, count);
  return 0;
}
inline errno_t memmove_s(void* target, rsize_t capacity, const void* source,
                         rsize_t count) noexcept {
  if (count == 0) return 0;
  if (target == nullptr || source == nullptr) return EINVAL;
  if (count > capacity) return ERANGE;
  memmove(target, source, count);
  return 0;
}

inline int _wcsicmp(const wchar_t* left, const wchar_t* right) noexcept {
  return meterbank::crt::compare_without_case(
      left, right, [](wchar_t c) { return towlower(static_cast<wint_t>(c)); });
}
inline int _stricmp(const char* left, const char* right) noexcept {
  return meterbank::crt::compare_without_case(
      left, right, [](char c) { return tolower(static_cast<unsigned char>(c)); });
}
