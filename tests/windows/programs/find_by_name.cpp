// SPDX-License-Identifier: Apache-2.0
//
// A consumer that loads PerfLib at run time, as programs do that also start where it is missing. It
// ends with 0 if it found the counterset of processors.
#define UNICODE
#include <windows.h>

#include <perflib.h>
#include <stdio.h>

#include <vector>

typedef ULONG(WINAPI* PFN_ENUMERATE)(LPCWSTR, LPGUID, DWORD, LPDWORD);
typedef ULONG(WINAPI* PFN_REGISTRATION)(LPCWSTR, LPCGUID, PerfRegInfoType, DWORD, LPBYTE, DWORD,
                                        LPDWORD);

static HMODULE Module;
static PFN_ENUMERATE EnumerateSets;
static PFN_REGISTRATION QueryRegistration;

static BOOL LoadFunctions() {
  Module = LoadLibraryEx(TEXT("advapi32.dll"), NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (Module == NULL) return FALSE;
  EnumerateSets = (PFN_ENUMERATE)GetProcAddress(Module, "PerfEnumerateCounterSet");
  QueryRegistration =
      (PFN_REGISTRATION)GetProcAddress(Module, "PerfQueryCounterSetRegistrationInfo");
  return EnumerateSets != NULL && QueryRegistration != NULL;
}

int main() {
  if (LoadLibrary(TEXT("not-there.dll")) != NULL || GetLastError() != ERROR_MOD_NOT_FOUND) return 2;
  if (!LoadFunctions()) return 3;
  if (GetProcAddress(Module, "PerfStartProvider") != NULL) return 4;  // it does not publish
  DWORD count = 0;
  std::vector<GUID> sets;
  while (EnumerateSets(NULL, sets.data(), (DWORD)sets.size(), &count) == ERROR_NOT_ENOUGH_MEMORY) {
    sets.resize(count);
  }
  BOOL found = FALSE;
  for (DWORD i = 0; i < count; i++) {
    WCHAR name[256] = {};
    DWORD bytes = 0;
    if (QueryRegistration(NULL, &sets[i], PERF_REG_COUNTERSET_NAME_STRING, 0, (LPBYTE)name,
                          sizeof(name), &bytes) != ERROR_SUCCESS) {
      continue;
    }
    if (lstrcmpi(name, TEXT("processor information")) == 0) found = TRUE;
  }
  FreeLibrary(Module);
  printf("%u sets by name\n", count);
  return found ? 0 : 1;
}
