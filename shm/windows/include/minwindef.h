// SPDX-License-Identifier: Apache-2.0
//
// The words of user-mode programs: BOOL, DWORD, handles, and how to take numbers apart.
#pragma once

#include "winnt.h"

#define FAR
#define NEAR
#define IN
#define OUT
#define OPTIONAL
#define FALSE 0
#define TRUE 1
#define MAX_PATH 260

typedef void* LPVOID;
typedef const void* LPCVOID;
typedef int BOOL, *PBOOL, *LPBOOL;
typedef unsigned char BYTE, *PBYTE, *LPBYTE;
typedef unsigned short WORD, *PWORD, *LPWORD;
typedef int INT, *PINT, *LPINT;
typedef unsigned int UINT, *PUINT;
typedef LONG* LPLONG;
typedef unsigned int DWORD, *PDWORD, *LPDWORD;
typedef float FLOAT, *PFLOAT;
typedef double DOUBLE, *PDOUBLE;
typedef WORD ATOM;
typedef int HFILE;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM, LRESULT;
typedef HANDLE *LPHANDLE, *SPHANDLE;
typedef HANDLE HMODULE, HINSTANCE, HLOCAL, HGLOBAL, GLOBALHANDLE, LOCALHANDLE, HKEY, *PHKEY;

// What GetProcAddress returns; programs cast it to the type of the function.
typedef INT_PTR(WINAPI* FARPROC)(void);
typedef INT_PTR(WINAPI* NEARPROC)(void);
typedef INT_PTR(WINAPI* PROC)(void);

typedef struct _FILETIME {
  DWORD dwLowDateTime;
  DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

#if defined(__cplusplus)
#define INVALID_HANDLE_VALUE (reinterpret_cast<HANDLE>(static_cast<LONG_PTR>(-1)))
#else
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#endif
#define INFINITE 0xffffffffU

#define MAKEWORD(low, high)                                                          \
  METERBANK_CAST(WORD, METERBANK_CAST(BYTE, METERBANK_CAST(DWORD_PTR, low) & 0xff) | \
                           (METERBANK_CAST(WORD, METERBANK_CAST(DWORD_PTR, high) & 0xff) << 8))
#define MAKELONG(low, high)                                                       \
  METERBANK_CAST(LONG,                                                            \
                 METERBANK_CAST(DWORD, METERBANK_CAST(DWORD_PTR, low) & 0xffff) | \
                     (METERBANK_CAST(DWORD, METERBANK_CAST(DWORD_PTR, high) & 0xffff) << 16))
#define LOWORD(value) METERBANK_CAST(WORD, METERBANK_CAST(DWORD_PTR, value) & 0xffff)
#define HIWORD(value) METERBANK_CAST(WORD, (METERBANK_CAST(DWORD_PTR, value) >> 16) & 0xffff)
#define LOBYTE(value) METERBANK_CAST(BYTE, METERBANK_CAST(DWORD_PTR, value) & 0xff)
#define HIBYTE(value) METERBANK_CAST(BYTE, (METERBANK_CAST(DWORD_PTR, value) >> 8) & 0xff)
