// SPDX-License-Identifier: Apache-2.0
//
// Sized integers. `__int64` and its like are macros, because programs write `unsigned __int64`,
// `__int64 unsigned` and `const __int64` alike, and a typedef takes no `unsigned`. The compilers of
// Windows know them without any header: programs that link meterbank::windows get them as compile
// definitions, too.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__int64)
#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long
#endif

// These headers are read by C, too, and by C99, which has no static_assert.
#if defined(__cplusplus)
#define METERBANK_CAST(type, value) (static_cast<type>(value))
#else
#define METERBANK_CAST(type, value) ((type)(value))
#if !defined(static_assert) && __STDC_VERSION__ < 202311L
#define static_assert _Static_assert
#endif
#endif

typedef signed char INT8, *PINT8;
typedef signed short INT16, *PINT16;
typedef signed int INT32, *PINT32, LONG32, *PLONG32;
typedef signed __int64 INT64, *PINT64, LONG64, *PLONG64;
typedef unsigned char UINT8, *PUINT8;
typedef unsigned short UINT16, *PUINT16;
typedef unsigned int UINT32, *PUINT32, ULONG32, *PULONG32, DWORD32, *PDWORD32;
typedef unsigned __int64 UINT64, *PUINT64, ULONG64, *PULONG64, DWORD64, *PDWORD64;

// As wide as a pointer, and the same types as the C library's: `SIZE_T size = vector.size()` and
// `&size` go wherever a size_t does.
typedef intptr_t INT_PTR, *PINT_PTR, LONG_PTR, *PLONG_PTR;
typedef uintptr_t UINT_PTR, *PUINT_PTR, ULONG_PTR, *PULONG_PTR, DWORD_PTR, *PDWORD_PTR;
typedef int HALF_PTR, *PHALF_PTR;
typedef unsigned int UHALF_PTR, *PUHALF_PTR;
typedef size_t SIZE_T, *PSIZE_T;
typedef ptrdiff_t SSIZE_T, *PSSIZE_T;
typedef ULONG_PTR KAFFINITY, *PKAFFINITY;
