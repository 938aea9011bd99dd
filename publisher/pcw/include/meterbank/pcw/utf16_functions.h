// SPDX-License-Identifier: Apache-2.0
//
// The functions with wide characters as programs with a wchar_t of 16 bits know them: there
// METERBANK_WIDE_SYMBOL leads the Windows names here. A registration remembers the width: all other
// functions take it from there.
#pragma once

#include "meterbank/pcw/interface.h"

EXTERN_C_START

NTSTATUS NTAPI meterbank_utf16_PcwRegister(PPCW_REGISTRATION* registration,
                                           PPCW_REGISTRATION_INFORMATION info);

EXTERN_C_END
