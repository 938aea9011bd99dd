// SPDX-License-Identifier: Apache-2.0
//
// As a driver writes it.
#include "hal_words.h"

static VOID NTAPI overflowed(ULONGLONG status, HANDLE owner) {
  UNREFERENCED_PARAMETER(status);
  UNREFERENCED_PARAMETER(owner);
}

SIZE_T hal_words_descriptor_bytes(VOID) {
  PHYSICAL_COUNTER_RESOURCE_LIST list;
  RtlZeroMemory(&list, sizeof(list));
  list.Count = 1;
  list.Descriptors[0].Type = ResourceTypeOverflow;
  list.Descriptors[0].u.OverflowHandler = overflowed;
  return sizeof(list.Descriptors[0]);
}

int hal_words_hold_one_counter(ULONG counter) {
  PHYSICAL_COUNTER_RESOURCE_LIST list;
  GROUP_AFFINITY group;
  HANDLE handle = NULL;
  RtlZeroMemory(&list, sizeof(list));
  RtlZeroMemory(&group, sizeof(group));
  group.Mask = 1;
  list.Count = 1;
  list.Descriptors[0].Type = ResourceTypeSingle;
  list.Descriptors[0].u.CounterIndex = counter;
  if (!NT_SUCCESS(HalAllocateHardwareCounters(&group, 1, &list, &handle))) return 0;
  return handle != NULL && HalFreeHardwareCounters(handle) == STATUS_SUCCESS ? 1 : 0;
}
