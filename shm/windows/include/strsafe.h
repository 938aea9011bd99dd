// SPDX-License-Identifier: Apache-2.0
//
// String functions that know how much room there is. Cch counts characters, Cb bytes; W is wide, A
// narrow, and a name without either is W if UNICODE is defined.
//
// Results are those of Windows: S_OK; STRSAFE_E_INVALID_PARAMETER if there is no room at all, more
// than 2,147,483,647 characters of it, or a string without end in it; STRSAFE_E_INSUFFICIENT_BUFFER
// if the text was cut to fit. A target with room ends with a NUL in all cases but one: of an
// invalid parameter a concatenation changes nothing. A null target, source or format is
// STRSAFE_E_INVALID_PARAMETER, where Windows fails at the address.
//
// Formats are those of Windows: %s has the width of the function, %S the other one; l is 32 bits
// of a number, ll, I64, I and z are 64. Under -fshort-wchar there is no formatting.
//
// Thread safety: all functions may be called from any thread. None allocates but StringCxxPrintf.
#pragma once

#include <stdarg.h>

#include "windef.h"
#include "winerror.h"

#define STRSAFE_MAX_CCH 2147483647
#define STRSAFE_MAX_LENGTH (STRSAFE_MAX_CCH - 1)
#define STRSAFE_E_INVALID_PARAMETER METERBANK_CAST(HRESULT, 0x80070057U)
#define STRSAFE_E_END_OF_FILE METERBANK_CAST(HRESULT, 0x80070026U)

typedef char* STRSAFE_LPSTR;
typedef const char* STRSAFE_LPCSTR;
typedef wchar_t* STRSAFE_LPWSTR;
typedef const wchar_t* STRSAFE_LPCWSTR;

EXTERN_C_START

HRESULT StringCchCopyA(LPSTR target, size_t capacity, LPCSTR source);
HRESULT StringCchCopyW(LPWSTR target, size_t capacity, LPCWSTR source)
    METERBANK_WIDE_SYMBOL(StringCchCopyW);
HRESULT StringCbCopyA(LPSTR target, size_t bytes, LPCSTR source);
HRESULT StringCbCopyW(LPWSTR target, size_t bytes, LPCWSTR source)
    METERBANK_WIDE_SYMBOL(StringCbCopyW);

// At most `count` characters, or bytes, of the source.
HRESULT StringCchCopyNA(LPSTR target, size_t capacity, LPCSTR source, size_t count);
HRESULT StringCchCopyNW(LPWSTR target, size_t capacity, LPCWSTR source, size_t count)
    METERBANK_WIDE_SYMBOL(StringCchCopyNW);
HRESULT StringCbCopyNA(LPSTR target, size_t bytes, LPCSTR source, size_t count);
HRESULT StringCbCopyNW(LPWSTR target, size_t bytes, LPCWSTR source, size_t count)
    METERBANK_WIDE_SYMBOL(StringCbCopyNW);

HRESULT StringCchCatA(LPSTR target, size_t capacity, LPCSTR source);
HRESULT StringCchCatW(LPWSTR target, size_t capacity, LPCWSTR source)
    METERBANK_WIDE_SYMBOL(StringCchCatW);
HRESULT StringCbCatA(LPSTR target, size_t bytes, LPCSTR source);
HRESULT StringCbCatW(LPWSTR target, size_t bytes, LPCWSTR source)
    METERBANK_WIDE_SYMBOL(StringCbCatW);
HRESULT StringCchCatNA(LPSTR target, size_t capacity, LPCSTR source, size_t count);
HRESULT StringCchCatNW(LPWSTR target, size_t capacity, LPCWSTR source, size_t count)
    METERBANK_WIDE_SYMBOL(StringCchCatNW);
HRESULT StringCbCatNA(LPSTR target, size_t bytes, LPCSTR source, size_t count);
HRESULT StringCbCatNW(LPWSTR target, size_t bytes, LPCWSTR source, size_t count)
    METERBANK_WIDE_SYMBOL(StringCbCatNW);

// `length` may be null; on failure it is 0.
HRESULT StringCchLengthA(LPCSTR text, size_t capacity, size_t* length);
HRESULT StringCchLengthW(LPCWSTR text, size_t capacity, size_t* length)
    METERBANK_WIDE_SYMBOL(StringCchLengthW);
HRESULT StringCbLengthA(LPCSTR text, size_t bytes, size_t* length);
HRESULT StringCbLengthW(LPCWSTR text, size_t bytes, size_t* length)
    METERBANK_WIDE_SYMBOL(StringCbLengthW);

#if __SIZEOF_WCHAR_T__ == 4
HRESULT StringCchPrintfA(LPSTR target, size_t capacity, LPCSTR format, ...);
HRESULT StringCchPrintfW(LPWSTR target, size_t capacity, LPCWSTR format, ...);
HRESULT StringCbPrintfA(LPSTR target, size_t bytes, LPCSTR format, ...);
HRESULT StringCbPrintfW(LPWSTR target, size_t bytes, LPCWSTR format, ...);
HRESULT StringCchVPrintfA(LPSTR target, size_t capacity, LPCSTR format, va_list arguments);
HRESULT StringCchVPrintfW(LPWSTR target, size_t capacity, LPCWSTR format, va_list arguments);
HRESULT StringCbVPrintfA(LPSTR target, size_t bytes, LPCSTR format, va_list arguments);
HRESULT StringCbVPrintfW(LPWSTR target, size_t bytes, LPCWSTR format, va_list arguments);
#endif

EXTERN_C_END

#if defined(UNICODE)
#define StringCchCopy StringCchCopyW
#define StringCbCopy StringCbCopyW
#define StringCchCopyN StringCchCopyNW
#define StringCbCopyN StringCbCopyNW
#define StringCchCat StringCchCatW
#define StringCbCat StringCbCatW
#define StringCchCatN StringCchCatNW
#define StringCbCatN StringCbCatNW
#define StringCchLength StringCchLengthW
#define StringCbLength StringCbLengthW
#define StringCchPrintf StringCchPrintfW
#define StringCbPrintf StringCbPrintfW
#define StringCchVPrintf StringCchVPrintfW
#define StringCbVPrintf StringCbVPrintfW
#else
#define StringCchCopy StringCchCopyA
#define StringCbCopy StringCbCopyA
#define StringCchCopyN StringCchCopyNA
#define StringCbCopyN StringCbCopyNA
#define StringCchCat StringCchCatA
#define StringCbCat StringCbCatA
#define StringCchCatN StringCchCatNA
#define StringCbCatN StringCbCatNA
#define StringCchLength StringCchLengthA
#define StringCbLength StringCbLengthA
#define StringCchPrintf StringCchPrintfA
#define StringCbPrintf StringCbPrintfA
#define StringCchVPrintf StringCchVPrintfA
#define StringCbVPrintf StringCbVPrintfA
#endif
