// SPDX-License-Identifier: Apache-2.0
//
// A user-mode provider in two files of C that share a generated header. It ends with the number of
// the step that failed.
#include <windows.h>

#include <perflib.h>
#include <winperf.h>

#include "kitchen_counters.h"
#include "kitchen_ovens.h"

static GUID AnotherProvider;

int main(void) {
  PPERF_COUNTERSET_INSTANCE Oven;
  if (CounterInitialize(NULL, NULL, NULL, NULL) != ERROR_SUCCESS) return 1;
  Oven = OpenOven(L"stone oven", 7);
  if (Oven == NULL) return 2;
  if (!HeatOven(Oven, 230)) return 3;
  if (PerfQueryInstance(Kitchen, &KitchenOvensGuid, L"Stone Oven", 7) != Oven) return 4;
  if (IsEqualGUID(&KitchenGuid, &AnotherProvider)) return 5;
  AnotherProvider = KitchenGuid;
  if (!IsEqualGUID(&KitchenGuid, &AnotherProvider)) return 6;
  CounterCleanup();
  return Kitchen == NULL ? 0 : 7;
}
