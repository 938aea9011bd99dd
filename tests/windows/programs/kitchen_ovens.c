// SPDX-License-Identifier: Apache-2.0
//
// The other file of kitchen_main.c.
#include <windows.h>

#include <perflib.h>
#include <winperf.h>

#include "kitchen_counters.h"
#include "kitchen_ovens.h"

PPERF_COUNTERSET_INSTANCE OpenOven(PCWSTR Name, ULONG Id) {
  return Kitchen == NULL ? NULL : PerfCreateInstance(Kitchen, &KitchenOvensGuid, Name, Id);
}

BOOL HeatOven(PPERF_COUNTERSET_INSTANCE Oven, ULONG Degrees) {
  return PerfSetULongCounterValue(Kitchen, Oven, KitchenOvensHeat, Degrees) == ERROR_SUCCESS &&
         PerfIncrementULongLongCounterValue(Kitchen, Oven, KitchenOvensLoaves, 12) == ERROR_SUCCESS;
}
