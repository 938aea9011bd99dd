// SPDX-License-Identifier: Apache-2.0
//
// A driver of two files in C with headers of its own and a generated one. Fields of its rows are
// read where they lie.
#include <ntddk.h>

#include "lake.h"
#include "lake_counters.h"

DRIVER_INITIALIZE DriverEntry;
DRIVER_UNLOAD LakeUnload;

static LAKE Upper;
static LAKE Lower;

VOID LakeUnload(_In_ PDRIVER_OBJECT DriverObject) {
  UNREFERENCED_PARAMETER(DriverObject);
  PAGED_CODE();
  LakeClose(CONTAINING_RECORD(&Upper.Levels, LAKE, Levels));
  LakeClose(&Lower);
  LakeUnregisterLevels();
}

NTSTATUS DriverEntry(_In_ PDRIVER_OBJECT DriverObject, _In_ PUNICODE_STRING RegistryPath) {
  NTSTATUS Status;

  UNREFERENCED_PARAMETER(RegistryPath);
  Status = LakeRegisterLevels(NULL, NULL);
  if (!NT_SUCCESS(Status)) return Status;
  Status = LakeOpen(&Upper, L"upper lake", 12);
  if (NT_SUCCESS(Status)) Status = LakeOpen(&Lower, L"lower lake", 7);
  if (!NT_SUCCESS(Status)) {
    LakeUnregisterLevels();
    return Status;
  }
  LakeFill(&Upper, 1000);
  LakeFill(&Lower, 20);
  LakeFill(&Upper, 1);
  DriverObject->DriverUnload = LakeUnload;
  return STATUS_SUCCESS;
}
