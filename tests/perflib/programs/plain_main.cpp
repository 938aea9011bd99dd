// SPDX-License-Identifier: Apache-2.0
//
// A program as people write them: every header, types in any order, narrow main, tchar text. It
// describes each counterset and ends with 0 if it found the one that was asked for.
#define UNICODE
#define _UNICODE
#include <objbase.h>
#include <perflib.h>
#include <sal.h>
#include <stdio.h>
#include <tchar.h>
#include <windows.h>
#include <winperf.h>

#include <memory>
#include <vector>

_Success_(return == ERROR_SUCCESS) static ULONG WINAPI
    GetRegistration(_In_ LPCGUID set, _In_ PerfRegInfoType request, _In_ DWORD detail,
                    _Inout_ std::vector<BYTE>& block) {
  for (;;) {
    DWORD size = 0;
    ULONG status = PerfQueryCounterSetRegistrationInfo(NULL, set, request, detail, block.data(),
                                                       static_cast<DWORD>(block.size()), &size);
    if (status != ERROR_NOT_ENOUGH_MEMORY) return status;
    block.resize(size);
  }
}

static BOOL PrintSet(_In_ REFGUID set) {
  WCHAR text[40] = {};
  if (StringFromGUID2(set, text, ARRAYSIZE(text)) == 0) return FALSE;
  std::vector<BYTE> name, block;
  if (GetRegistration(&set, PERF_REG_COUNTERSET_NAME_STRING, LOCALE_NEUTRAL, name) != NO_ERROR ||
      GetRegistration(&set, PERF_REG_COUNTERSET_STRUCT, 0, block) != NO_ERROR) {
    return FALSE;
  }
  auto info = reinterpret_cast<PPERF_COUNTERSET_REG_INFO>(block.data());
  unsigned __int64 sum = 0;
  __int64 unsigned attributes = 0;
  auto counters = reinterpret_cast<PPERF_COUNTER_REG_INFO>(info + 1);
  for (ULONG i = 0; i < info->NumCounters; i++) {
    sum += counters[i].CounterId;
    attributes |= counters[i].Attrib;
  }
  TCHAR line[300];
  _stprintf_s(line, _T("%s %s: %lu counters, ids add up to %I64u"), text,
              reinterpret_cast<LPCWSTR>(name.data()), info->NumCounters, sum);
  printf("%ls\n", line);
  return attributes == 0;
}

int __cdecl main(int argc, char** argv) {
  UNREFERENCED_PARAMETER(argc);
  UNREFERENCED_PARAMETER(argv);
  LARGE_INTEGER frequency, start;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&start);
  DWORD count = 0;
  ULONG status = PerfEnumerateCounterSet(NULL, NULL, 0, &count);
  std::unique_ptr<GUID[]> sets;
  while (status == ERROR_NOT_ENOUGH_MEMORY) {
    sets.reset(new GUID[count]);
    status = PerfEnumerateCounterSet(NULL, sets.get(), count, &count);
  }
  if (status != ERROR_SUCCESS) return static_cast<int>(status);
  BOOL good = count > 0 && frequency.QuadPart > 0 && start.HighPart >= 0;
  for (DWORD i = 0; i < count; i++) good = PrintSet(sets[i]) && good;
  SYSTEMTIME now;
  ZeroMemory(&now, sizeof(now));
  GetSystemTime(&now);
  return good && now.wYear > 2000 ? 0 : 1;
}
