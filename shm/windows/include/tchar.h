// SPDX-License-Identifier: Apache-2.0
//
// Text in either width, as a program chooses by defining _UNICODE before it. TCHAR is defined by
// the header that comes first: this one goes by _UNICODE or UNICODE, winnt.h by UNICODE, as on
// Windows, where programs define both.
#pragma once

#include <stddef.h>

#if defined(_UNICODE) || defined(UNICODE)
#if !defined(_TCHAR_DEFINED)
#define _TCHAR_DEFINED
typedef wchar_t TCHAR, *PTCHAR, TBYTE, *PTBYTE;
#endif
typedef wchar_t _TCHAR, _TSCHAR, _TUCHAR, _TXCHAR;
#define _T(text) L##text
#define _TEXT(text) L##text
#define _tmain wmain
#define _tprintf wprintf
#define _ftprintf fwprintf
#define _stprintf_s swprintf_s

#define _tcscpy wcscpy
#define _tcscat wcscat
#define _tcscpy_s wcscpy_s
#define _tcsncpy_s wcsncpy_s
#define _tcscat_s wcscat_s
#define _tcslen wcslen
#define _tcscmp wcscmp
#define _tcsncmp wcsncmp
#define _tcsicmp _wcsicmp
#define _tcschr wcschr
#define _tcsrchr wcsrchr
#define _tcsstr wcsstr
#define _tcstol wcstol
#define _tcstoul wcstoul
#define _itot_s _itow_s
#define _gettch _getwch
#else
#if !defined(_TCHAR_DEFINED)
#define _TCHAR_DEFINED
typedef char TCHAR, *PTCHAR;
typedef unsigned char TBYTE, *PTBYTE;
#endif
typedef char _TCHAR, _TXCHAR;
typedef signed char _TSCHAR;
typedef unsigned char _TUCHAR;
#define _T(text) text
#define _TEXT(text) text
#define _tmain main
#define _tprintf printf
#define _ftprintf fprintf
#define _stprintf_s sprintf_s

#define _tcscpy strcpy
#define _tcscat strcat
#define _tcscpy_s strcpy_s
#define _tcsncpy_s strncpy_s
#define _tcscat_s strcat_s
#define _tcslen strlen
#define _tcscmp strcmp
#define _tcsncmp strncmp
#define _tcsicmp _stricmp
#define _tcschr strchr
#define _tcsrchr strrchr
#define _tcsstr strstr
#define _tcstol strtol
#define _tcstoul strtoul
#define _itot_s _itoa_s
#define _gettch _getch
#endif

#include "windef.h"
