// SPDX-License-Identifier: Apache-2.0
//
// The Pcw functions: how kernel-mode sources publish counters. They find this through <wdm.h>.
//
//   PcwRegister -> PcwCreateInstance: the library reads the caller's memory when a reader collects
//              \-> a PCW_CALLBACK is asked for rows, and answers by PcwAddInstance
//
// A registration knows neither types nor names of its counters: meterbank/pcw/describe.hpp adds
// them. docs/windows-compatibility.md says, point by point, what is the same as on Windows.
//
// Thread safety: any thread may call any function at any time, also in a callback; callbacks of one
// registration run on several threads at once. Nothing throws, and no handle is believed: one that
// was closed already is refused, or ignored where the function returns nothing.
#pragma once

#include "ntdef.h"
#include "ntstatus.h"

typedef struct _PCW_REGISTRATION* PPCW_REGISTRATION;
typedef struct _PCW_INSTANCE* PPCW_INSTANCE;
typedef struct _PCW_BUFFER* PPCW_BUFFER;

#define NTDDI_WIN10_FE 0x0A00000A
#define PCW_VERSION_1 0x0100
#define PCW_VERSION_2 0x0200
#if defined(NTDDI_VERSION) && NTDDI_VERSION < NTDDI_WIN10_FE
#define PCW_CURRENT_VERSION PCW_VERSION_1
#else
#define PCW_CURRENT_VERSION PCW_VERSION_2
#endif
#define PCW_ANY_INSTANCE_ID 0xFFFFFFFFU

// An event as far as providers use one: to look whether a request was cancelled.
typedef struct _KEVENT {
  LONG SignalState;
  const void* Watched;  // of the library
} KEVENT, *PKEVENT, *PRKEVENT;
typedef enum _EVENT_TYPE { NotificationEvent, SynchronizationEvent } EVENT_TYPE;
typedef enum _KWAIT_REASON { Executive, FreePage, UserRequest = 6 } KWAIT_REASON;
#define KernelMode 0
#define UserMode 1

// The value lies at Data[StructIndex].Data + Offset, aligned or not.
typedef struct _PCW_COUNTER_DESCRIPTOR {
  USHORT Id;
  USHORT StructIndex;
  USHORT Offset;
  USHORT Size;
} PCW_COUNTER_DESCRIPTOR, *PPCW_COUNTER_DESCRIPTOR;

typedef struct _PCW_DATA {
  const VOID* Data;
  ULONG Size;
} PCW_DATA, *PPCW_DATA;

typedef enum _PCW_CALLBACK_TYPE {
  PcwCallbackAddCounter = 0,
  PcwCallbackRemoveCounter = 1,
  PcwCallbackEnumerateInstances = 2,
  PcwCallbackCollectData = 3
} PCW_CALLBACK_TYPE,
    *PPCW_CALLBACK_TYPE;

// Bit x of a mask: the counter with id x. All ones: all counters, or one with an id beyond 63.
typedef struct _PCW_COUNTER_INFORMATION {
  ULONG64 CounterMask;
  PCUNICODE_STRING InstanceMask;
} PCW_COUNTER_INFORMATION, *PPCW_COUNTER_INFORMATION;

typedef struct _PCW_MASK_INFORMATION {
  ULONG64 CounterMask;
  PCUNICODE_STRING InstanceMask;  // "*": all
  ULONG InstanceId;               // PCW_ANY_INSTANCE_ID: any
  BOOLEAN CollectMultiple;        // FALSE: the first row is enough, others are dropped
  PPCW_BUFFER Buffer;
  PKEVENT CancelEvent;  // set when no reader waits for the rows any more
} PCW_MASK_INFORMATION, *PPCW_MASK_INFORMATION;

typedef union _PCW_CALLBACK_INFORMATION {
  PCW_COUNTER_INFORMATION AddCounter;
  PCW_COUNTER_INFORMATION RemoveCounter;
  PCW_MASK_INFORMATION EnumerateInstances;
  PCW_MASK_INFORMATION CollectData;
} PCW_CALLBACK_INFORMATION, *PPCW_CALLBACK_INFORMATION;

// Its result is shown to the reader that asked and changes nothing: rows that it added are
// delivered.
typedef NTSTATUS NTAPI PCW_CALLBACK(PCW_CALLBACK_TYPE Type, PPCW_CALLBACK_INFORMATION Info,
                                    PVOID Context);
typedef PCW_CALLBACK* PPCW_CALLBACK;

#if defined(__cplusplus)
typedef enum _PCW_REGISTRATION_FLAGS : ULONG {  // so that any number may stand there
#else
typedef enum _PCW_REGISTRATION_FLAGS {
#endif
  PcwRegistrationNone = 0,
  PcwRegistrationSiloNeutral = 0x1
} PCW_REGISTRATION_FLAGS;

typedef struct _PCW_REGISTRATION_INFORMATION {
  ULONG Version;
  PCUNICODE_STRING Name;
  ULONG CounterCount;
  PPCW_COUNTER_DESCRIPTOR Counters;
  PPCW_CALLBACK Callback;
  PVOID CallbackContext;
  PCW_REGISTRATION_FLAGS Flags;  // from PCW_VERSION_2 on
} PCW_REGISTRATION_INFORMATION, *PPCW_REGISTRATION_INFORMATION;

static_assert(sizeof(PCW_COUNTER_DESCRIPTOR) == 8, "as on Windows");
static_assert(sizeof(PCW_DATA) == 16 && offsetof(PCW_DATA, Size) == 8, "as on Windows");
static_assert(sizeof(PCW_COUNTER_INFORMATION) == 16, "as on Windows");
static_assert(sizeof(PCW_MASK_INFORMATION) == 40, "as on Windows");
static_assert(offsetof(PCW_MASK_INFORMATION, InstanceId) == 0x10, "as on Windows");
static_assert(offsetof(PCW_MASK_INFORMATION, CollectMultiple) == 0x14, "as on Windows");
static_assert(offsetof(PCW_MASK_INFORMATION, Buffer) == 0x18, "as on Windows");
static_assert(offsetof(PCW_MASK_INFORMATION, CancelEvent) == 0x20, "as on Windows");
static_assert(sizeof(PCW_CALLBACK_INFORMATION) == 40, "as on Windows");
static_assert(offsetof(PCW_REGISTRATION_INFORMATION, Flags) == 48, "as on Windows");

EXTERN_C_START

// Everything is copied. STATUS_INVALID_PARAMETER_2: no name, a name that is not UTF-16, a length
// that is not a multiple of a WCHAR; an unknown version or flag; descriptors that contradict each
// other or what describe() said. STATUS_INTEGER_OVERFLOW: more than 4096 counters.
// STATUS_NO_MEMORY; STATUS_ACCESS_DENIED, STATUS_UNSUCCESSFUL: nothing can be published, see
// last_refusal().
NTSTATUS NTAPI PcwRegister(PPCW_REGISTRATION* Registration, PPCW_REGISTRATION_INFORMATION Info)
    METERBANK_WIDE_SYMBOL(PcwRegister);

// Closes all instances. When it returns, no callback runs and no memory is read; called from inside
// a callback of the registration it cannot wait for that one.
VOID NTAPI PcwUnregister(PPCW_REGISTRATION Registration);

// The blocks are referenced: they are read until PcwCloseInstance or PcwUnregister returns.
// Each gets an id of its own, so names may repeat: docs/windows-compatibility.md.
// STATUS_INVALID_PARAMETER_3: bad name. STATUS_OBJECT_NAME_COLLISION: a second instance of a set
// that is described as having one. STATUS_INVALID_PARAMETER_4: fewer blocks than descriptors need.
// _5: no blocks. STATUS_INVALID_BUFFER_SIZE: a block ends before a counter does.
NTSTATUS NTAPI PcwCreateInstance(PPCW_INSTANCE* Instance, PPCW_REGISTRATION Registration,
                                 PCUNICODE_STRING Name, ULONG Count, PPCW_DATA Data);
VOID NTAPI PcwCloseInstance(PPCW_INSTANCE Instance);

// Only while the callback runs that got the buffer. Copies. To PcwCallbackEnumerateInstances data
// may be null; to PcwCallbackCollectData that is STATUS_INVALID_PARAMETER_5.
NTSTATUS NTAPI PcwAddInstance(PPCW_BUFFER Buffer, PCUNICODE_STRING Name, ULONG Id, ULONG Count,
                              PPCW_DATA Data);

// Not of Windows: an instance whose block lies in the memory that readers see. What the caller
// stores there is published by the store itself, and collecting it sends no request. `Block` is
// zeroed, and must not be touched once the instance is closed. For sets of one struct whose
// counters lie one behind the other, 8 bytes apart, in the order of their descriptors; else
// STATUS_NOT_SUPPORTED.
NTSTATUS NTAPI MeterbankPcwAllocateInstance(PPCW_INSTANCE* Instance, PPCW_REGISTRATION Registration,
                                            PCUNICODE_STRING Name, PVOID* Block);

VOID NTAPI KeInitializeEvent(PRKEVENT Event, EVENT_TYPE Type, BOOLEAN State);
LONG NTAPI KeSetEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait);
VOID NTAPI KeClearEvent(PRKEVENT Event);
// Not 0: it is set. One load.
LONG NTAPI KeReadStateEvent(PRKEVENT Event);
// STATUS_SUCCESS or STATUS_TIMEOUT. The object is a KEVENT; it is looked at each millisecond. A
// timeout below zero is relative, in steps of 100 ns; others have passed; null waits on.
NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON Reason, KPROCESSOR_MODE Mode,
                                     BOOLEAN Alertable, PLARGE_INTEGER Timeout);

EXTERN_C_END
