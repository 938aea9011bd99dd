// SPDX-License-Identifier: Apache-2.0
//
// A console program as people write them for PDH: shows one counter a few times, then all instances
// of a wildcard. It would compile on Windows as it is.
#define UNICODE
#define _UNICODE
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>
#include <stdlib.h>

#pragma comment(lib, "pdh.lib")

#define SAMPLE_INTERVAL_MS 100

static CONST PCWSTR COUNTER_PATH = L"\\Processor Information(_Total)\\% Processor Time";
static CONST PCWSTR WILDCARD_PATH = L"\\Processor Information(*)\\% Processor Time";

static BOOL ShowInstances(PDH_HCOUNTER hCounter) {
  DWORD dwBufferSize = 0;
  DWORD dwItemCount = 0;
  PDH_STATUS Status =
      PdhGetFormattedCounterArray(hCounter, PDH_FMT_DOUBLE, &dwBufferSize, &dwItemCount, NULL);
  if (Status != PDH_MORE_DATA) {
    wprintf(L"PdhGetFormattedCounterArray failed with status 0x%x.\n", Status);
    return FALSE;
  }
  PPDH_FMT_COUNTERVALUE_ITEM pItems = static_cast<PPDH_FMT_COUNTERVALUE_ITEM>(malloc(dwBufferSize));
  if (pItems == NULL) return FALSE;
  Status =
      PdhGetFormattedCounterArray(hCounter, PDH_FMT_DOUBLE, &dwBufferSize, &dwItemCount, pItems);
  if (Status == ERROR_SUCCESS) {
    for (DWORD i = 0; i < dwItemCount; i++) {
      wprintf(L"instance %s: %.2f\n", pItems[i].szName, pItems[i].FmtValue.doubleValue);
    }
  }
  free(pItems);
  return Status == ERROR_SUCCESS && dwItemCount > 1;
}

int wmain() {
  PDH_HQUERY hQuery = NULL;
  PDH_HCOUNTER hCounter = NULL;
  PDH_HCOUNTER hInstances = NULL;
  PDH_FMT_COUNTERVALUE DisplayValue;
  DWORD CounterType = 0;
  int Shown = 0;
  BOOL Done = FALSE;

  PDH_STATUS Status = PdhOpenQuery(NULL, 0, &hQuery);
  if (Status == ERROR_SUCCESS) Status = PdhAddCounter(hQuery, COUNTER_PATH, 0, &hCounter);
  if (Status == ERROR_SUCCESS) Status = PdhAddEnglishCounter(hQuery, WILDCARD_PATH, 0, &hInstances);
  // Most counters need two samples before they have a value.
  if (Status == ERROR_SUCCESS) Status = PdhCollectQueryData(hQuery);
  if (Status != ERROR_SUCCESS) {
    wprintf(L"the query failed with status 0x%x.\n", Status);
    goto Cleanup;
  }
  while (Shown < 3) {
    Sleep(SAMPLE_INTERVAL_MS);
    Status = PdhCollectQueryData(hQuery);
    if (Status != ERROR_SUCCESS) goto Cleanup;
    Status = PdhGetFormattedCounterValue(hCounter, PDH_FMT_DOUBLE, &CounterType, &DisplayValue);
    // The provider may not have stored a newer value since.
    if (Status == PDH_INVALID_DATA) continue;
    if (Status != ERROR_SUCCESS) goto Cleanup;
    SYSTEMTIME SampleTime;
    GetLocalTime(&SampleTime);
    wprintf(L"%2.2d:%2.2d:%2.2d total: %.2f\n", SampleTime.wHour, SampleTime.wMinute,
            SampleTime.wSecond, DisplayValue.doubleValue);
    Shown++;
  }
  Done = ShowInstances(hInstances) && CounterType != 0;

Cleanup:
  if (hQuery) PdhCloseQuery(hQuery);
  return Done ? 0 : 1;
}
