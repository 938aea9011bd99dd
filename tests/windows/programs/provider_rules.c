// SPDX-License-Identifier: Apache-2.0
//
// A program that looks how PerfLib treats a provider, with 16-bit characters: what it accepts, what
// it refuses by which code, and what lies where in the block of an instance. It prints each rule
// that does not hold.
#include <perflib.h>
#include <stdio.h>
#include <windows.h>

static int Broken;
#define RULE(condition) \
  ((condition) ? (void)0 : (void)(Broken++, printf("%d: %s\n", __LINE__, #condition)))

static GUID Provider1 = {0xa1b2c3d4, 1, 1, {1, 2, 3, 4, 5, 6, 7, 8}};
static GUID Set1 = {0xa1b2c3d4, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
static GUID Set2 = {0xa1b2c3d4, 1, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

static struct {
  PERF_COUNTERSET_INFO Set;
  PERF_COUNTER_INFO Counters[2];
} Template = {
    {{0}},
    {{1, PERF_COUNTER_COUNTER, PERF_ATTRIB_BY_REFERENCE, sizeof(PERF_COUNTER_INFO),
      PERF_DETAIL_NOVICE, 0, 0xfeedface},
     {2, PERF_COUNTER_COUNTER, PERF_ATTRIB_BY_REFERENCE, sizeof(PERF_COUNTER_INFO),
      PERF_DETAIL_NOVICE, 0, 0xfeedface}},
};

static void LookAtHandles(HANDLE provider) {
  const HANDLE before = (HANDLE)(LONG_PTR)0x77;
  HANDLE handle = before;
  PERF_PROVIDER_CONTEXT context;
  RULE(PerfStartProvider(NULL, NULL, &handle) == ERROR_INVALID_PARAMETER && handle == before);
  RULE(PerfStartProvider(&Provider1, NULL, NULL) == ERROR_INVALID_PARAMETER);
  RULE(PerfStartProvider(&Provider1, NULL, &handle) == ERROR_SUCCESS && handle != provider);
  RULE(PerfStopProvider(handle) == ERROR_SUCCESS);
  RULE(!IsBadWritePtr(provider, 8));
  RULE(!DuplicateHandle(GetCurrentProcess(), provider, GetCurrentProcess(), &handle, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) &&
       GetLastError() == ERROR_INVALID_HANDLE);
  ZeroMemory(&context, sizeof(context));
  handle = before;
  RULE(PerfStartProviderEx(&Provider1, &context, &handle) == ERROR_INVALID_PARAMETER);
  RULE(handle == before);
  context.ContextSize = sizeof(context) + 1;
  RULE(PerfStartProviderEx(&Provider1, &context, &handle) == ERROR_SUCCESS);
  RULE(PerfStopProvider(handle) == ERROR_SUCCESS);
}

static void LookAtTemplates(HANDLE provider) {
  Template.Set.CounterSetGuid = Set1;
  Template.Set.ProviderGuid = Provider1;
  RULE(PerfSetCounterSetInfo(provider, &Template.Set, sizeof(Template.Set)) ==
       ERROR_INVALID_PARAMETER);
  Template.Set.NumCounters = 2;
  RULE(PerfSetCounterSetInfo(provider, &Template.Set, sizeof(Template)) == ERROR_SUCCESS);
  Template.Set.CounterSetGuid = Set2;
  Template.Set.ProviderGuid = Set1;
  Template.Set.NumCounters = 1;
  RULE(PerfSetCounterSetInfo(provider, &Template.Set, sizeof(Template)) == ERROR_SUCCESS);
  RULE(PerfSetCounterSetInfo(provider, &Template.Set, sizeof(Template)) == ERROR_ALREADY_EXISTS);
}

static DWORD ErrorOf(PPERF_COUNTERSET_INSTANCE instance) {
  return instance == NULL ? GetLastError() : ERROR_SUCCESS;
}

static void LookAtInstances(HANDLE provider) {
  UINT64 first = 0, second = 0;
  PPERF_COUNTERSET_INSTANCE row;
  PVOID* slots;
  RULE(ErrorOf(PerfCreateInstance(provider, NULL, L"a", 1)) == ERROR_INVALID_PARAMETER);
  RULE(ErrorOf(PerfCreateInstance(provider, &Set1, NULL, 1)) == ERROR_INVALID_PARAMETER);
  RULE(ErrorOf(PerfCreateInstance(provider, &Provider1, L"a", 1)) == ERROR_NOT_FOUND);
  SetLastError(0x1234);
  row = PerfCreateInstance(provider, &Set1, L"row", 1);
  RULE(row != NULL && GetLastError() == 0x1234);
  if (row == NULL) return;
  RULE(row->InstanceId == 1 && IsEqualGUID(&row->CounterSetGuid, &Set1));
  RULE(row->InstanceNameSize == 8);
  RULE(row->InstanceNameOffset == sizeof(*row) + 2 * sizeof(UINT64));
  RULE(row->dwSize == ((sizeof(*row) + 2 * sizeof(UINT64) + row->InstanceNameSize + 7) & ~7U));
  RULE(lstrcmpW((PCWSTR)((BYTE*)row + row->InstanceNameOffset), L"row") == 0);
  slots = (PVOID*)(row + 1);
  RULE(PerfSetCounterRefValue(provider, row, 1, &first) == ERROR_SUCCESS && slots[0] == &first);
  RULE(PerfSetCounterRefValue(provider, row, 2, &second) == ERROR_SUCCESS && slots[1] == &second);
  RULE(PerfSetCounterRefValue(provider, row, 0, &first) == ERROR_NOT_FOUND);
  RULE(PerfSetCounterRefValue(provider, NULL, 1, &first) == ERROR_INVALID_PARAMETER);
  RULE(PerfDeleteInstance(provider, row) == ERROR_SUCCESS);
  RULE(PerfDeleteInstance(provider, NULL) == ERROR_INVALID_PARAMETER);
}

int main(void) {
  HANDLE provider = NULL;
  RULE(PerfStartProvider(&Provider1, NULL, &provider) == ERROR_SUCCESS);
  LookAtHandles(provider);
  LookAtTemplates(provider);
  LookAtInstances(provider);
  RULE(PerfStopProvider(provider) == ERROR_SUCCESS);
  return Broken;
}
