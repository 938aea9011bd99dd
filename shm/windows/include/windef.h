// SPDX-License-Identifier: Apache-2.0
//
// The words every Windows program is written in. A LONG has 32 bits there and here, so it is an
// `int`; a WCHAR is the compiler's wchar_t, because that is what L"text" is made of: 32 bits, or 16
// under -fshort-wchar.
//
// C reads it as well as C++: drivers are written in either.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "basetsd.h"
#include "sal.h"

#define CONST const
#define VOID void
#define FAR
#define NEAR
#define IN
#define OUT
#define OPTIONAL
#define FALSE 0
#define TRUE 1
#define MAX_PATH 260

#define WINAPI
#define APIENTRY
#define CALLBACK
#define WINAPIV
#define STDAPICALLTYPE
#define NTAPI
#define __stdcall
#define __cdecl
#define _cdecl
#define __fastcall
#define DECLSPEC_IMPORT
#define DECLSPEC_NORETURN __attribute__((noreturn))
#define DECLSPEC_SELECTANY __attribute__((weak))
#define DECLSPEC_ALIGN(bytes) __attribute__((aligned(bytes)))
#define FORCEINLINE inline __attribute__((always_inline))
#define __forceinline inline __attribute__((always_inline))
#if defined(__cplusplus)
#define EXTERN_C extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END }
#else
#define EXTERN_C extern
#define EXTERN_C_START
#define EXTERN_C_END
#endif

// What __declspec says, where it matters here.
#define __declspec(attribute) METERBANK_DECLSPEC_##attribute
#define METERBANK_DECLSPEC_selectany DECLSPEC_SELECTANY
#define METERBANK_DECLSPEC_noreturn DECLSPEC_NORETURN
#define METERBANK_DECLSPEC_align(bytes) DECLSPEC_ALIGN(bytes)
#define METERBANK_DECLSPEC_noinline __attribute__((noinline))
#define METERBANK_DECLSPEC_thread __thread
#define METERBANK_DECLSPEC_deprecated
#define METERBANK_DECLSPEC_dllexport
#define METERBANK_DECLSPEC_dllimport
#define METERBANK_DECLSPEC_nothrow
#define METERBANK_DECLSPEC_novtable
#define METERBANK_DECLSPEC_code_seg(name)
#define METERBANK_DECLSPEC_uuid(text)

// A function with wide characters in its signature has one body for each width of them.
#if __SIZEOF_WCHAR_T__ == 2
#define METERBANK_WIDE_SYMBOL(name) __asm__("meterbank_utf16_" #name)
#else
#define METERBANK_WIDE_SYMBOL(name)
#endif

typedef void *PVOID, *LPVOID;
typedef const void *PCVOID, *LPCVOID;
typedef int BOOL, *PBOOL, *LPBOOL;
typedef unsigned char BYTE, *PBYTE, *LPBYTE, BOOLEAN, *PBOOLEAN, UCHAR, *PUCHAR;
typedef char CHAR, *PCHAR, *LPSTR, *PSTR;
typedef const char *LPCSTR, *PCSTR;
typedef wchar_t WCHAR, *PWCHAR, *LPWSTR, *PWSTR, OLECHAR, *LPOLESTR;
typedef const wchar_t *LPCWSTR, *PCWSTR, *LPCOLESTR, *PCWCH;
typedef short SHORT, *PSHORT;
typedef unsigned short WORD, *PWORD, *LPWORD, USHORT, *PUSHORT;
typedef int INT, *PINT, *LPINT;
typedef unsigned int UINT, *PUINT;
typedef int LONG, *PLONG, *LPLONG;
typedef unsigned int DWORD, *PDWORD, *LPDWORD, ULONG, *PULONG;
typedef __int64 LONGLONG, *PLONGLONG;
typedef unsigned __int64 ULONGLONG, *PULONGLONG, DWORDLONG, *PDWORDLONG;
typedef float FLOAT, *PFLOAT;
typedef double DOUBLE, *PDOUBLE;
typedef WORD LANGID, *PLANGID;
typedef DWORD LCID, *PLCID;
typedef LONG HRESULT;
typedef LONG NTSTATUS;
typedef void *HANDLE, **PHANDLE, **LPHANDLE;
typedef HANDLE HMODULE, HINSTANCE, HLOCAL, HGLOBAL;

static_assert(sizeof(LONG) == 4 && sizeof(ULONGLONG) == 8, "as on Windows");

#if defined(__cplusplus)
#define INVALID_HANDLE_VALUE (reinterpret_cast<HANDLE>(static_cast<LONG_PTR>(-1)))
#else
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#endif
#define MAXDWORD 0xffffffffU
#define MAXLONG 0x7fffffff
#define INFINITE 0xffffffffU

// Unnamed members are how programs read the halves.
__extension__ typedef union _LARGE_INTEGER {
  struct {
    DWORD LowPart;
    LONG HighPart;
  };
  struct {
    DWORD LowPart;
    LONG HighPart;
  } u;
  LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;
__extension__ typedef union _ULARGE_INTEGER {
  struct {
    DWORD LowPart;
    DWORD HighPart;
  };
  struct {
    DWORD LowPart;
    DWORD HighPart;
  } u;
  ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

#define LOWORD(value) METERBANK_CAST(WORD, METERBANK_CAST(DWORD_PTR, value) & 0xffff)
#define HIWORD(value) METERBANK_CAST(WORD, (METERBANK_CAST(DWORD_PTR, value) >> 16) & 0xffff)
#define LOBYTE(value) METERBANK_CAST(BYTE, METERBANK_CAST(DWORD_PTR, value) & 0xff)
#define HIBYTE(value) METERBANK_CAST(BYTE, (METERBANK_CAST(DWORD_PTR, value) >> 8) & 0xff)

#define LANG_NEUTRAL 0x00
#define LANG_ENGLISH 0x09
#define SUBLANG_DEFAULT 0x01
#define SUBLANG_ENGLISH_US 0x01
#define SORT_DEFAULT 0x0
#define MAKELANGID(primary, sub) METERBANK_CAST(WORD, (METERBANK_CAST(WORD, sub) << 10) | (primary))
#define MAKELCID(language, sort) \
  METERBANK_CAST(DWORD, (METERBANK_CAST(DWORD, sort) << 16) | METERBANK_CAST(DWORD, language))
#define LOCALE_NEUTRAL MAKELCID(MAKELANGID(LANG_NEUTRAL, 0), SORT_DEFAULT)

#define FIELD_OFFSET(type, field) METERBANK_CAST(LONG, offsetof(type, field))
#define ARRAYSIZE(array) (sizeof(array) / sizeof((array)[0]))

#define RtlZeroMemory(target, bytes) memset((target), 0, (bytes))
#define RtlFillMemory(target, bytes, value) memset((target), (value), (bytes))
#define RtlCopyMemory(target, source, bytes) memcpy((target), (source), (bytes))
#define RtlMoveMemory(target, source, bytes) memmove((target), (source), (bytes))
