// SPDX-License-Identifier: Apache-2.0
//
// wmain without parameters, and output that Linux prints wide.
#include <windows.h>

int wmain() {
  wprintf(L"plain: %s %lu \u00e4\n", L"text", GetCurrentProcessId() != 0 ? DWORD{1} : DWORD{0});
  return 0;
}
