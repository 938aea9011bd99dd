// SPDX-License-Identifier: Apache-2.0
//
// Time, sleeping, the last error and plain memory. One thread's last error is its own.
#pragma once

#include <string.h>

#include "windef.h"

typedef struct _FILETIME {
  DWORD dwLowDateTime;
  DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

typedef struct _SYSTEMTIME {
  WORD wYear;
  WORD wMonth;
  WORD wDayOfWeek;  // 0 is Sunday
  WORD wDay;
  WORD wHour;
  WORD wMinute;
  WORD wSecond;
  WORD wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;
static_assert(sizeof(FILETIME) == 8 && sizeof(SYSTEMTIME) == 16, "as on Windows");

EXTERN_C_START

VOID WINAPI Sleep(DWORD milliseconds);
DWORD WINAPI GetLastError(VOID);
VOID WINAPI SetLastError(DWORD error);

// The clock of PERF_DATA_HEADER::PerfTimeStamp: CLOCK_MONOTONIC, a tick is a nanosecond.
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER* count);
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER* frequency);
ULONGLONG WINAPI GetTickCount64(VOID);
DWORD WINAPI GetTickCount(VOID);

VOID WINAPI GetSystemTimeAsFileTime(LPFILETIME time);
VOID WINAPI GetSystemTimePreciseAsFileTime(LPFILETIME time);
VOID WINAPI GetSystemTime(LPSYSTEMTIME time);
VOID WINAPI GetLocalTime(LPSYSTEMTIME time);
// False, and ERROR_INVALID_PARAMETER as the last error, for what is no time or outside 1601..30827.
BOOL WINAPI FileTimeToSystemTime(const FILETIME* time, LPSYSTEMTIME system);
BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME* system, LPFILETIME time);
LONG WINAPI CompareFileTime(const FILETIME* left, const FILETIME* right);

DWORD WINAPI GetCurrentProcessId(VOID);

EXTERN_C_END

#define ZeroMemory RtlZeroMemory
#define FillMemory RtlFillMemory
#define CopyMemory RtlCopyMemory
#define MoveMemory RtlMoveMemory
