// SPDX-License-Identifier: Apache-2.0
//
// Text in either width, as a program chooses by defining _UNICODE before it.
#pragma once

#include "windef.h"

#if defined(_UNICODE) || defined(UNICODE)
#define _T(text) L##text
#define _TEXT(text) L##text
#define TEXT(text) L##text
#define _tmain wmain
#define _tprintf wprintf
#define _ftprintf fwprintf
#define _stprintf_s swprintf_s
#define _tcscpy_s wcscpy_s
#define _tcscat_s wcscat_s
#define _tcslen wcslen
#define _tcscmp wcscmp
#define _tcsicmp _wcsicmp
typedef WCHAR TCHAR, _TCHAR, *LPTSTR, *PTSTR;
typedef const WCHAR *LPCTSTR, *PCTSTR;
#else
#define _T(text) text
#define _TEXT(text) text
#define TEXT(text) text
#define _tmain main
#define _tprintf printf
#define _ftprintf fprintf
#define _stprintf_s sprintf_s
#define _tcscpy_s strcpy_s
#define _tcscat_s strcat_s
#define _tcslen strlen
#define _tcscmp strcmp
#define _tcsicmp _stricmp
typedef CHAR TCHAR, _TCHAR, *LPTSTR, *PTSTR;
typedef const CHAR *LPCTSTR, *PCTSTR;
#endif
