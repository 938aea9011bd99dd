// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -fshort-wchar: names have the bytes that they have on Windows, and no characters of
// another width are taken for them. Ends with the number of the step that failed.
#include <stdlib.h>
#include <unistd.h>
#include <wdm.h>

static_assert(sizeof(WCHAR) == 2, "that is what this is about");

int main() {
  char directory[] = "/tmp/meterbank-short-XXXXXX";
  if (::mkdtemp(directory) == nullptr || ::setenv("METERBANK_DIR", directory, 1) != 0) return 1;

  static UNICODE_STRING name = RTL_CONSTANT_STRING(L"Short Names");
  if (name.Length != 22) return 2;
  UNICODE_STRING initialised;
  RtlInitUnicodeString(&initialised, L"Short Names");
  if (initialised.Length != name.Length || initialised.MaximumLength != 24) return 3;

  PCW_COUNTER_DESCRIPTOR counter = {1, 0, 0, 4};
  PCW_REGISTRATION_INFORMATION info = {PCW_CURRENT_VERSION, &name, 1, &counter, nullptr, nullptr,
                                       PcwRegistrationNone};
  PPCW_REGISTRATION registration = nullptr;
  if (PcwRegister(&registration, &info) != STATUS_SUCCESS) return 4;

  ULONG value = 1;
  PCW_DATA data = {&value, sizeof value};
  PPCW_INSTANCE instance = nullptr;
  UNICODE_STRING row = RTL_CONSTANT_STRING(L"odd");  // 6 bytes: no name of 32-bit characters
  if (PcwCreateInstance(&instance, registration, &row, 1, &data) != STATUS_SUCCESS) return 5;
  row.Length = 5;
  if (PcwCreateInstance(&instance, registration, &row, 1, &data) != STATUS_INVALID_PARAMETER_3) {
    return 6;
  }
  PcwUnregister(registration);
  return ::rmdir(directory) == 0 ? 0 : 7;  // nothing is left in it
}
