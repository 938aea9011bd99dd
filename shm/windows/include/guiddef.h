// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string.h>

#include "windef.h"

typedef struct _GUID {
  DWORD Data1;
  WORD Data2;
  WORD Data3;
  BYTE Data4[8];
} GUID, *LPGUID, *PGUID;
typedef const GUID* LPCGUID;
typedef GUID IID, CLSID, UUID, FMTID;
typedef GUID *LPIID, *LPCLSID, *LPFMTID;
static_assert(sizeof(GUID) == 16, "as on Windows");

#if defined(__cplusplus)
typedef const GUID &REFGUID, &REFIID, &REFCLSID;

// One definition however many files include it; no library of GUIDs is needed.
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  inline constexpr GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}

inline constexpr GUID GUID_NULL = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};

inline BOOL IsEqualGUID(REFGUID left, REFGUID right) noexcept {
  return memcmp(&left, &right, sizeof(GUID)) == 0 ? TRUE : FALSE;
}
inline BOOL InlineIsEqualGUID(REFGUID left, REFGUID right) noexcept {
  return IsEqualGUID(left, right);
}
inline BOOL IsEqualIID(REFGUID left, REFGUID right) noexcept { return IsEqualGUID(left, right); }
inline BOOL IsEqualCLSID(REFGUID left, REFGUID right) noexcept { return IsEqualGUID(left, right); }
inline bool operator==(REFGUID left, REFGUID right) noexcept {
  return IsEqualGUID(left, right) != FALSE;
}
inline bool operator!=(REFGUID left, REFGUID right) noexcept { return !(left == right); }
#else
typedef const GUID *REFGUID, *REFIID, *REFCLSID;

// Weak, for the same reason.
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  DECLSPEC_SELECTANY const GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#define IsEqualGUID(left, right) (memcmp((left), (right), sizeof(GUID)) == 0)
#define InlineIsEqualGUID IsEqualGUID
#endif
