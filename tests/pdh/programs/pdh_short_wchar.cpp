// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -fshort-wchar: the names of Windows lead to the functions that speak UTF-16.
#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>

static_assert(sizeof(WCHAR) == 2);

int main() {
  WCHAR list[1024];
  DWORD size = ARRAYSIZE(list);
  if (PdhExpandWildCardPathW(NULL, L"\\Processor Information(_Total)\\% Processor Time", list,
                             &size, 0) != ERROR_SUCCESS) {
    return 1;
  }
  PDH_HQUERY query = NULL;
  PDH_HCOUNTER counter = NULL;
  if (PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS) return 2;
  if (PdhAddCounterW(query, list, 0, &counter) != ERROR_SUCCESS) return 3;
  if (PdhCollectQueryData(query) != ERROR_SUCCESS) return 4;
  PDH_RAW_COUNTER_ITEM_W items[8];
  DWORD bytes = sizeof(items), count = 0;
  if (PdhGetRawCounterArrayW(counter, &bytes, &count, items) != ERROR_SUCCESS) return 5;
  if (memcmp(items[0].szName, L"_Total", 7 * sizeof(WCHAR)) != 0) return 6;
  printf("%u item of %u bytes\n", count, bytes);
  return PdhCloseQuery(query) == ERROR_SUCCESS ? 0 : 7;
}
