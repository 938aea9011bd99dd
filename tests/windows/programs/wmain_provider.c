// SPDX-License-Identifier: Apache-2.0
//
//   wmain_provider NAME
//
// A provider in C as one is written for a console: a row called NAME counts until q is pressed. It
// ends with the number of the step that failed.
#include <conio.h>
#include <perflib.h>
#include <strsafe.h>
#include <windows.h>

static GUID ProviderGuid = {0x1d7c4f11, 0x6d0f, 0x4c7e, {0xa1, 0x5e, 3, 1, 4, 1, 5, 9}};
static GUID SetGuid = {0x1d7c4f12, 0x6d0f, 0x4c7e, {0xa1, 0x5e, 3, 1, 4, 1, 5, 9}};

static struct {
  PERF_COUNTERSET_INFO Set;
  PERF_COUNTER_INFO Turns;
} Template = {
    {{0}, {0}, 1, PERF_COUNTERSET_MULTI_INSTANCES},
    {1, PERF_COUNTER_BULK_COUNT, 0, sizeof(ULONGLONG), PERF_DETAIL_NOVICE, 0, 0},
};

int wmain(int argc, wchar_t* argv[]) {
  HANDLE Provider = NULL;
  PPERF_COUNTERSET_INSTANCE Row;
  WCHAR Title[64];
  int Turns = 0;

  if (argc < 2) return 1;
  if (FAILED(StringCchPrintfW(Title, ARRAYSIZE(Title), L"%s (%d)", argv[1], argc))) return 2;
  if (lstrlenW(Title) != lstrlenW(argv[1]) + 4) return 3;
  Template.Set.CounterSetGuid = SetGuid;
  Template.Set.ProviderGuid = ProviderGuid;
  if (PerfStartProvider(&ProviderGuid, NULL, &Provider) != ERROR_SUCCESS) return 4;
  if (PerfSetCounterSetInfo(Provider, &Template.Set, sizeof(Template)) != ERROR_SUCCESS) return 5;
  Row = PerfCreateInstance(Provider, &SetGuid, argv[1], 1);
  if (Row == NULL) return 6;
  do {
    if (PerfIncrementULongLongCounterValue(Provider, Row, 1, 1) != ERROR_SUCCESS) return 7;
    Turns++;
  } while (_getch() != 'q');
  if (Turns != 3) return 8;
  if (lstrcmpW((PCWSTR)((BYTE*)Row + Row->InstanceNameOffset), argv[1]) != 0) return 9;
  return PerfStopProvider(Provider) == ERROR_SUCCESS ? 0 : 10;
}
