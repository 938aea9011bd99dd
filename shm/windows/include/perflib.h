// SPDX-License-Identifier: Apache-2.0
//
// PerfLib, second generation: what consumers and user-mode providers of counters call. Consumers
// link meterbank::perflib, providers meterbank::pcw, programs that are both, both.
//
//   PerfStartProvider -> PerfSetCounterSetInfo -> PerfCreateInstance -> PerfSet... and
//   PerfIncrement... PerfOpenQueryHandle -> PerfAddCounters -> PerfQueryCounterData
//   repeatedly
//
// Each function that fills a buffer keeps one protocol: if the buffer is too small it stores
// nothing, puts the size that would do in the last parameter and returns ERROR_NOT_ENOUGH_MEMORY.
// The blocks are those of Windows byte for byte, but that a name is made of WCHARs, which are as
// wide as the compiler's wchar_t; under -fshort-wchar names are UTF-16 and nothing differs.
//
// Every function may be called from any thread; calls with one handle wait for each other. None
// throws. docs/windows-compatibility.md says, point by point, what is the same and what stricter.
#pragma once

#include "guiddef.h"
#include "winbase.h"
#include "winerror.h"
#include "winperf.h"

#define PERF_PROVIDER_USER_MODE 0
#define PERF_PROVIDER_KERNEL_MODE 1
#define PERF_PROVIDER_DRIVER 2

#define PERF_COUNTERSET_FLAG_MULTIPLE 2
#define PERF_COUNTERSET_FLAG_AGGREGATE 4
#define PERF_COUNTERSET_FLAG_HISTORY 8
#define PERF_COUNTERSET_FLAG_INSTANCE 16
#define PERF_COUNTERSET_SINGLE_INSTANCE 0
#define PERF_COUNTERSET_MULTI_INSTANCES PERF_COUNTERSET_FLAG_MULTIPLE
#define PERF_COUNTERSET_SINGLE_AGGREGATE PERF_COUNTERSET_FLAG_AGGREGATE
#define PERF_COUNTERSET_MULTI_AGGREGATE \
  (PERF_COUNTERSET_FLAG_AGGREGATE | PERF_COUNTERSET_FLAG_MULTIPLE)
#define PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY \
  (PERF_COUNTERSET_FLAG_HISTORY | PERF_COUNTERSET_SINGLE_AGGREGATE)
#define PERF_COUNTERSET_INSTANCE_AGGREGATE \
  (PERF_COUNTERSET_MULTI_AGGREGATE | PERF_COUNTERSET_FLAG_INSTANCE)

#define PERF_AGGREGATE_UNDEFINED 0
#define PERF_AGGREGATE_TOTAL 1
#define PERF_AGGREGATE_AVG 2
#define PERF_AGGREGATE_MIN 3
#define PERF_AGGREGATE_MAX 4
#define PERF_AGGREGATE_INSTANCE L"_Total"

#define PERF_ATTRIB_BY_REFERENCE 0x0000000000000001
#define PERF_ATTRIB_NO_DISPLAYABLE 0x0000000000000002
#define PERF_ATTRIB_NO_GROUP_SEPARATOR 0x0000000000000004
#define PERF_ATTRIB_DISPLAY_AS_REAL 0x0000000000000008
#define PERF_ATTRIB_DISPLAY_AS_HEX 0x0000000000000010

#define PERF_WILDCARD_COUNTER 0xFFFFFFFFU
#define PERF_WILDCARD_INSTANCE L"*"
#define PERF_MAX_INSTANCE_NAME 1024

// A fixed type, so that any other number is not undefined behaviour. C takes any.
#if defined(__cplusplus)
#define METERBANK_ANY_ULONG : ULONG
#else
#define METERBANK_ANY_ULONG
#endif

typedef enum _PerfRegInfoType METERBANK_ANY_ULONG {
  PERF_REG_COUNTERSET_STRUCT = 1,
  PERF_REG_COUNTER_STRUCT,
  PERF_REG_COUNTERSET_NAME_STRING,
  PERF_REG_COUNTERSET_HELP_STRING,
  PERF_REG_COUNTER_NAME_STRINGS,
  PERF_REG_COUNTER_HELP_STRINGS,
  PERF_REG_PROVIDER_NAME,
  PERF_REG_PROVIDER_GUID,
  PERF_REG_COUNTERSET_ENGLISH_NAME,
  PERF_REG_COUNTER_ENGLISH_NAMES
} PerfRegInfoType;

typedef enum _PerfCounterDataType METERBANK_ANY_ULONG {
  PERF_ERROR_RETURN = 0,
  PERF_SINGLE_COUNTER = 1,
  PERF_MULTIPLE_COUNTERS = 2,
  PERF_MULTIPLE_INSTANCES = 4,
  PERF_COUNTERSET = 6
} PerfCounterDataType;

typedef struct _PERF_COUNTERSET_REG_INFO {
  GUID CounterSetGuid;
  ULONG CounterSetType;
  ULONG DetailLevel;
  ULONG NumCounters;
  ULONG InstanceType;
} PERF_COUNTERSET_REG_INFO, *PPERF_COUNTERSET_REG_INFO;

typedef struct _PERF_COUNTER_REG_INFO {
  ULONG CounterId;
  ULONG Type;
  ULONGLONG Attrib;
  ULONG DetailLevel;
  LONG DefaultScale;
  ULONG BaseCounterId;
  ULONG PerfTimeId;
  ULONG PerfFreqId;
  ULONG MultiId;
  ULONG AggregateFunc;
  ULONG Reserved;
} PERF_COUNTER_REG_INFO, *PPERF_COUNTER_REG_INFO;

typedef struct _PERF_STRING_BUFFER_HEADER {
  DWORD dwSize;
  DWORD dwCounters;
} PERF_STRING_BUFFER_HEADER, *PPERF_STRING_BUFFER_HEADER;

typedef struct _PERF_STRING_COUNTER_HEADER {
  DWORD dwCounterId;
  DWORD dwOffset;
} PERF_STRING_COUNTER_HEADER, *PPERF_STRING_COUNTER_HEADER;

typedef struct _PERF_COUNTER_IDENTIFIER {
  GUID CounterSetGuid;
  ULONG Status;
  ULONG Size;
  ULONG CounterId;
  ULONG InstanceId;
  ULONG Index;
  ULONG Reserved;
} PERF_COUNTER_IDENTIFIER, *PPERF_COUNTER_IDENTIFIER;

typedef struct _PERF_INSTANCE_HEADER {
  ULONG Size;
  ULONG InstanceId;
} PERF_INSTANCE_HEADER, *PPERF_INSTANCE_HEADER;

typedef struct _PERF_DATA_HEADER {
  ULONG dwTotalSize;
  ULONG dwNumCounters;
  LONGLONG PerfTimeStamp;
  LONGLONG PerfTime100NSec;
  LONGLONG PerfFreq;
  SYSTEMTIME SystemTime;
} PERF_DATA_HEADER, *PPERF_DATA_HEADER;

typedef struct _PERF_COUNTER_HEADER {
  ULONG dwStatus;
  PerfCounterDataType dwType;
  ULONG dwSize;
  ULONG Reserved;
} PERF_COUNTER_HEADER, *PPERF_COUNTER_HEADER;

typedef struct _PERF_MULTI_COUNTERS {
  ULONG dwSize;
  ULONG dwCounters;
} PERF_MULTI_COUNTERS, *PPERF_MULTI_COUNTERS;

typedef struct _PERF_MULTI_INSTANCES {
  ULONG dwTotalSize;
  ULONG dwInstances;
} PERF_MULTI_INSTANCES, *PPERF_MULTI_INSTANCES;

typedef struct _PERF_COUNTER_DATA {
  ULONG dwDataSize;
  ULONG dwSize;
} PERF_COUNTER_DATA, *PPERF_COUNTER_DATA;

// ---- What providers hand over and get ----

// What a ControlCallback is asked. Enumerators would need a type; on Windows these are macros, too.
#define PERF_ADD_COUNTER 1
#define PERF_REMOVE_COUNTER 2
#define PERF_ENUM_INSTANCES 3
#define PERF_COLLECT_START 5
#define PERF_COLLECT_END 6
#define PERF_FILTER 9

// A template: this, and a PERF_COUNTER_INFO for each counter.
typedef struct _PERF_COUNTERSET_INFO {
  GUID CounterSetGuid;
  GUID ProviderGuid;
  ULONG NumCounters;
  ULONG InstanceType;
} PERF_COUNTERSET_INFO, *PPERF_COUNTERSET_INFO;

typedef struct _PERF_COUNTER_INFO {
  ULONG CounterId;
  ULONG Type;
  ULONGLONG Attrib;
  ULONG Size;
  ULONG DetailLevel;
  LONG Scale;
  ULONG Offset;
} PERF_COUNTER_INFO, *PPERF_COUNTER_INFO;

// Of the library. Behind it lie 8 bytes for each counter, in the order of the template whatever its
// Offset says: the value, or the address of a by-reference counter. A program may store there
// itself. Behind those, InstanceNameOffset bytes behind the beginning, lies the name with its NUL.
typedef struct _PERF_COUNTERSET_INSTANCE {
  GUID CounterSetGuid;
  ULONG dwSize;
  ULONG InstanceId;
  ULONG InstanceNameOffset;
  ULONG InstanceNameSize;
} PERF_COUNTERSET_INSTANCE, *PPERF_COUNTERSET_INSTANCE;

// Behind a WNODE_HEADER in what PERF_ADD_COUNTER and PERF_REMOVE_COUNTER bring. Offsets are counted
// from this struct.
typedef struct _PERF_COUNTER_IDENTITY {
  GUID CounterSetGuid;
  ULONG BufferSize;
  ULONG CounterId;
  ULONG InstanceId;
  ULONG MachineOffset;
  ULONG NameOffset;
  ULONG Reserved;
} PERF_COUNTER_IDENTITY, *PPERF_COUNTER_IDENTITY;

#if !defined(_WNODE_HEADER_DEFINED)
#define _WNODE_HEADER_DEFINED
__extension__ typedef struct _WNODE_HEADER {
  ULONG BufferSize;
  ULONG ProviderId;
  union {
    ULONG64 HistoricalContext;
    struct {
      ULONG Version;
      ULONG Linkage;
    };
  };
  union {
    ULONG CountLost;
    HANDLE KernelHandle;
    LARGE_INTEGER TimeStamp;
  };
  GUID Guid;
  ULONG ClientContext;
  ULONG Flags;
} WNODE_HEADER, *PWNODE_HEADER;
#endif

typedef ULONG(WINAPI* PERFLIBREQUEST)(ULONG RequestCode, PVOID Buffer, ULONG BufferSize);
typedef LPVOID(CALLBACK* PERF_MEM_ALLOC)(SIZE_T AllocSize, LPVOID pContext);
typedef void(CALLBACK* PERF_MEM_FREE)(LPVOID pBuffer, LPVOID pContext);

typedef struct _PROVIDER_CONTEXT {
  DWORD ContextSize;
  DWORD Reserved;
  PERFLIBREQUEST ControlCallback;
  PERF_MEM_ALLOC MemAllocRoutine;  // for the blocks of instances; null: the heap
  PERF_MEM_FREE MemFreeRoutine;    // null: blocks are not freed
  LPVOID pMemContext;
} PERF_PROVIDER_CONTEXT, *PPERF_PROVIDER_CONTEXT;

EXTERN_C_START

// ---- Providers: meterbank::pcw ----

ULONG WINAPI PerfStartProvider(LPGUID provider, PERFLIBREQUEST callback, HANDLE* handle)
    METERBANK_WIDE_SYMBOL(PerfStartProvider);
ULONG WINAPI PerfStartProviderEx(LPGUID provider, PPERF_PROVIDER_CONTEXT context, HANDLE* handle)
    METERBANK_WIDE_SYMBOL(PerfStartProviderEx);
// Waits for a ControlCallback that runs, unless it is called by it.
ULONG WINAPI PerfStopProvider(HANDLE handle);
ULONG WINAPI PerfSetCounterSetInfo(HANDLE handle, PPERF_COUNTERSET_INFO set, ULONG bytes);

// Null where it fails; GetLastError says why.
PPERF_COUNTERSET_INSTANCE WINAPI PerfCreateInstance(HANDLE handle, LPCGUID set, LPCWSTR name,
                                                    ULONG id)
    METERBANK_WIDE_SYMBOL(PerfCreateInstance);
PPERF_COUNTERSET_INSTANCE WINAPI PerfQueryInstance(HANDLE handle, LPCGUID set, LPCWSTR name,
                                                   ULONG id)
    METERBANK_WIDE_SYMBOL(PerfQueryInstance);
ULONG WINAPI PerfDeleteInstance(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance);

// Wait-free, from any thread: one store, or one atomic add, on the block of the instance.
ULONG WINAPI PerfSetULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                      ULONG counter, ULONG value);
ULONG WINAPI PerfSetULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                          ULONG counter, ULONGLONG value);
ULONG WINAPI PerfIncrementULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                            ULONG counter, ULONG value);
ULONG WINAPI PerfIncrementULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                                ULONG counter, ULONGLONG value);
ULONG WINAPI PerfDecrementULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                            ULONG counter, ULONG value);
ULONG WINAPI PerfDecrementULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                                ULONG counter, ULONGLONG value);
// Read when a reader collects, until another address is set or the instance is deleted.
ULONG WINAPI PerfSetCounterRefValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                    ULONG counter, PVOID address);

// ---- Consumers: meterbank::perflib ----

// `machine` is null for this machine; its own name, ".", "localhost" and an empty string mean the
// same. Of other machines there is nothing: RPC_S_SERVER_UNAVAILABLE.

// Capacity and result are counts of GUIDs.
ULONG WINAPI PerfEnumerateCounterSet(LPCWSTR machine, LPGUID sets, DWORD capacity, LPDWORD count)
    METERBANK_WIDE_SYMBOL(PerfEnumerateCounterSet);
ULONG WINAPI PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID set,
                                              PPERF_INSTANCE_HEADER instances, DWORD capacity,
                                              LPDWORD bytes)
    METERBANK_WIDE_SYMBOL(PerfEnumerateCounterSetInstances);
// `detail` is the counter's id where `request` is PERF_REG_COUNTER_STRUCT, else ignored: names and
// help exist in one language.
ULONG WINAPI PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID set,
                                                 PerfRegInfoType request, DWORD detail,
                                                 LPBYTE block, DWORD capacity, LPDWORD bytes)
    METERBANK_WIDE_SYMBOL(PerfQueryCounterSetRegistrationInfo);

ULONG WINAPI PerfOpenQueryHandle(LPCWSTR machine, HANDLE* query)
    METERBANK_WIDE_SYMBOL(PerfOpenQueryHandle);
ULONG WINAPI PerfCloseQueryHandle(HANDLE query);

// ERROR_SUCCESS means that the identifiers could be told apart; each one's Status says what became
// of it. If they could not, nothing was added or deleted.
ULONG WINAPI PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD bytes);
ULONG WINAPI PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD bytes);
ULONG WINAPI PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD capacity,
                                  LPDWORD bytes);
ULONG WINAPI PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER block, DWORD capacity,
                                  LPDWORD bytes);

EXTERN_C_END
