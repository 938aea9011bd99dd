// SPDX-License-Identifier: Apache-2.0
//
// The words of native code that winnt.h does not have: counted strings, status tests. Kernel-mode
// sources find them through <wdm.h>, user-mode ones through <winternl.h>.
#pragma once

#include "windef.h"

#define NT_SUCCESS(status) (METERBANK_CAST(NTSTATUS, status) >= 0)
#define NT_INFORMATION(status) ((METERBANK_CAST(ULONG, status) >> 30) == 1)
#define NT_WARNING(status) ((METERBANK_CAST(ULONG, status) >> 30) == 2)
#define NT_ERROR(status) ((METERBANK_CAST(ULONG, status) >> 30) == 3)

typedef LONG KPRIORITY;
typedef UCHAR KIRQL, *PKIRQL;
typedef char KPROCESSOR_MODE;

// Lengths are bytes. Buffer need not end with a NUL.
typedef struct _UNICODE_STRING {
  USHORT Length;
  USHORT MaximumLength;
  PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING* PCUNICODE_STRING;

typedef struct _STRING {
  USHORT Length;
  USHORT MaximumLength;
  PCHAR Buffer;
} STRING, ANSI_STRING, *PSTRING, *PANSI_STRING;
typedef const STRING *PCSTRING, *PCANSI_STRING;
static_assert(sizeof(UNICODE_STRING) == 16, "as on Windows");

#if defined(__cplusplus)
// A string of either width, as the strings above have it.
extern "C++" {
template <typename Character>
constexpr Character* meterbank_without_const(const Character* text) noexcept {
  return const_cast<Character*>(text);
}
}
#else
#define meterbank_without_const(text) ((void*)(text))
#endif

#define RTL_CONSTANT_STRING(text) \
  { sizeof(text) - sizeof((text)[0]), sizeof(text), meterbank_without_const(text) }
#define DECLARE_CONST_UNICODE_STRING(name, text)                           \
  static const WCHAR name##_buffer[] = text;                               \
  const UNICODE_STRING name = {sizeof(text) - sizeof(WCHAR), sizeof(text), \
                               METERBANK_CAST(PWSTR, meterbank_without_const(name##_buffer))}
#define DECLARE_UNICODE_STRING_SIZE(name, characters) \
  WCHAR name##_buffer[characters];                    \
  UNICODE_STRING name = {0, (characters) * sizeof(WCHAR), name##_buffer}

EXTERN_C_START

// A null text gives an empty string. One that is too long is cut after 65532 bytes.
VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING string, PCWSTR text)
    METERBANK_WIDE_SYMBOL(RtlInitUnicodeString);

EXTERN_C_END
