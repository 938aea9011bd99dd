// SPDX-License-Identifier: Apache-2.0
//
// HalAllocateHardwareCounters and HalFreeHardwareCounters: how drivers for Windows ask for counters
// of processors. Here the arbiter (meterbank-pmud) lends them. Sources find this through <ntddk.h>
// as well, if they are linked with both meterbank::pcw and meterbank::hal.
//
//   what is asked                                                   status
//   -----------------------------------------------------------------------------------------------
//   no handle; groups without a count, or a count without groups;   STATUS_INVALID_PARAMETER
//   an empty list; Flags; an unknown type; Begin > End; a counter
//   or the tag twice; an empty mask; reserved words; a group or
//   CPU that cannot exist; a caller-defined size for entries of
//   the event buffer; an overflow without a counter
//   an extended configuration; a counter, an interrupt or an        STATUS_NOT_SUPPORTED
//   event buffer that this machine has not; no PMU; no arbiter
//   taken, offline, more than the client's share, or not allowed    STATUS_INSUFFICIENT_RESOURCES
//   all of it is granted                                            STATUS_SUCCESS
//
// Rules that need no knowledge of the machine are checked even where no arbiter could serve the
// request. On every failure the handle is NULL. What differs from Windows: an arbiter says no where
// there is no PMU; leases end with the process, and can be taken away before that (a whole PMU
// after a while by policy), which is not told in this interface; and the handlers of overflow and
// event buffer items are never called, since no interrupt reaches a process.
//
// Thread safety: any thread may call any function. Nothing throws. In the child of a fork handles
// of the parent are unknown. C reads this as well as C++.
#pragma once

#include <stddef.h>

#include "windef.h"

// Shared with <ntdef.h> and <ntstatus.h>; the compiler refuses what differs.
#define NT_SUCCESS(status) (METERBANK_CAST(NTSTATUS, status) >= 0)
#define STATUS_SUCCESS METERBANK_CAST(NTSTATUS, 0x00000000)
#define STATUS_INVALID_PARAMETER METERBANK_CAST(NTSTATUS, 0xC000000DU)
#define STATUS_INSUFFICIENT_RESOURCES METERBANK_CAST(NTSTATUS, 0xC000009AU)
#define STATUS_NOT_SUPPORTED METERBANK_CAST(NTSTATUS, 0xC00000BBU)

// 64 processors: bit i is processor 64 * Group + i.
typedef struct _GROUP_AFFINITY {
  KAFFINITY Mask;
  WORD Group;
  WORD Reserved[3];
} GROUP_AFFINITY, *PGROUP_AFFINITY;
static_assert(sizeof(GROUP_AFFINITY) == 16, "as on Windows");
static_assert(offsetof(GROUP_AFFINITY, Group) == 8, "as on Windows");

typedef VOID NTAPI PHYSICAL_COUNTER_OVERFLOW_HANDLER(ULONGLONG OverflowStatus, HANDLE OwningHandle);
typedef PHYSICAL_COUNTER_OVERFLOW_HANDLER* PPHYSICAL_COUNTER_OVERFLOW_HANDLER;

typedef VOID NTAPI PHYSICAL_COUNTER_EVENT_BUFFER_OVERFLOW_HANDLER(PVOID EventBuffer,
                                                                  SIZE_T EntrySize,
                                                                  SIZE_T NumberOfEntries,
                                                                  HANDLE OwningHandle);
typedef PHYSICAL_COUNTER_EVENT_BUFFER_OVERFLOW_HANDLER*
    PPHYSICAL_COUNTER_EVENT_BUFFER_OVERFLOW_HANDLER;

typedef enum _PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR_TYPE {
  ResourceTypeSingle = 0,
  ResourceTypeRange,
  ResourceTypeExtendedCounterConfiguration,
  ResourceTypeOverflow,
  ResourceTypeEventBuffer,
  ResourceTypeIdenitificationTag,  // spelt as on Windows
  ResourceTypeMax
} PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR_TYPE,
    *PPHYSICAL_COUNTER_RESOURCE_DESCRIPTOR_TYPE;

// The threshold is what the owner would like at most; others may lower it.
typedef struct _PHYSICAL_COUNTER_EVENT_BUFFER_CONFIGURATION {
  PPHYSICAL_COUNTER_EVENT_BUFFER_OVERFLOW_HANDLER OverflowHandler;
  ULONG CustomEventBufferEntrySize;  // zero
  ULONG EventThreshold;
} PHYSICAL_COUNTER_EVENT_BUFFER_CONFIGURATION, *PPHYSICAL_COUNTER_EVENT_BUFFER_CONFIGURATION;

typedef struct _PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR {
  PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR_TYPE Type;
  ULONG Flags;  // zero
  union {
    ULONG CounterIndex;
    ULONGLONG ExtendedRegisterAddress;
    struct {
      ULONG Begin;
      ULONG End;  // included
    } Range;
    PPHYSICAL_COUNTER_OVERFLOW_HANDLER OverflowHandler;
    PHYSICAL_COUNTER_EVENT_BUFFER_CONFIGURATION EventBufferConfiguration;
    ULONG IdentificationTag;
  } u;
} PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR, *PPHYSICAL_COUNTER_RESOURCE_DESCRIPTOR;
static_assert(sizeof(PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR) == 24, "as on Windows");
static_assert(offsetof(PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR, Flags) == 4, "as on Windows");
static_assert(offsetof(PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR, u) == 8, "as on Windows");
static_assert(offsetof(PHYSICAL_COUNTER_EVENT_BUFFER_CONFIGURATION, EventThreshold) == 12,
              "as on Windows");

// The list is as long as Count says, whatever the array.
#define ANYSIZE_ARRAY 1
typedef struct _PHYSICAL_COUNTER_RESOURCE_LIST {
  ULONG Count;
  PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR Descriptors[ANYSIZE_ARRAY];
} PHYSICAL_COUNTER_RESOURCE_LIST, *PPHYSICAL_COUNTER_RESOURCE_LIST;
static_assert(offsetof(PHYSICAL_COUNTER_RESOURCE_LIST, Descriptors) == 8, "as on Windows");

EXTERN_C_START

// NULL and 0: all processors; a NULL list: the whole PMU, for oneself.
_Must_inspect_result_ NTSTATUS NTAPI HalAllocateHardwareCounters(
    _In_reads_opt_(GroupCount) PGROUP_AFFINITY GroupAffinty, _In_ ULONG GroupCount,
    _In_opt_ PPHYSICAL_COUNTER_RESOURCE_LIST ResourceList, _Out_ PHANDLE CounterSetHandle);

// A handle that is wrong, foreign, or was freed already: STATUS_INVALID_PARAMETER, and no harm.
NTSTATUS NTAPI HalFreeHardwareCounters(_In_ HANDLE CounterSetHandle);

// Not of Windows: why the last call of this thread failed, with the holder that stands in the way.
// Empty after a success. Stays until the next call of this thread.
PCSTR NTAPI MeterbankHalReason(VOID);

EXTERN_C_END
