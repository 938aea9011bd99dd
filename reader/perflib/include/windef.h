// SPDX-License-Identifier: Apache-2.0
//
// The words every Windows program is written in. A LONG has 32 bits there and here, so it is an
// `int`; a WCHAR is the compiler's wchar_t, because that is what L"text" is made of: 32 bits, or 16
// under -fshort-wchar.
#pragma once

#include <stddef.h>

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
#define __declspec(attribute)
#define DECLSPEC_IMPORT
#define DECLSPEC_NORETURN [[noreturn]]
#define FORCEINLINE inline __attribute__((always_inline))
#define __forceinline inline __attribute__((always_inline))
#define EXTERN_C extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END }

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

static_assert(sizeof(LONG) == 4 && sizeof(DWORD) == 4 && sizeof(ULONGLONG) == 8);

#define INVALID_HANDLE_VALUE (reinterpret_cast<HANDLE>(static_cast<LONG_PTR>(-1)))
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

#define LOWORD(value) (static_cast<WORD>(static_cast<DWORD_PTR>(value) & 0xffff))
#define HIWORD(value) (static_cast<WORD>((static_cast<DWORD_PTR>(value) >> 16) & 0xffff))
#define LOBYTE(value) (static_cast<BYTE>(static_cast<DWORD_PTR>(value) & 0xff))
#define HIBYTE(value) (static_cast<BYTE>((static_cast<DWORD_PTR>(value) >> 8) & 0xff))

#define LANG_NEUTRAL 0x00
#define LANG_ENGLISH 0x09
#define SUBLANG_DEFAULT 0x01
#define SUBLANG_ENGLISH_US 0x01
#define SORT_DEFAULT 0x0
#define MAKELANGID(primary, sub) (static_cast<WORD>((static_cast<WORD>(sub) << 10) | (primary)))
#define MAKELCID(language, sort) \
  (static_cast<DWORD>((static_cast<DWORD>(sort) << 16) | static_cast<DWORD>(language)))
#define LOCALE_NEUTRAL MAKELCID(MAKELANGID(LANG_NEUTRAL, 0), SORT_DEFAULT)

#define FIELD_OFFSET(type, field) (static_cast<LONG>(offsetof(type, field)))
#define ARRAYSIZE(array) (sizeof(array) / sizeof((array)[0]))
