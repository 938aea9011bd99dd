// SPDX-License-Identifier: Apache-2.0
//
// The other file of lake_driver.c.
#include <ntddk.h>

#include "lake.h"
#include "lake_counters.h"

_Use_decl_annotations_
NTSTATUS LakeOpen(PLAKE Lake, PCWSTR Name, ULONG Depth) {
  UNICODE_STRING Text;

  RtlZeroMemory(Lake, sizeof(*Lake));
  Lake->Levels.Depth = Depth;
  RtlInitUnicodeString(&Text, Name);
  if (Text.Length >= RTL_FIELD_SIZE(LAKE, Name)) return STATUS_BUFFER_TOO_SMALL;
  RtlCopyMemory(Lake->Name, Text.Buffer, Text.Length);
  return LakeCreateLevels(&Lake->Instance, &Text, &Lake->Levels);
}

_Use_decl_annotations_
VOID LakeClose(PLAKE Lake) {
  LakeCloseLevels(Lake->Instance);
  Lake->Instance = NULL;
}
