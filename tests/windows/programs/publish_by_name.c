// SPDX-License-Identifier: Apache-2.0
//
// A provider in C that loads PerfLib at run time. It ends with the number of the step that failed.
#include <perflib.h>
#include <windows.h>

typedef ULONG(WINAPI* START)(LPGUID, PERFLIBREQUEST, HANDLE*);
typedef ULONG(WINAPI* STOP)(HANDLE);

int main(void) {
  GUID guid = {0x6b1f4f9e, 0x21f0, 0x4b8d, {0x9c, 0x1a, 1, 2, 3, 4, 5, 6}};
  HMODULE module = GetModuleHandle(TEXT("ADVAPI32.DLL"));
  START start = (START)(void (*)(void))GetProcAddress(module, "PerfStartProvider");
  STOP stop = (STOP)(void (*)(void))GetProcAddress(module, "PerfStopProvider");
  HANDLE provider = NULL;
  if (start == NULL || stop == NULL) return 1;
  if (GetProcAddress(module, "PerfOpenQueryHandle") != NULL) return 2;  // it does not read
  if (start(&guid, NULL, &provider) != ERROR_SUCCESS) return 3;
  return stop(provider) == ERROR_SUCCESS ? 0 : 4;
}
