// SPDX-License-Identifier: Apache-2.0
//
// A user-mode provider as its author would write it for Windows: its first three rows differ in
// their names alone, the last two in their ids alone.
#include <windows.h>

#include <perflib.h>
#include <stdio.h>
#include <wchar.h>

static const GUID ProviderGuid = {
    0x7a0e5d31, 0x55c4, 0x4f43, {0x9b, 0x0c, 0x4d, 0x21, 0x1e, 0x6a, 0x90, 0x01}};
static const GUID WavesGuid = {
    0x7a0e5d31, 0x55c4, 0x4f43, {0x9b, 0x0c, 0x4d, 0x21, 0x1e, 0x6a, 0x90, 0x02}};

#define WAVES_HEIGHT 1
#define WAVES_LENGTH 2

static struct {
  PERF_COUNTERSET_INFO CounterSet;
  PERF_COUNTER_INFO Counters[2];
} WavesInfo = {
    {WavesGuid, ProviderGuid, 2, PERF_COUNTERSET_MULTI_INSTANCES},
    {
        {WAVES_HEIGHT, PERF_COUNTER_RAWCOUNT, 0, sizeof(ULONG), PERF_DETAIL_NOVICE, 0, 0},
        {WAVES_LENGTH, PERF_COUNTER_LARGE_RAWCOUNT, 0, sizeof(ULONGLONG), PERF_DETAIL_NOVICE, 0, 8},
    }};

static ULONG AddWave(HANDLE Provider, PCWSTR Name, ULONG Id, ULONG Height) {
  PPERF_COUNTERSET_INSTANCE Instance = PerfCreateInstance(Provider, &WavesGuid, Name, Id);
  if (Instance == NULL) {
    return GetLastError();
  }
  ULONG Status = PerfSetULongCounterValue(Provider, Instance, WAVES_HEIGHT, Height);
  if (Status == ERROR_SUCCESS) {
    Status = PerfSetULongLongCounterValue(Provider, Instance, WAVES_LENGTH, 10ULL * Height);
  }
  return Status;
}

int wmain() {
  GUID Guid = ProviderGuid;
  HANDLE Provider = NULL;
  ULONG Status = PerfStartProvider(&Guid, NULL, &Provider);
  if (Status == ERROR_SUCCESS) {
    Status = PerfSetCounterSetInfo(Provider, &WavesInfo.CounterSet, sizeof(WavesInfo));
  }
  if (Status == ERROR_SUCCESS) Status = AddWave(Provider, L"Small Wave", 0, 1);
  if (Status == ERROR_SUCCESS) Status = AddWave(Provider, L"Medium Wave", 0, 2);
  if (Status == ERROR_SUCCESS) Status = AddWave(Provider, L"Large Wave", 0, 3);
  if (Status == ERROR_SUCCESS) Status = AddWave(Provider, L"Large Wave", 7, 4);
  if (Status != ERROR_SUCCESS) {
    wprintf(L"error %lu\n", Status);
    return 1;
  }
  if (AddWave(Provider, L"large wave", 7, 5) != ERROR_ALREADY_EXISTS) {
    wprintf(L"the same row twice\n");
    return 1;
  }

  wprintf(L"published\n");
  fflush(stdout);
  while (getwchar() != WEOF) {
  }
  return PerfStopProvider(Provider) == ERROR_SUCCESS ? 0 : 1;
}
