// SPDX-License-Identifier: Apache-2.0
//
// A user-mode provider as its author would write it for Windows, around the header that is made of
// its manifest: each process is one ferry, and consumers see the ferries together.
//
//   ferries PASSENGERS SEATS-TAKEN SEATS
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

#include "ferry_counters.h"

static ULONG Timetable = 12;

static ULONG SetValues(PPERF_COUNTERSET_INSTANCE Ferry, wchar_t** Values) {
  ULONG Status = PerfSetULongCounterValue(FerryLine, Ferry, 1, wcstoul(Values[0], NULL, 10));
  if (Status == ERROR_SUCCESS) {
    Status = PerfSetCounterRefValue(FerryLine, Ferry, 2, &Timetable);
  }
  if (Status == ERROR_SUCCESS) {
    Status = PerfSetULongCounterValue(FerryLine, Ferry, 3, wcstoul(Values[2], NULL, 10));
  }
  if (Status == ERROR_SUCCESS) {
    Status = PerfSetULongCounterValue(FerryLine, Ferry, 4, wcstoul(Values[1], NULL, 10));
  }
  return Status;
}

int wmain(int argc, wchar_t** argv) {
  if (argc != 4) return 2;
  ULONG Status = CounterInitialize(NULL, NULL, NULL, NULL);
  if (Status != ERROR_SUCCESS) {
    wprintf(L"CounterInitialize: %lu\n", Status);
    return 1;
  }
  PPERF_COUNTERSET_INSTANCE Ferry = PerfCreateInstance(FerryLine, &FerryLineSetGuid, L"Ferry", 0);
  Status = Ferry == NULL ? GetLastError() : SetValues(Ferry, argv + 1);
  if (Status == ERROR_SUCCESS) {
    wprintf(L"published\n");
    fflush(stdout);
    while (getwchar() != WEOF) {
    }
    Status = PerfDeleteInstance(FerryLine, Ferry);
  }
  if (Status != ERROR_SUCCESS) wprintf(L"error %lu\n", Status);
  CounterCleanup();
  return Status == ERROR_SUCCESS ? 0 : 1;
}
