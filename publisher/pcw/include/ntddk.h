// SPDX-License-Identifier: Apache-2.0
//
// Sources that include <ntddk.h> find the same words as with <wdm.h>, and, where they are linked
// with meterbank::hal, those of hardware counters.
#pragma once

#include "wdm.h"

#if __has_include(<meterbank/hal/hardware_counters.h>)
#include <meterbank/hal/hardware_counters.h>
#endif
