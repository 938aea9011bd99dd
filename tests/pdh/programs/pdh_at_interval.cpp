// SPDX-License-Identifier: Apache-2.0
//
// A console program that lets PDH collect once a second and waits for the event of each collection,
// in the manner of the documentation's.
#define UNICODE
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>

#define COLLECTIONS 2
#define SECONDS_BETWEEN 1

static PDH_STATUS Value(PDH_HCOUNTER Counter, DWORD Format, PDH_FMT_COUNTERVALUE* Value) {
  return PdhGetFormattedCounterValue(Counter, Format, NULL, Value);
}

int wmain(void) {
  PDH_HQUERY Query = NULL;
  PDH_HCOUNTER Busy = NULL, UpTime = NULL;
  HANDLE Event = NULL;
  PDH_STATUS Status = PdhOpenQuery(NULL, 0, &Query);
  if (Status == ERROR_SUCCESS) {
    Status = PdhAddEnglishCounter(Query, L"\\Processor(_Total)\\% Processor Time", 0, &Busy);
  }
  if (Status == ERROR_SUCCESS) {
    Status = PdhAddEnglishCounter(Query, L"\\System\\System Up Time", 0, &UpTime);
  }
  if (Status != ERROR_SUCCESS) {
    wprintf(L"the query: 0x%x\n", Status);
    goto Cleanup;
  }

  Event = CreateEvent(NULL, FALSE, FALSE, L"CollectionEvent");
  if (Event == NULL) {
    Status = GetLastError();
    goto Cleanup;
  }
  Status = PdhCollectQueryDataEx(Query, SECONDS_BETWEEN, Event);
  for (int Number = 0; Status == ERROR_SUCCESS && Number < COLLECTIONS; Number++) {
    if (WaitForSingleObject(Event, INFINITE) != WAIT_OBJECT_0) {
      Status = GetLastError();
      break;
    }
    PDH_FMT_COUNTERVALUE Seconds, Percent;
    if (Value(UpTime, PDH_FMT_LARGE, &Seconds) != ERROR_SUCCESS) {
      Status = Seconds.CStatus;
      break;
    }
    if (Value(Busy, PDH_FMT_DOUBLE, &Percent) == ERROR_SUCCESS) {
      wprintf(L"busy: %.1f %%, ", Percent.doubleValue);
    }
    wprintf(L"up: %I64d\n", Seconds.largeValue);
  }

Cleanup:
  if (Event) CloseHandle(Event);
  if (Query) PdhCloseQuery(Query);
  return (int)Status;
}
