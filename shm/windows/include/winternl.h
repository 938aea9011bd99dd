// SPDX-License-Identifier: Apache-2.0
//
// What user-mode programs use of ntdll.
#pragma once

#include "ntdef.h"
#include "windef.h"

EXTERN_C_START

// 100 ns steps since 1601-01-01 UTC. Null: STATUS_ACCESS_VIOLATION.
NTSTATUS NTAPI NtQuerySystemTime(PLARGE_INTEGER time);

EXTERN_C_END
