// SPDX-License-Identifier: Apache-2.0
//
// The functions with wide characters as programs with a wchar_t of 16 bits know them: there
// METERBANK_WIDE_SYMBOL leads the Windows names here. For programs that want UTF-16 without
// -fshort-wchar, and for the library itself.
#pragma once

#include "objbase.h"
#include "perflib.h"

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
                                                                    const char16_t* name,
                                                                    ULONG id);
PPERF_COUNTERSET_INSTANCE WINAPI meterbank_utf16_PerfQueryInstance(HANDLE handle, LPCGUID set,
                                                                   const char16_t* name, ULONG id);

// The handle knows its width: identifiers and results of this query are UTF-16.
ULONG WINAPI meterbank_utf16_PerfOpenQueryHandle(const char16_t* machine, HANDLE* query);

int WINAPI meterbank_utf16_StringFromGUID2(REFGUID guid, char16_t* text, int capacity);
HRESULT WINAPI meterbank_utf16_CLSIDFromString(const char16_t* text, CLSID* guid);
HRESULT WINAPI meterbank_utf16_IIDFromString(const char16_t* text, IID* guid);

EXTERN_C_END
