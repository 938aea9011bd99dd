/* SPDX-License-Identifier: Apache-2.0
 *
 * A monitor that loads PDH at run time, as programs do that also start where it is missing. It
 * prints a level, which is there after one collection, and a rate, which takes two.
 */
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>

typedef PDH_STATUS(WINAPI* OPEN_QUERY)(LPCSTR, DWORD_PTR, PDH_HQUERY*);
typedef PDH_STATUS(WINAPI* ADD_COUNTER)(PDH_HQUERY, LPCSTR, DWORD_PTR, PDH_HCOUNTER*);
typedef PDH_STATUS(WINAPI* COLLECT)(PDH_HQUERY);
typedef PDH_STATUS(WINAPI* FORMAT)(PDH_HCOUNTER, DWORD, LPDWORD, PPDH_FMT_COUNTERVALUE);
typedef PDH_STATUS(WINAPI* CLOSE_QUERY)(PDH_HQUERY);

int main(void) {
  HMODULE pdh = LoadLibraryA("pdh.dll");
  OPEN_QUERY open;
  ADD_COUNTER add;
  COLLECT collect;
  FORMAT format;
  CLOSE_QUERY close;
  PDH_HQUERY query;
  PDH_HCOUNTER memory, processor;
  PDH_FMT_COUNTERVALUE value;

  if (pdh == NULL) return 2;
  open = (OPEN_QUERY)GetProcAddress(pdh, "PdhOpenQueryA");
  add = (ADD_COUNTER)GetProcAddress(pdh, "PdhAddEnglishCounterA");
  collect = (COLLECT)GetProcAddress(pdh, "PdhCollectQueryData");
  format = (FORMAT)GetProcAddress(pdh, "PdhGetFormattedCounterValue");
  close = (CLOSE_QUERY)GetProcAddress(pdh, "PdhCloseQuery");
  if (!open || !add || !collect || !format || !close) return 3;
  if (GetProcAddress(pdh, "PdhNoSuchFunction") || GetLastError() != ERROR_PROC_NOT_FOUND) return 4;

  if (open(NULL, 0, &query) != ERROR_SUCCESS) return 5;
  if (add(query, "\\Memory\\Available Bytes", 0, &memory) != ERROR_SUCCESS) return 6;
  if (add(query, "\\Processor(_Total)\\% Processor Time", 0, &processor) != ERROR_SUCCESS) return 7;
  if (collect(query) != ERROR_SUCCESS) return 8;
  if (format(memory, PDH_FMT_LARGE, NULL, &value) != ERROR_SUCCESS) return 9;
  printf("available: %lld\n", (long long)value.largeValue);
  if (format(processor, PDH_FMT_DOUBLE, NULL, &value) != (PDH_STATUS)PDH_INVALID_DATA) return 10;
  Sleep(1100);
  if (collect(query) != ERROR_SUCCESS) return 11;
  if (format(processor, PDH_FMT_DOUBLE, NULL, &value) != ERROR_SUCCESS) return 12;
  printf("busy: %.1f\n", value.doubleValue);
  if (close(query) != ERROR_SUCCESS) return 13;
  FreeLibrary(pdh);
  return 0;
}
