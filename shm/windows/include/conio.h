// SPDX-License-Identifier: Apache-2.0
//
// Single keys. The console is standard input: where that is a terminal, keys count without Enter
// and are not echoed; elsewhere it is what comes next, a byte at a time.
//
// These functions read the descriptor, not the stream: what stdin has buffered they do not see.
#pragma once

#include <wchar.h>

#include "meterbank/windows/keywords.h"

EXTERN_C_START

// Not 0: a key waits. 0 also where input has ended, so that `while (!_kbhit())` of a program
// without a console goes on, as on Windows.
int _kbhit(void);
// Waits for a key. A byte, 13 for Enter; -1 where input has ended, which a console never does.
int _getch(void);
// The same, a whole character of UTF-8. WEOF where input has ended or is malformed.
wint_t _getwch(void);

EXTERN_C_END
