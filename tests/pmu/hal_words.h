// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meterbank/hal/hardware_counters.h"

EXTERN_C_START

SIZE_T hal_words_descriptor_bytes(VOID);
// Allocates it and frees it again. 1: both worked.
int hal_words_hold_one_counter(ULONG counter);

EXTERN_C_END
