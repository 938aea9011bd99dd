// SPDX-License-Identifier: Apache-2.0
//
// The functions of <strsafe.h>.
#include <algorithm>
#include <cstddef>
#include <new>
#include <string>

#include "format_text.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "strsafe.h"

namespace {

constexpr std::size_t kAll = STRSAFE_MAX_LENGTH;

bool is_room(const void* target, std::size_t capacity) noexcept {
  return target != nullptr && capacity > 0 && capacity <= STRSAFE_MAX_CCH;
}

// Characters before the NUL, at most `limit`.
template <typename Character>
std::size_t length_within(const Character* text, std::size_t limit) noexcept {
  return static_cast<std::size_t>(std::find(text, text + limit, Character{}) - text);
}

// Puts at most `count` characters of the source behind the first `used` of the target.
// Precondition: the target has room for a NUL there.
template <typename Character>
HRESULT append(Character* target, std::size_t capacity, std::size_t used, const Character* source,
               std::size_t count) noexcept {
  const std::size_t room = capacity - used - 1;
  std::size_t copied = 0;
  for (; copied < count && source[copied] != 0; ++copied) {
    if (copied == room) {
      target[used + copied] = 0;
      return STRSAFE_E_INSUFFICIENT_BUFFER;
    }
    target[used + copied] = source[copied];
  }
  target[used + copied] = 0;
  return S_OK;
}

template <typename Character>
HRESULT copy(Character* target, std::size_t capacity, const Character* source,
             std::size_t count) noexcept {
  if (!is_room(target, capacity)) return STRSAFE_E_INVALID_PARAMETER;
  target[0] = 0;
  if (source == nullptr || count > kAll) return STRSAFE_E_INVALID_PARAMETER;
  return append(target, capacity, 0, source, count);
}

template <typename Character>
HRESULT cat(Character* target, std::size_t capacity, const Character* source,
            std::size_t count) noexcept {
  if (!is_room(target, capacity)) return STRSAFE_E_INVALID_PARAMETER;
  if (source == nullptr || count > kAll) return STRSAFE_E_INVALID_PARAMETER;
  const std::size_t used = length_within(target, capacity);
  if (used == capacity) return STRSAFE_E_INVALID_PARAMETER;
  return append(target, capacity, used, source, count);
}

template <typename Character>
HRESULT measure(const Character* text, std::size_t capacity, std::size_t unit,
                std::size_t* length) noexcept {
  if (length != nullptr) *length = 0;
  if (!is_room(text, capacity)) return STRSAFE_E_INVALID_PARAMETER;
  const std::size_t found = length_within(text, capacity);
  if (found == capacity) return STRSAFE_E_INVALID_PARAMETER;
  if (length != nullptr) *length = found * unit;
  return S_OK;
}

template <typename Character>
HRESULT print(Character* target, std::size_t capacity, const Character* format,
              va_list arguments) noexcept {
  if (!is_room(target, capacity)) return STRSAFE_E_INVALID_PARAMETER;
  target[0] = 0;
  if (format == nullptr) return STRSAFE_E_INVALID_PARAMETER;
  try {
    const auto text = meterbank::crt::formatted(format, arguments);
    if (!text) return STRSAFE_E_INVALID_PARAMETER;
    return append(target, capacity, 0, text->c_str(), text->size());
  } catch (const std::bad_alloc&) {
    return E_OUTOFMEMORY;
  }
}

constexpr std::size_t kWide = sizeof(wchar_t);
constexpr std::size_t kUtf16 = sizeof(char16_t);

}  // namespace

extern "C" {

// ---- Narrow ----

HRESULT StringCchCopyA(LPSTR target, size_t capacity, LPCSTR source) {
  return copy(target, capacity, source, kAll);
}
HRESULT StringCbCopyA(LPSTR target, size_t bytes, LPCSTR source) {
  return copy(target, bytes, source, kAll);
}
HRESULT StringCchCopyNA(LPSTR target, size_t capacity, LPCSTR source, size_t count) {
  return copy(target, capacity, source, count);
}
HRESULT StringCbCopyNA(LPSTR target, size_t bytes, LPCSTR source, size_t count) {
  return copy(target, bytes, source, count);
}
HRESULT StringCchCatA(LPSTR target, size_t capacity, LPCSTR source) {
  return cat(target, capacity, source, kAll);
}
HRESULT StringCbCatA(LPSTR target, size_t bytes, LPCSTR source) {
  return cat(target, bytes, source, kAll);
}
HRESULT StringCchCatNA(LPSTR target, size_t capacity, LPCSTR source, size_t count) {
  return cat(target, capacity, source, count);
}
HRESULT StringCbCatNA(LPSTR target, size_t bytes, LPCSTR source, size_t count) {
  return cat(target, bytes, source, count);
}
HRESULT StringCchLengthA(LPCSTR text, size_t capacity, size_t* length) {
  return measure(text, capacity, 1, length);
}
HRESULT StringCbLengthA(LPCSTR text, size_t bytes, size_t* length) {
  return measure(text, bytes, 1, length);
}
HRESULT StringCchVPrintfA(LPSTR target, size_t capacity, LPCSTR format, va_list arguments) {
  return print(target, capacity, format, arguments);
}
HRESULT StringCbVPrintfA(LPSTR target, size_t bytes, LPCSTR format, va_list arguments) {
  return print(target, bytes, format, arguments);
}
HRESULT StringCchPrintfA(LPSTR target, size_t capacity, LPCSTR format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const HRESULT result = print(target, capacity, format, arguments);
  va_end(arguments);
  return result;
}
HRESULT StringCbPrintfA(LPSTR target, size_t bytes, LPCSTR format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const HRESULT result = print(target, bytes, format, arguments);
  va_end(arguments);
  return result;
}

// ---- Wide ----

HRESULT StringCchCopyW(LPWSTR target, size_t capacity, LPCWSTR source) {
  return copy(target, capacity, source, kAll);
}
HRESULT StringCbCopyW(LPWSTR target, size_t bytes, LPCWSTR source) {
  return copy(target, bytes / kWide, source, kAll);
}
HRESULT StringCchCopyNW(LPWSTR target, size_t capacity, LPCWSTR source, size_t count) {
  return copy(target, capacity, source, count);
}
HRESULT StringCbCopyNW(LPWSTR target, size_t bytes, LPCWSTR source, size_t count) {
  return copy(target, bytes / kWide, source, count / kWide);
}
HRESULT StringCchCatW(LPWSTR target, size_t capacity, LPCWSTR source) {
  return cat(target, capacity, source, kAll);
}
HRESULT StringCbCatW(LPWSTR target, size_t bytes, LPCWSTR source) {
  return cat(target, bytes / kWide, source, kAll);
}
HRESULT StringCchCatNW(LPWSTR target, size_t capacity, LPCWSTR source, size_t count) {
  return cat(target, capacity, source, count);
}
HRESULT StringCbCatNW(LPWSTR target, size_t bytes, LPCWSTR source, size_t count) {
  return cat(target, bytes / kWide, source, count / kWide);
}
HRESULT StringCchLengthW(LPCWSTR text, size_t capacity, size_t* length) {
  return measure(text, capacity, 1, length);
}
HRESULT StringCbLengthW(LPCWSTR text, size_t bytes, size_t* length) {
  return measure(text, bytes / kWide, kWide, length);
}
HRESULT StringCchVPrintfW(LPWSTR target, size_t capacity, LPCWSTR format, va_list arguments) {
  return print(target, capacity, format, arguments);
}
HRESULT StringCbVPrintfW(LPWSTR target, size_t bytes, LPCWSTR format, va_list arguments) {
  return print(target, bytes / kWide, format, arguments);
}
HRESULT StringCchPrintfW(LPWSTR target, size_t capacity, LPCWSTR format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const HRESULT result = print(target, capacity, format, arguments);
  va_end(arguments);
  return result;
}
HRESULT StringCbPrintfW(LPWSTR target, size_t bytes, LPCWSTR format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const HRESULT result = print(target, bytes / kWide, format, arguments);
  va_end(arguments);
  return result;
}

// ---- Wide, in programs with a wchar_t of 16 bits ----

HRESULT meterbank_utf16_StringCchCopyW(char16_t* target, size_t capacity, const char16_t* source) {
  return copy(target, capacity, source, kAll);
}
HRESULT meterbank_utf16_StringCbCopyW(char16_t* target, size_t bytes, const char16_t* source) {
  return copy(target, bytes / kUtf16, source, kAll);
}
HRESULT meterbank_utf16_StringCchCopyNW(char16_t* target, size_t capacity, const char16_t* source,
                                        size_t count) {
  return copy(target, capacity, source, count);
}
HRESULT meterbank_utf16_StringCbCopyNW(char16_t* target, size_t bytes, const char16_t* source,
                                       size_t count) {
  return copy(target, bytes / kUtf16, source, count / kUtf16);
}
HRESULT meterbank_utf16_StringCchCatW(char16_t* target, size_t capacity, const char16_t* source) {
  return cat(target, capacity, source, kAll);
}
HRESULT meterbank_utf16_StringCbCatW(char16_t* target, size_t bytes, const char16_t* source) {
  return cat(target, bytes / kUtf16, source, kAll);
}
HRESULT meterbank_utf16_StringCchCatNW(char16_t* target, size_t capacity, const char16_t* source,
                                       size_t count) {
  return cat(target, capacity, source, count);
}
HRESULT meterbank_utf16_StringCbCatNW(char16_t* target, size_t bytes, const char16_t* source,
                                      size_t count) {
  return cat(target, bytes / kUtf16, source, count / kUtf16);
}
HRESULT meterbank_utf16_StringCchLengthW(const char16_t* text, size_t capacity, size_t* length) {
  return measure(text, capacity, 1, length);
}
HRESULT meterbank_utf16_StringCbLengthW(const char16_t* text, size_t bytes, size_t* length) {
  return measure(text, bytes / kUtf16, kUtf16, length);
}

}  // extern "C"
