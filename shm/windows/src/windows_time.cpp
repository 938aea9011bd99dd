// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "meterbank/base/clock.hpp"
#include "meterbank/windows/perf_time.hpp"
#include "winbase.h"
#include "winerror.h"

namespace {

thread_local DWORD last_error = ERROR_SUCCESS;

std::int64_t windows_time_now() noexcept {
  return meterbank::windows_time_of(meterbank::clock_ns(CLOCK_REALTIME));
}

std::uint64_t number_of(const FILETIME& time) noexcept {
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

FILETIME file_time_of(std::int64_t time) noexcept {
  const auto number = static_cast<std::uint64_t>(time);
  return {static_cast<DWORD>(number & 0xffffffff), static_cast<DWORD>(number >> 32)};
}

SYSTEMTIME system_time_of(const meterbank::SystemTimeParts& parts) noexcept {
  return {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7]};
}

BOOL fail() noexcept {
  last_error = ERROR_INVALID_PARAMETER;
  return FALSE;
}

// The first step after 30827-12-31.
constexpr std::uint64_t kEndOfTime = 0x7fff'35f4'f06c'8000;

}  // namespace

extern "C" {

VOID Sleep(DWORD milliseconds) {
  if (milliseconds == INFINITE) {
    for (;;) ::pause();
  }
  timespec left{static_cast<time_t>(milliseconds / 1000),
                static_cast<long>(milliseconds % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

DWORD GetLastError(VOID) { return last_error; }
VOID SetLastError(DWORD error) { last_error = error; }

BOOL QueryPerformanceCounter(LARGE_INTEGER* count) {
  if (count == nullptr) return fail();
  count->QuadPart = static_cast<LONGLONG>(meterbank::clock_ns(CLOCK_MONOTONIC));
  return TRUE;
}
BOOL QueryPerformanceFrequency(LARGE_INTEGER* frequency) {
  if (frequency == nullptr) return fail();
  frequency->QuadPart = meterbank::kTicksPerSecond;
  return TRUE;
}
// Since the machine started, as on Windows; sleep counts.
ULONGLONG GetTickCount64(VOID) { return meterbank::clock_ns(CLOCK_BOOTTIME) / 1'000'000; }
DWORD GetTickCount(VOID) { return static_cast<DWORD>(GetTickCount64() & 0xffffffff); }

VOID GetSystemTimeAsFileTime(LPFILETIME time) { *time = file_time_of(windows_time_now()); }
VOID GetSystemTimePreciseAsFileTime(LPFILETIME time) { *time = file_time_of(windows_time_now()); }
VOID GetSystemTime(LPSYSTEMTIME time) {
  *time = system_time_of(meterbank::system_time_of(windows_time_now()));
}
VOID GetLocalTime(LPSYSTEMTIME time) {
  const std::uint64_t now = meterbank::clock_ns(CLOCK_REALTIME);
  const auto seconds = static_cast<time_t>(now / 1'000'000'000);
  tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) {
    GetSystemTime(time);
    return;
  }
  const auto part = [](long value) { return static_cast<WORD>(value); };
  *time = {part(parts.tm_year + 1900), part(parts.tm_mon + 1),
           part(parts.tm_wday),        part(parts.tm_mday),
           part(parts.tm_hour),        part(parts.tm_min),
           part(parts.tm_sec),         part(static_cast<long>(now / 1'000'000 % 1000))};
}

BOOL FileTimeToSystemTime(const FILETIME* time, LPSYSTEMTIME system) {
  if (time == nullptr || system == nullptr || number_of(*time) >= kEndOfTime) return fail();
  *system = system_time_of(meterbank::system_time_of(static_cast<std::int64_t>(number_of(*time))));
  return TRUE;
}
BOOL SystemTimeToFileTime(const SYSTEMTIME* system, LPFILETIME time) {
  if (system == nullptr || time == nullptr) return fail();
  const auto number = meterbank::windows_time_of(meterbank::SystemTimeParts{
      system->wYear, system->wMonth, system->wDayOfWeek, system->wDay, system->wHour,
      system->wMinute, system->wSecond, system->wMilliseconds});
  if (!number) return fail();
  *time = file_time_of(*number);
  return TRUE;
}
LONG CompareFileTime(const FILETIME* left, const FILETIME* right) {
  const std::uint64_t first = number_of(*left);
  const std::uint64_t second = number_of(*right);
  return first < second ? -1 : first > second ? 1 : 0;
}

}  // extern "C"
