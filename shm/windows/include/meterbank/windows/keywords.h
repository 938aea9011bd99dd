// SPDX-License-Identifier: Apache-2.0
//
// What the compilers of Windows understand without a header: calling conventions, attributes,
// functions that are inline in every file.
#pragma once

#define WINAPI
#define APIENTRY
#define CALLBACK
#define WINAPIV
#define WINAPI_INLINE WINAPI
#define STDAPICALLTYPE
#define STDMETHODCALLTYPE
#define PASCAL
#define NTAPI
#define NTSYSAPI
#define NTSYSCALLAPI
#define WINBASEAPI
#define WINADVAPI
#define FASTCALL
#define __stdcall
#define _stdcall
#define __cdecl
#define _cdecl
#define __fastcall
#define __vectorcall
#define __ptr32
#define __ptr64
#define __unaligned
#define UNALIGNED
#define UNALIGNED64
#define RESTRICTED_POINTER __restrict

#define DECLSPEC_IMPORT
#define DECLSPEC_EXPORT
#define DECLSPEC_DEPRECATED
#define DECLSPEC_NOTHROW __attribute__((nothrow))
#define DECLSPEC_NOINLINE __attribute__((noinline))
#define DECLSPEC_NORETURN __attribute__((noreturn))
#define DECLSPEC_SELECTANY __attribute__((weak))
#define DECLSPEC_ALIGN(bytes) __attribute__((aligned(bytes)))

// In C++ a function that is inline may be defined in any number of files. In C, `extern inline`
// would define it in each file, so it is the inline of GNU C: the body is for inlining only, and no
// file has a function to point to. Headers written by CTRPP declare theirs `EXTERN_C FORCEINLINE`
// or `EXTERN_C __inline`, and several files of a program include them.
#if defined(__cplusplus)
#define EXTERN_C extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END }
#define FORCEINLINE inline __attribute__((always_inline))
#else
#define EXTERN_C extern
#define EXTERN_C_START
#define EXTERN_C_END
#define FORCEINLINE __inline__ __attribute__((__gnu_inline__, __always_inline__))
#define __inline FORCEINLINE
#define _inline FORCEINLINE
#endif
#define __forceinline FORCEINLINE
#define CFORCEINLINE FORCEINLINE

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
