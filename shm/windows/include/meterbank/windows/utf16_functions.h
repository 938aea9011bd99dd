// SPDX-License-Identifier: Apache-2.0
//
// The functions with wide characters as programs with a wchar_t of 16 bits know them: there
// METERBANK_WIDE_SYMBOL leads the Windows names here. For programs that want UTF-16 without
// -fshort-wchar, and for the library itself.
#pragma once

#include "meterbank/windows/crt.h"
#include "ntdef.h"
#include "objbase.h"
#include "perflib.h"
#include "winbase.h"

EXTERN_C_START

ULONG WINAPI meterbank_utf16_PerfEnumerateCounterSet(const char16_t* machine, LPGUID sets,
                                                     DWORD capacity, LPDWORD count);
ULONG WINAPI meterbank_utf16_PerfEnumerateCounterSetInstances(const char16_t* machine, LPCGUID set,
                                                              PPERF_INSTANCE_HEADER instances,
                                                              DWORD capacity, LPDWORD bytes);
ULONG WINAPI meterbank_utf16_PerfQueryCounterSetRegistrationInfo(const char16_t* machine,
                                                                 LPCGUID set,
                                                                 PerfRegInfoType request,
                                                                 DWORD detail, LPBYTE block,
                                                                 DWORD capacity, LPDWORD bytes);
ULONG WINAPI meterbank_utf16_PerfStartProvider(LPGUID provider, PERFLIBREQUEST callback,
                                               HANDLE* handle);
ULONG WINAPI meterbank_utf16_PerfStartProviderEx(LPGUID provider, PPERF_PROVIDER_CONTEXT context,
                                                 HANDLE* handle);
PPERF_COUNTERSET_INSTANCE WINAPI meterbank_utf16_PerfCreateInstance(HANDLE handle, LPCGUID set,
                                                                    const char16_t* name, ULONG id);
PPERF_COUNTERSET_INSTANCE WINAPI meterbank_utf16_PerfQueryInstance(HANDLE handle, LPCGUID set,
                                                                   const char16_t* name, ULONG id);

// The handle knows its width: identifiers and results of this query are UTF-16.
ULONG WINAPI meterbank_utf16_PerfOpenQueryHandle(const char16_t* machine, HANDLE* query);

int WINAPI meterbank_utf16_StringFromGUID2(REFGUID guid, char16_t* text, int capacity);
HRESULT WINAPI meterbank_utf16_CLSIDFromString(const char16_t* text, CLSID* guid);
HRESULT WINAPI meterbank_utf16_IIDFromString(const char16_t* text, IID* guid);

HANDLE WINAPI meterbank_utf16_CreateEventW(LPSECURITY_ATTRIBUTES attributes, BOOL stays_set,
                                           BOOL is_set, const char16_t* name);
HMODULE WINAPI meterbank_utf16_GetModuleHandleW(const char16_t* name);
HMODULE WINAPI meterbank_utf16_LoadLibraryW(const char16_t* name);
HMODULE WINAPI meterbank_utf16_LoadLibraryExW(const char16_t* name, HANDLE file, DWORD flags);
// The bodies of functions for this width.
FARPROC WINAPI meterbank_utf16_GetProcAddress(HMODULE module, LPCSTR name);
int WINAPI meterbank_utf16_lstrcmpW(const char16_t* left, const char16_t* right);
int WINAPI meterbank_utf16_lstrcmpiW(const char16_t* left, const char16_t* right);
int WINAPI meterbank_utf16_lstrlenW(const char16_t* text);
VOID NTAPI meterbank_utf16_RtlInitUnicodeString(PUNICODE_STRING string, const char16_t* text);

errno_t meterbank_utf16__itow_s(int value, char16_t* target, size_t capacity, int radix);
errno_t meterbank_utf16__i64tow_s(__int64 value, char16_t* target, size_t capacity, int radix);
errno_t meterbank_utf16__ui64tow_s(unsigned __int64 value, char16_t* target, size_t capacity,
                                   int radix);

HRESULT meterbank_utf16_StringCchCopyW(char16_t* target, size_t capacity, const char16_t* source);
HRESULT meterbank_utf16_StringCbCopyW(char16_t* target, size_t bytes, const char16_t* source);
HRESULT meterbank_utf16_StringCchCopyNW(char16_t* target, size_t capacity, const char16_t* source,
                                        size_t count);
HRESULT meterbank_utf16_StringCbCopyNW(char16_t* target, size_t bytes, const char16_t* source,
                                       size_t count);
HRESULT meterbank_utf16_StringCchCatW(char16_t* target, size_t capacity, const char16_t* source);
HRESULT meterbank_utf16_StringCbCatW(char16_t* target, size_t bytes, const char16_t* source);
HRESULT meterbank_utf16_StringCchCatNW(char16_t* target, size_t capacity, const char16_t* source,
                                       size_t count);
HRESULT meterbank_utf16_StringCbCatNW(char16_t* target, size_t bytes, const char16_t* source,
                                      size_t count);
HRESULT meterbank_utf16_StringCchLengthW(const char16_t* text, size_t capacity, size_t* length);
HRESULT meterbank_utf16_StringCbLengthW(const char16_t* text, size_t bytes, size_t* length);

EXTERN_C_END
