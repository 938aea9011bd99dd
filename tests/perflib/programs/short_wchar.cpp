// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -fshort-wchar: a WCHAR has 16 bits as on Windows, so names have the bytes they have
// there. Such a program keeps away from the wide functions of the C library.
#include <perflib.h>
#include <windows.h>

#include <objbase.h>
#include <stdio.h>

static_assert(sizeof(WCHAR) == 2);

int main() {
  GUID set;
  if (FAILED(CLSIDFromString(L"{B4FC721A-0378-476F-89BA-A5A79F810B36}", &set))) return 1;
  BYTE name[64];
  DWORD size = 0;
  if (PerfQueryCounterSetRegistrationInfo(L".", &set, PERF_REG_COUNTERSET_NAME_STRING, 0, name,
                                          sizeof(name), &size) != ERROR_SUCCESS) {
    return 2;
  }
  // "Processor Information" and its NUL.
  if (size != 22 * sizeof(WCHAR) || memcmp(name, L"Processor Information", size) != 0) return 3;

  HANDLE query = nullptr;
  if (PerfOpenQueryHandle(nullptr, &query) != ERROR_SUCCESS) return 4;
  struct {
    PERF_COUNTER_IDENTIFIER header;
    WCHAR name[8];
  } wanted = {{set, 0, sizeof(wanted), 0, 0xffffffff, 0, 0}, {}};
  wcscpy_s(wanted.name, L"_Total");
  if (PerfAddCounters(query, &wanted.header, sizeof(wanted)) != ERROR_SUCCESS) return 5;
  BYTE block[128];
  if (wanted.header.Status != ERROR_SUCCESS) return 6;
  if (PerfQueryCounterData(query, reinterpret_cast<PPERF_DATA_HEADER>(block), sizeof(block),
                           &size) != ERROR_SUCCESS) {
    return 7;
  }
  printf("%u bytes\n", size);
  PerfCloseQueryHandle(query);
  return size == 80 ? 0 : 8;
}
