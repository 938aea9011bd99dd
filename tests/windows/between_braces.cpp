// SPDX-License-Identifier: Apache-2.0
//
// Sources in C++ that take Windows headers for headers of C. It only has to compile.
extern "C" {
#include <ntddk.h>
#include <perflib.h>
#include <strsafe.h>
#include <windows.h>
#include <winternl.h>
}

#include <string>

extern "C" DRIVER_INITIALIZE DriverEntry;

int length_of(const std::wstring& name, unsigned int number) {
  WCHAR text[32];
  return swprintf_s(text, L"%s%d", name.c_str(), abs(number));
}
