// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "meterbank/windows/crt.h"
#include "meterbank/windows/utf16_functions.h"

namespace {

template <typename Character>
errno_t put_number(std::uint64_t bits, bool is_negative, Character* target, std::size_t capacity,
                   int radix) noexcept {
  if (target == nullptr || capacity == 0) return EINVAL;
  target[0] = 0;
  if (radix < 2 || radix > 36) return EINVAL;
  constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  Character backwards[65];
  std::size_t count = 0;
  const auto base = static_cast<std::uint64_t>(radix);
  std::uint64_t rest = is_negative ? 0 - bits : bits;
  do {
    backwards[count++] = static_cast<Character>(kDigits[rest % base]);
    rest /= base;
  } while (rest != 0);
  if (is_negative) backwards[count++] = '-';
  if (capacity <= count) return EINVAL;
  std::reverse_copy(backwards, backwards + count, target);
  target[count] = 0;
  return 0;
}

// A sign is for decimal numbers; in any other radix an int shows its 32 bits.
template <typename Character>
errno_t put_int(int value, Character* target, std::size_t capacity, int radix) noexcept {
  const bool has_sign = value < 0 && radix == 10;
  const auto bits = has_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                             : std::uint64_t{static_cast<std::uint32_t>(value)};
  return put_number(bits, has_sign, target, capacity, radix);
}
template <typename Character>
errno_t put_int64(long long value, Character* target, std::size_t capacity, int radix) noexcept {
  return put_number(static_cast<std::uint64_t>(value), value < 0 && radix == 10, target, capacity,
                    radix);
}

}  // namespace

extern "C" {

errno_t _itoa_s(int value, char* target, size_t capacity, int radix) {
  return put_int(value, target, capacity, radix);
}
errno_t _itow_s(int value, wchar_t* target, size_t capacity, int radix) {
  return put_int(value, target, capacity, radix);
}
errno_t meterbank_utf16__itow_s(int value, char16_t* target, size_t capacity, int radix) {
  return put_int(value, target, capacity, radix);
}
errno_t _i64toa_s(long long value, char* target, size_t capacity, int radix) {
  return put_int64(value, target, capacity, radix);
}
errno_t _i64tow_s(long long value, wchar_t* target, size_t capacity, int radix) {
  return put_int64(value, target, capacity, radix);
}
errno_t meterbank_utf16__i64tow_s(long long value, char16_t* target, size_t capacity, int radix) {
  return put_int64(value, target, capacity, radix);
}
errno_t _ui64toa_s(unsigned long long value, char* target, size_t capacity, int radix) {
  return put_number(value, false, target, capacity, radix);
}
errno_t _ui64tow_s(unsigned long long value, wchar_t* target, size_t capacity, int radix) {
  return put_number(value, false, target, capacity, radix);
}
errno_t meterbank_utf16__ui64tow_s(unsigned long long value, char16_t* target, size_t capacity,
                                   int radix) {
  return put_number(value, false, target, capacity, radix);
}

}  // extern "C"
