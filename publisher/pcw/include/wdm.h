// SPDX-License-Identifier: Apache-2.0
//
// What a kernel-mode provider of performance counters uses of <wdm.h>: enough to compile such
// sources, in C or C++, into an ordinary process. Nothing here has to do with a kernel. The
// functions of the counters themselves are in meterbank/pcw/interface.h, which is included.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guiddef.h"
#include "meterbank/pcw/interface.h"
#include "ntdef.h"
#include "ntstatus.h"

#if defined(__cplusplus)
// Drivers are mostly C, where abs takes what it is given; C++ alone would find this ambiguous.
// Those in C++ include this header between the braces of extern "C".
extern "C++" {
inline int abs(unsigned int value) noexcept { return abs(static_cast<int>(value)); }
}
#endif

#define PASSIVE_LEVEL 0
#define APC_LEVEL 1
#define DISPATCH_LEVEL 2
// There is no paging to take care of, and every thread may wait.
#define PAGED_CODE() METERBANK_CAST(void, 0)
#define KeGetCurrentIrql() METERBANK_CAST(KIRQL, PASSIVE_LEVEL)
#define ASSERT(condition) METERBANK_CAST(void, 0)
#define NT_ASSERT(condition) METERBANK_CAST(void, 0)

// ---- Drivers: the program's own main calls DriverEntry, or that of meterbank::driver_main ----

struct _DRIVER_OBJECT;
typedef NTSTATUS NTAPI DRIVER_INITIALIZE(struct _DRIVER_OBJECT* DriverObject,
                                         PUNICODE_STRING RegistryPath);
typedef VOID NTAPI DRIVER_UNLOAD(struct _DRIVER_OBJECT* DriverObject);
typedef DRIVER_INITIALIZE* PDRIVER_INITIALIZE;
typedef DRIVER_UNLOAD* PDRIVER_UNLOAD;

typedef struct _DRIVER_OBJECT {
  SHORT Type;
  SHORT Size;
  PVOID DeviceObject;
  ULONG Flags;
  PVOID DriverStart;
  ULONG DriverSize;
  UNICODE_STRING DriverName;
  PDRIVER_INITIALIZE DriverInit;
  PDRIVER_UNLOAD DriverUnload;
} DRIVER_OBJECT, *PDRIVER_OBJECT;

// Sources declare it once more; this gives it a C name in C++, too.
EXTERN_C DRIVER_INITIALIZE DriverEntry;

// ---- Debug output goes nowhere ----

#define DPFLTR_IHVDRIVER_ID 77
#define DPFLTR_ERROR_LEVEL 0
#define DPFLTR_WARNING_LEVEL 1
#define DPFLTR_TRACE_LEVEL 2
#define DPFLTR_INFO_LEVEL 3
#define KdPrint(arguments) METERBANK_CAST(void, 0)
#define KdPrintEx(arguments) METERBANK_CAST(void, 0)

// Code in user space may use floating point numbers at any time.
typedef struct _KFLOATING_SAVE {
  ULONG Dummy;
} KFLOATING_SAVE, *PKFLOATING_SAVE;

EXTERN_C_START

ULONG DbgPrint(PCSTR format, ...);
ULONG DbgPrintEx(ULONG component, ULONG level, PCSTR format, ...);

NTSTATUS NTAPI KeSaveFloatingPointState(PKFLOATING_SAVE save);
NTSTATUS NTAPI KeRestoreFloatingPointState(PKFLOATING_SAVE save);

// 100 ns steps since 1601-01-01 UTC; tests may set another clock, see meterbank/pcw/clock.hpp.
VOID NTAPI KeQuerySystemTime(PLARGE_INTEGER time);
VOID NTAPI KeQuerySystemTimePrecise(PLARGE_INTEGER time);
// CLOCK_MONOTONIC in nanoseconds. `frequency` may be null.
LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER frequency);

EXTERN_C_END
