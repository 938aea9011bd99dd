// SPDX-License-Identifier: Apache-2.0
//
// What programs use of Microsoft's C library in C as well as in C++.
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <wchar.h>

#include "meterbank/windows/keywords.h"

#include "basetsd.h"

typedef int errno_t;
typedef size_t rsize_t;

#ifndef _countof
#define _countof(array) (sizeof(array) / sizeof((array)[0]))
#endif

EXTERN_C_START

// A number as text, in the digits of `radix`. With radix 10 a negative number has a sign; with any
// other its bits are shown. EINVAL, and an empty string if there is room for one: no buffer, a
// buffer too small, a radix outside 2..36. Windows ends the program then.
errno_t _itoa_s(int value, char* target, size_t capacity, int radix);
errno_t _itow_s(int value, wchar_t* target, size_t capacity, int radix)
    METERBANK_WIDE_SYMBOL(_itow_s);
errno_t _i64toa_s(__int64 value, char* target, size_t capacity, int radix);
errno_t _i64tow_s(__int64 value, wchar_t* target, size_t capacity, int radix)
    METERBANK_WIDE_SYMBOL(_i64tow_s);
errno_t _ui64toa_s(unsigned __int64 value, char* target, size_t capacity, int radix);
errno_t _ui64tow_s(unsigned __int64 value, wchar_t* target, size_t capacity, int radix)
    METERBANK_WIDE_SYMBOL(_ui64tow_s);

EXTERN_C_END

#if defined(__cplusplus)
// Arrays know their own room.
extern "C++" {
template <size_t kCapacity>
errno_t _itoa_s(int value, char (&target)[kCapacity], int radix) noexcept {
  return _itoa_s(value, target, kCapacity, radix);
}
template <size_t kCapacity>
errno_t _itow_s(int value, wchar_t (&target)[kCapacity], int radix) noexcept {
  return _itow_s(value, target, kCapacity, radix);
}
}
#endif

// Memory of the caller's stack if it is little, else of the heap; _freea() tells them apart by a
// mark in front. Null if there is no memory. `size` is evaluated more than once, as on Windows.
#define _ALLOCA_S_THRESHOLD 1024
#define METERBANK_MALLOCA_MARK_BYTES 16
#define METERBANK_MALLOCA_BYTES(size)                          \
  ((size) > SIZE_MAX - METERBANK_MALLOCA_MARK_BYTES ? SIZE_MAX \
                                                    : (size) + METERBANK_MALLOCA_MARK_BYTES)
#define _malloca(size)                                                          \
  ((size) <= _ALLOCA_S_THRESHOLD - METERBANK_MALLOCA_MARK_BYTES                 \
       ? meterbank_mark_memory(__builtin_alloca(METERBANK_MALLOCA_BYTES(size)), \
                               METERBANK_ON_STACK)                              \
       : meterbank_mark_memory(malloc(METERBANK_MALLOCA_BYTES(size)), METERBANK_ON_HEAP))

#define METERBANK_ON_STACK 0xcccc
#define METERBANK_ON_HEAP 0xdddd
EXTERN_C FORCEINLINE void* meterbank_mark_memory(void* memory, unsigned int mark) {
  if (memory == NULL) return NULL;
  *METERBANK_CAST(unsigned int*, memory) = mark;
  return METERBANK_CAST(char*, memory) + METERBANK_MALLOCA_MARK_BYTES;
}
EXTERN_C FORCEINLINE void _freea(void* memory) {
  char* begin;
  if (memory == NULL) return;
  begin = METERBANK_CAST(char*, memory) - METERBANK_MALLOCA_MARK_BYTES;
  if (*METERBANK_CAST(unsigned int*, METERBANK_CAST(void*, begin)) == METERBANK_ON_HEAP)
    free(begin);
}
