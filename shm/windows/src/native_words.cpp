// SPDX-License-Identifier: Apache-2.0
//
// The functions of <ntdef.h> and <winternl.h>.
#include <time.h>

#include <cstddef>

#include "meterbank/base/clock.hpp"
#include "meterbank/windows/perf_time.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "ntstatus.h"
#include "winternl.h"

namespace {

// The longest string that a counted one can hold, with its NUL.
constexpr std::size_t kBytesMax = 0xfffc;

template <typename Character>
void init(UNICODE_STRING* string, const Character* text) noexcept {
  *string = {0, 0, nullptr};
  if (text == nullptr) return;
  std::size_t bytes = 0;
  for (const Character* at = text; *at != 0 && bytes + 2 * sizeof *at <= kBytesMax; ++at) {
    bytes += sizeof *at;
  }
  string->Length = static_cast<USHORT>(bytes);
  string->MaximumLength = static_cast<USHORT>(bytes + sizeof(Character));
  string->Buffer = reinterpret_cast<PWSTR>(const_cast<Character*>(text));
}

}  // namespace

extern "C" {

VOID RtlInitUnicodeString(PUNICODE_STRING string, PCWSTR text) { init(string, text); }
VOID meterbank_utf16_RtlInitUnicodeString(PUNICODE_STRING string, const char16_t* text) {
  init(string, text);
}

NTSTATUS NtQuerySystemTime(PLARGE_INTEGER time) {
  if (time == nullptr) return STATUS_ACCESS_VIOLATION;
  time->QuadPart = meterbank::windows_time_of(meterbank::clock_ns(CLOCK_REALTIME));
  return STATUS_SUCCESS;
}

}  // extern "C"
