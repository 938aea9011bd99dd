// SPDX-License-Identifier: Apache-2.0
//
// Time, sleeping, events, the last error, strings, modules and plain memory. One thread's last
// error is its own.
#pragma once

#include <string.h>

#include "windef.h"

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

typedef struct _SECURITY_ATTRIBUTES {
  DWORD nLength;
  LPVOID lpSecurityDescriptor;
  BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

#define MAXIMUM_WAIT_OBJECTS 64
#define WAIT_OBJECT_0 METERBANK_CAST(DWORD, 0)
#define WAIT_FAILED METERBANK_CAST(DWORD, 0xffffffffU)

#define DUPLICATE_CLOSE_SOURCE 0x1
#define DUPLICATE_SAME_ACCESS 0x2

#define DONT_RESOLVE_DLL_REFERENCES 0x1
#define LOAD_LIBRARY_AS_DATAFILE 0x2
#define LOAD_WITH_ALTERED_SEARCH_PATH 0x8
#define LOAD_LIBRARY_AS_IMAGE_RESOURCE 0x20
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR 0x100
#define LOAD_LIBRARY_SEARCH_APPLICATION_DIR 0x200
#define LOAD_LIBRARY_SEARCH_USER_DIRS 0x400
#define LOAD_LIBRARY_SEARCH_SYSTEM32 0x800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS 0x1000

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

// ---- This process ----

DWORD WINAPI GetCurrentProcessId(VOID);
DWORD WINAPI GetCurrentThreadId(VOID);
// A handle that always means this process; CloseHandle leaves it alone.
HANDLE WINAPI GetCurrentProcess(VOID);
// 0, and ERROR_INVALID_HANDLE: not a handle of a process.
DWORD WINAPI GetProcessId(HANDLE process);
// Handles of this process and of events can be duplicated, by this process and for it. Those of
// providers and queries are no kernel objects, as on Windows: FALSE, and ERROR_INVALID_HANDLE.
// Access and inheritance are ignored.
BOOL WINAPI DuplicateHandle(HANDLE source_process, HANDLE source, HANDLE target_process,
                            LPHANDLE target, DWORD access, BOOL inherits, DWORD options);
// FALSE, and ERROR_INVALID_HANDLE: not a handle of such an object, or closed already.
BOOL WINAPI CloseHandle(HANDLE handle);

// ---- Events ----
//
// They are seen by this process alone, those with names, too; attributes are ignored. `stays_set`:
// the event is set until it is reset; else the thread whose wait it ends resets it.
//
// Thread safety  All functions may be called concurrently. Progress: waiting blocks, by the
// monotonic
//                clock, until the time is over; the others are short.
// Errors         ERROR_INVALID_HANDLE: not an event, or closed already.

// With a name that an event of this process has: another handle of that event, whatever the state
// that is asked for, and ERROR_ALREADY_EXISTS as the last error; else that is ERROR_SUCCESS. Null,
// and ERROR_NOT_ENOUGH_MEMORY.
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES attributes, BOOL stays_set, BOOL is_set,
                           LPCSTR name);
HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES attributes, BOOL stays_set, BOOL is_set,
                           LPCWSTR name) METERBANK_WIDE_SYMBOL(CreateEventW);
BOOL WINAPI SetEvent(HANDLE event);
BOOL WINAPI ResetEvent(HANDLE event);
// WAIT_OBJECT_0, with the position of the event that is set added, or WAIT_TIMEOUT. WAIT_FAILED,
// and ERROR_INVALID_HANDLE or, for no objects or more than MAXIMUM_WAIT_OBJECTS,
// ERROR_INVALID_PARAMETER. A process does not end while it waits for itself.
DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD milliseconds);
DWORD WINAPI WaitForMultipleObjects(DWORD count, const HANDLE* handles, BOOL all,
                                    DWORD milliseconds);

// Whether the process lacks the right to some of the bytes at this moment; a system call or more.
// No bytes are never bad.
BOOL WINAPI IsBadReadPtr(LPCVOID address, UINT_PTR bytes);
BOOL WINAPI IsBadWritePtr(LPVOID address, UINT_PTR bytes);

// ---- Modules: functions by name ----
//
// There are no libraries to load: advapi32, kernel32, kernelbase, ntdll, ole32 and pdh are names
// for the functions of these headers that the program is linked with. With meterbank::perflib those
// are PerfLib's consumer functions, with meterbank::pcw its provider functions, named in the
// program or not. A name may have a path in front and ".dll" behind, in any case. Null is the
// program itself, which has no functions.
//
// Errors: ERROR_MOD_NOT_FOUND, the module; ERROR_PROC_NOT_FOUND, the function;
// ERROR_INVALID_ORDINAL, a number instead of a name: there are none here.

// Null: see above. The handle needs no release.
HMODULE WINAPI GetModuleHandleA(LPCSTR name);
HMODULE WINAPI GetModuleHandleW(LPCWSTR name) METERBANK_WIDE_SYMBOL(GetModuleHandleW);
// ERROR_INVALID_PARAMETER: a null or empty name, a file, or LOAD_WITH_ALTERED_SEARCH_PATH together
// with LOAD_LIBRARY_SEARCH flags. Other flags change nothing.
HMODULE WINAPI LoadLibraryA(LPCSTR name);
HMODULE WINAPI LoadLibraryW(LPCWSTR name) METERBANK_WIDE_SYMBOL(LoadLibraryW);
HMODULE WINAPI LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags);
HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags)
    METERBANK_WIDE_SYMBOL(LoadLibraryExW);
BOOL WINAPI FreeLibrary(HMODULE module);
FARPROC WINAPI GetProcAddress(HMODULE module, LPCSTR name) METERBANK_WIDE_SYMBOL(GetProcAddress);

// ---- Strings ----

// By code points, the i ones by those of folded case; Windows goes by the language of the user. A
// null string comes before any other, and its length is 0. -1, 0 or 1.
int WINAPI lstrcmpA(LPCSTR left, LPCSTR right);
int WINAPI lstrcmpW(LPCWSTR left, LPCWSTR right) METERBANK_WIDE_SYMBOL(lstrcmpW);
int WINAPI lstrcmpiA(LPCSTR left, LPCSTR right);
int WINAPI lstrcmpiW(LPCWSTR left, LPCWSTR right) METERBANK_WIDE_SYMBOL(lstrcmpiW);
int WINAPI lstrlenA(LPCSTR text);
int WINAPI lstrlenW(LPCWSTR text) METERBANK_WIDE_SYMBOL(lstrlenW);

EXTERN_C_END

#if defined(UNICODE)
#define CreateEvent CreateEventW
#define GetModuleHandle GetModuleHandleW
#define LoadLibrary LoadLibraryW
#define LoadLibraryEx LoadLibraryExW
#define lstrcmp lstrcmpW
#define lstrcmpi lstrcmpiW
#define lstrlen lstrlenW
#else
#define CreateEvent CreateEventA
#define GetModuleHandle GetModuleHandleA
#define LoadLibrary LoadLibraryA
#define LoadLibraryEx LoadLibraryExA
#define lstrcmp lstrcmpA
#define lstrcmpi lstrcmpiA
#define lstrlen lstrlenA
#endif

#define ZeroMemory RtlZeroMemory
#define FillMemory RtlFillMemory
#define CopyMemory RtlCopyMemory
#define MoveMemory RtlMoveMemory
