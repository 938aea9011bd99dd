// SPDX-License-Identifier: Apache-2.0
//
// The error codes that the functions of this library return, and those that programs which call
// them compare with.
#pragma once

#include "windef.h"

#define NO_ERROR 0
#define ERROR_SUCCESS 0
#define ERROR_INVALID_FUNCTION 1
#define ERROR_FILE_NOT_FOUND 2
#define ERROR_ACCESS_DENIED 5
#define ERROR_INVALID_HANDLE 6
#define ERROR_NOT_ENOUGH_MEMORY 8
#define ERROR_INVALID_DATA 13
#define ERROR_OUTOFMEMORY 14
#define ERROR_NOT_SUPPORTED 50
#define ERROR_BAD_NETPATH 53
#define ERROR_INVALID_PARAMETER 87
#define ERROR_INSUFFICIENT_BUFFER 122
#define ERROR_BUSY 170
#define ERROR_ALREADY_EXISTS 183
#define ERROR_NO_DATA 232
#define ERROR_MORE_DATA 234
#define ERROR_NO_MORE_ITEMS 259
#define ERROR_ARITHMETIC_OVERFLOW 534
#define ERROR_POSSIBLE_DEADLOCK 1131
#define ERROR_NOT_FOUND 1168
#define ERROR_RETRY 1237
#define ERROR_NO_SYSTEM_RESOURCES 1450
#define ERROR_TIMEOUT 1460
#define RPC_S_SERVER_UNAVAILABLE 1722
#define ERROR_WMI_GUID_NOT_FOUND 4200
#define ERROR_WMI_INSTANCE_NOT_FOUND 4201
#define ERROR_WMI_ITEMID_NOT_FOUND 4202
#define ERROR_WMI_INVALID_REGINFO 4211

#define S_OK (static_cast<HRESULT>(0))
#define S_FALSE (static_cast<HRESULT>(1))
#define E_FAIL (static_cast<HRESULT>(0x80004005U))
#define E_POINTER (static_cast<HRESULT>(0x80004003U))
#define E_UNEXPECTED (static_cast<HRESULT>(0x8000ffffU))
#define E_OUTOFMEMORY (static_cast<HRESULT>(0x8007000eU))
#define E_INVALIDARG (static_cast<HRESULT>(0x80070057U))
#define CO_E_CLASSSTRING (static_cast<HRESULT>(0x800401f3U))
#define STRSAFE_E_INSUFFICIENT_BUFFER (static_cast<HRESULT>(0x8007007aU))

#define SUCCEEDED(result) (static_cast<HRESULT>(result) >= 0)
#define FAILED(result) (static_cast<HRESULT>(result) < 0)
#define FACILITY_WIN32 7
#define HRESULT_CODE(result) (static_cast<DWORD>(result) & 0xffff)

inline HRESULT HRESULT_FROM_WIN32(DWORD error) noexcept {
  return static_cast<HRESULT>(error) <= 0
             ? static_cast<HRESULT>(error)
             : static_cast<HRESULT>((error & 0xffff) | (FACILITY_WIN32 << 16) | 0x80000000U);
}
