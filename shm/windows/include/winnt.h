// SPDX-License-Identifier: Apache-2.0
//
// The words every Windows program is written in. A LONG has 32 bits there and here, so it is an
// `int`; a WCHAR is the compiler's wchar_t, because that is what L"text" is made of: 32 bits, or 16
// under -fshort-wchar. TCHAR and TEXT() are wide if UNICODE is defined before the first of these
// headers, as on Windows.
//
// C reads it as well as C++: drivers are written in either.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "basetsd.h"
#include "meterbank/windows/interlocked.h"
#include "meterbank/windows/keywords.h"
#include "specstrings.h"

#define VOID void
#define CONST const
#define ANYSIZE_ARRAY 1

typedef void *PVOID, *PVOID64;
typedef const void* PCVOID;
typedef char CHAR, CCHAR, *PCHAR;
typedef short SHORT, CSHORT, *PSHORT;
typedef int LONG, *PLONG;
typedef unsigned char UCHAR, *PUCHAR, BOOLEAN, *PBOOLEAN;
typedef unsigned short USHORT, *PUSHORT;
typedef unsigned int ULONG, *PULONG;
typedef __int64 LONGLONG, *PLONGLONG, USN;
typedef unsigned __int64 ULONGLONG, *PULONGLONG, DWORDLONG, *PDWORDLONG;
typedef unsigned int LCID, *PLCID, LCTYPE;
typedef unsigned short LANGID, *PLANGID;
typedef LONG HRESULT, NTSTATUS, *PNTSTATUS;
typedef void *HANDLE, **PHANDLE;

// ---- Strings: N..Z of them end with a NUL, ZZ with two, those called CH perhaps not ----

typedef CHAR *LPSTR, *PSTR, *NPSTR, *PSZ, *LPCH, *PCH, *PNZCH, *PZZSTR;
typedef const CHAR *LPCSTR, *PCSTR, *PCSZ, *LPCCH, *PCCH, *PCNZCH, *PCZZSTR;
typedef PSTR* PZPSTR;
typedef const PSTR* PCZPSTR;
typedef PCSTR* PZPCSTR;
typedef wchar_t WCHAR, *PWCHAR, *LPWSTR, *PWSTR, *NWPSTR, *LPWCH, *PWCH, *PNZWCH, *PZZWSTR;
typedef WCHAR *LPUWSTR, *PUWSTR, *PUZZWSTR, *PUNZWCH;
typedef const WCHAR *LPCWSTR, *PCWSTR, *LPCWCH, *PCWCH, *LPCWCHAR, *PCWCHAR, *PCNZWCH, *PCZZWSTR;
typedef const WCHAR *LPCUWSTR, *PCUWSTR, *LPCUWCHAR, *PCUWCHAR, *PCUZZWSTR, *PCUNZWCH;
typedef PWSTR* PZPWSTR;
typedef const PWSTR* PCZPWSTR;
typedef PCWSTR* PZPCWSTR;
typedef WCHAR OLECHAR, *LPOLESTR;
typedef const WCHAR* LPCOLESTR;

#if defined(UNICODE)
#if !defined(_TCHAR_DEFINED)
#define _TCHAR_DEFINED
typedef WCHAR TCHAR, *PTCHAR, TBYTE, *PTBYTE;
#endif
typedef LPWSTR LPTSTR, PTSTR, LPTCH, PTCH, PUTSTR, LPUTSTR, PZZTSTR, PUZZTSTR, PNZTCH, PUNZTCH;
typedef LPCWSTR LPCTSTR, PCTSTR, LPCTCH, PCTCH, PCUTSTR, LPCUTSTR, PCZZTSTR, PCUZZTSTR, PCNZTCH,
    PCUNZTCH;
#define __TEXT(text) L##text
#else
#if !defined(_TCHAR_DEFINED)
#define _TCHAR_DEFINED
typedef CHAR TCHAR, *PTCHAR;
typedef unsigned char TBYTE, *PTBYTE;
#endif
typedef LPSTR LPTSTR, PTSTR, LPTCH, PTCH, PUTSTR, LPUTSTR, PZZTSTR, PUZZTSTR, PNZTCH, PUNZTCH;
typedef LPCSTR LPCTSTR, PCTSTR, LPCTCH, PCTCH, PCUTSTR, LPCUTSTR, PCZZTSTR, PCUZZTSTR, PCNZTCH,
    PCUNZTCH;
#define __TEXT(text) text
#endif
#define TEXT(text) __TEXT(text)
#define ANSI_NULL METERBANK_CAST(CHAR, 0)
#define UNICODE_NULL METERBANK_CAST(WCHAR, 0)

static_assert(sizeof(LONG) == 4 && sizeof(ULONGLONG) == 8, "as on Windows");

// ---- Structs ----

// Unnamed members are how programs read the halves.
__extension__ typedef union _LARGE_INTEGER {
  struct {
    ULONG LowPart;
    LONG HighPart;
  };
  struct {
    ULONG LowPart;
    LONG HighPart;
  } u;
  LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;
__extension__ typedef union _ULARGE_INTEGER {
  struct {
    ULONG LowPart;
    ULONG HighPart;
  };
  struct {
    ULONG LowPart;
    ULONG HighPart;
  } u;
  ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _LUID {
  ULONG LowPart;
  LONG HighPart;
} LUID, *PLUID;

typedef struct _LIST_ENTRY {
  struct _LIST_ENTRY* Flink;
  struct _LIST_ENTRY* Blink;
} LIST_ENTRY, *PLIST_ENTRY;
typedef struct _SINGLE_LIST_ENTRY {
  struct _SINGLE_LIST_ENTRY* Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

typedef struct _PROCESSOR_NUMBER {
  USHORT Group;
  UCHAR Number;
  UCHAR Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;

// ---- Numbers ----

#define MINCHAR 0x80
#define MAXCHAR 0x7f
#define MINSHORT 0x8000
#define MAXSHORT 0x7fff
#define MINLONG 0x80000000U
#define MAXLONG 0x7fffffff
#define MAXBYTE 0xff
#define MAXUCHAR 0xff
#define MAXWORD 0xffff
#define MAXUSHORT 0xffff
#define MAXDWORD 0xffffffffU
#define MAXULONG 0xffffffffU
#define MAXLONGLONG 0x7fffffffffffffffLL

#define LANG_NEUTRAL 0x00
#define LANG_ENGLISH 0x09
#define SUBLANG_NEUTRAL 0x00
#define SUBLANG_DEFAULT 0x01
#define SUBLANG_ENGLISH_US 0x01
#define SORT_DEFAULT 0x0
#define MAKELANGID(primary, sub) \
  METERBANK_CAST(USHORT, (METERBANK_CAST(USHORT, sub) << 10) | (primary))
#define PRIMARYLANGID(language) METERBANK_CAST(USHORT, (language)&0x3ff)
#define SUBLANGID(language) METERBANK_CAST(USHORT, METERBANK_CAST(USHORT, language) >> 10)
#define MAKELCID(language, sort) \
  METERBANK_CAST(ULONG, (METERBANK_CAST(ULONG, sort) << 16) | METERBANK_CAST(ULONG, language))
#define LANG_USER_DEFAULT MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT)
#define LOCALE_NEUTRAL MAKELCID(MAKELANGID(LANG_NEUTRAL, SUBLANG_NEUTRAL), SORT_DEFAULT)
#define LOCALE_USER_DEFAULT MAKELCID(LANG_USER_DEFAULT, SORT_DEFAULT)

// ---- Fields and arrays ----

#define C_ASSERT(condition) static_assert(condition, #condition)
#define UNREFERENCED_PARAMETER(parameter) METERBANK_CAST(void, parameter)
#define DBG_UNREFERENCED_PARAMETER(parameter) METERBANK_CAST(void, parameter)
#define DBG_UNREFERENCED_LOCAL_VARIABLE(variable) METERBANK_CAST(void, variable)

#define FIELD_OFFSET(type, field) METERBANK_CAST(LONG, offsetof(type, field))
#define UFIELD_OFFSET(type, field) METERBANK_CAST(ULONG, offsetof(type, field))
#define RTL_NUMBER_OF(array) (sizeof(array) / sizeof((array)[0]))
#define RTL_NUMBER_OF_V1 RTL_NUMBER_OF
#define RTL_NUMBER_OF_V2 RTL_NUMBER_OF
#define ARRAYSIZE RTL_NUMBER_OF
#define _ARRAYSIZE RTL_NUMBER_OF
#if defined(__cplusplus)
#define RTL_FIELD_TYPE(type, field) decltype(type::field)
#define RTL_FIELD_SIZE(type, field) (sizeof(type::field))
#define RTL_NUMBER_OF_FIELD(type, field) RTL_NUMBER_OF(type::field)
#define RTL_CONST_CAST(type) const_cast<type>
extern "C++" {
template <typename Record>
Record* meterbank_record_around(const void* field, size_t offset) noexcept {
  return reinterpret_cast<Record*>(static_cast<char*>(const_cast<void*>(field)) - offset);
}
}
#define CONTAINING_RECORD(address, type, field) \
  (meterbank_record_around<type>((address), offsetof(type, field)))
#else
#define RTL_FIELD_TYPE(type, field) __typeof__(((type*)0)->field)
#define RTL_FIELD_SIZE(type, field) (sizeof(((type*)0)->field))
#define RTL_NUMBER_OF_FIELD(type, field) RTL_NUMBER_OF(((type*)0)->field)
#define RTL_CONST_CAST(type) (type)
#define CONTAINING_RECORD(address, type, field) ((type*)((char*)(address)-offsetof(type, field)))
#endif
#define RTL_SIZEOF_THROUGH_FIELD(type, field) \
  (FIELD_OFFSET(type, field) + RTL_FIELD_SIZE(type, field))
// Whether a struct of `size` bytes, which may be one of another version, has the field.
#define RTL_CONTAINS_FIELD(structure, size, field)                           \
  (offsetof(__typeof__(*(structure)), field) + sizeof((structure)->field) <= \
   METERBANK_CAST(size_t, size))
#define RTL_BITS_OF(value) (sizeof(value) * 8)
#define RTL_BITS_OF_FIELD(type, field) (RTL_FIELD_SIZE(type, field) * 8)

#define RtlZeroMemory(target, bytes) memset((target), 0, (bytes))
#define RtlFillMemory(target, bytes, value) memset((target), (value), (bytes))
#define RtlCopyMemory(target, source, bytes) memcpy((target), (source), (bytes))
#define RtlMoveMemory(target, source, bytes) memmove((target), (source), (bytes))
#define RtlEqualMemory(left, right, bytes) (memcmp((left), (right), (bytes)) == 0)
