// SPDX-License-Identifier: Apache-2.0
//
// What programs that read or publish performance counters use of <windows.h>. Enough to compile
// such programs, not to write others: docs/windows-compatibility.md lists what there is and where
// it differs.
//
// There are no min and max macros, as if NOMINMAX were defined. The console and the checked string
// functions are for C++ only.
#pragma once

#include "basetsd.h"
#include "guiddef.h"
#include "meterbank/windows/crt.h"
#include "sal.h"
#include "winbase.h"
#include "windef.h"
#include "winerror.h"
#include "winperf.h"

#if defined(__cplusplus)
// Some sources include this header between the braces of extern "C".
extern "C++" {
#include "meterbank/windows/console_text.h"
#include "meterbank/windows/secure_crt.h"
}
#endif

#if !defined(WIN32_LEAN_AND_MEAN)
#include "objbase.h"
#endif
