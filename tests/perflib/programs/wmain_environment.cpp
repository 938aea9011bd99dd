// SPDX-License-Identifier: Apache-2.0
//
// wmain with everything there is.
#include <windows.h>

int wmain(int argc, wchar_t* argv[], wchar_t* envp[]) {
  bool found = false;
  for (; *envp != nullptr; ++envp) found = found || wcscmp(*envp, L"METERBANK_TEST=\u00e4") == 0;
  wprintf(L"environment: %d %s %d\n", argc, argv[1], found ? 1 : 0);
  return argv[argc] == nullptr ? 0 : 1;
}
