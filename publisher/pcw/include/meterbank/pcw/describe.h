// SPDX-License-Identifier: Apache-2.0
//
// describe.hpp for sources in C, and for the headers that meterbank-gen writes for them: what
// Windows finds in its registry after lodctr is handed over by the program itself, before
// PcwRegister or PerfSetCounterSetInfo.
//
//   static const METERBANK_COUNTER_DESCRIPTION Counters[] = {
//       {
//           .Id = 1,
//           .Type = PERF_COUNTER_RAWCOUNT,
//           .Name = "Free Bytes",
//           .Symbol = "free_bytes",
//           .Links = METERBANK_NO_LINKS,
//       },
//   };
//
// Members are named in their order here; METERBANK_OPTIONAL ones may be left out, and are 0 then.
// All text is UTF-8; null is an empty text.
#pragma once

#include "perflib.h"

#if defined(__cplusplus)
#define METERBANK_OPTIONAL \
  {}
#else
#define METERBANK_OPTIONAL
#endif

#define METERBANK_FORM_UNSIGNED 0U
#define METERBANK_FORM_SIGNED 1U  // this and the next: of PERF_COUNTER_LARGE_RAWCOUNT only
#define METERBANK_FORM_REAL 2U    // the bits of a double

#define METERBANK_NO_COUNTER 0xFFFFFFFFU
#define METERBANK_NO_LINKS \
  { METERBANK_NO_COUNTER, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER }

// Ids of the counters that a formula needs besides its own, or METERBANK_NO_COUNTER.
typedef struct _METERBANK_COUNTER_LINKS {
  ULONG Base;
  ULONG PerfTime;
  ULONG PerfFreq;
  ULONG Multi;
} METERBANK_COUNTER_LINKS;

typedef struct _METERBANK_COUNTER_DESCRIPTION {
  ULONG Id;
  ULONG Type;                       // PERF_COUNTER_... of winperf.h
  PCSTR Name METERBANK_OPTIONAL;    // "Square Wave"; only bases may have none
  PCSTR Symbol METERBANK_OPTIONAL;  // "square_wave": short paths, JSON, metrics
  PCSTR Unit METERBANK_OPTIONAL;    // UCUM code
  PCSTR Help METERBANK_OPTIONAL;
  METERBANK_COUNTER_LINKS Links;
  LONG Scale METERBANK_OPTIONAL;          // -10..10
  ULONG Detail METERBANK_OPTIONAL;        // 0 is PERF_DETAIL_NOVICE
  ULONG Aggregate METERBANK_OPTIONAL;     // PERF_AGGREGATE_...
  ULONG64 Attributes METERBANK_OPTIONAL;  // PERF_ATTRIB_...
  ULONG Form METERBANK_OPTIONAL;          // METERBANK_FORM_...
} METERBANK_COUNTER_DESCRIPTION;

typedef struct _METERBANK_COUNTERSET_DESCRIPTION {
  PCSTR Name;
  PCSTR Symbol;
  PCSTR Help METERBANK_OPTIONAL;
  PCSTR Label METERBANK_OPTIONAL;  // what an instance is: "venue"
  GUID Guid METERBANK_OPTIONAL;
  GUID ProviderGuid METERBANK_OPTIONAL;
  ULONG InstanceType;  // PERF_COUNTERSET_SINGLE_INSTANCE and its like
  ULONG CounterCount;
  const METERBANK_COUNTER_DESCRIPTION* Counters;  // in the order of the columns
} METERBANK_COUNTERSET_DESCRIPTION;

EXTERN_C_START

// Both do the same; one uses the types of Pcw, the other those of PerfLib. Everything is copied; it
// holds for the set of this name, or GUID, from now on and in this process.
// STATUS_INVALID_PARAMETER_2 and ERROR_INVALID_PARAMETER: what the sentence of last_refusal() says;
// STATUS_NO_MEMORY and ERROR_NOT_ENOUGH_MEMORY. Any thread may call them.
NTSTATUS NTAPI MeterbankPcwDescribe(const METERBANK_COUNTERSET_DESCRIPTION* Description);
ULONG WINAPI MeterbankPerfDescribe(const METERBANK_COUNTERSET_DESCRIPTION* Description);

EXTERN_C_END
