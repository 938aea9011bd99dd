// SPDX-License-Identifier: Apache-2.0
//
// GUIDs as text.
#pragma once

#include "guiddef.h"
#include "winerror.h"

EXTERN_C_START

// "{b4fc721a-...}" in upper case. Returns the characters written with the NUL, 39; 0 and nothing
// written if there is no room for them.
int WINAPI StringFromGUID2(REFGUID guid, LPOLESTR text, int capacity)
    METERBANK_WIDE_SYMBOL(StringFromGUID2);
// The braces are required. On failure the result is GUID_NULL.
HRESULT WINAPI CLSIDFromString(LPCOLESTR text, CLSID* guid) METERBANK_WIDE_SYMBOL(CLSIDFromString);
HRESULT WINAPI IIDFromString(LPCOLESTR text, IID* guid) METERBANK_WIDE_SYMBOL(IIDFromString);

EXTERN_C_END
