// SPDX-License-Identifier: Apache-2.0
//
// A driver as one is written for Windows, with the habits of such sources: rows that all have id 0,
// a named row in a set of one, abs() of an unsigned number. C, and C++ as well.
#include <wdm.h>

typedef struct GEOMETRIC_WAVE_VALUES {
    ULONG Square;
    ULONG Triangle;
} GEOMETRIC_WAVE_VALUES;

typedef struct TRIGONOMETRIC_WAVE_VALUES {
    ULONG Constant;
    ULONG Cosine;
    ULONG Sine;
} TRIGONOMETRIC_WAVE_VALUES;

#include "waves_counters.h"

#pragma code_seg("PAGE")

DRIVER_INITIALIZE DriverEntry;
DRIVER_UNLOAD WavesUnload;

static volatile LONG Listeners;

static NTSTATUS
AddWave(
    _In_ PPCW_BUFFER Buffer,
    _In_ PCWSTR Name,
    _In_ ULONG Minimum,
    _In_ ULONG Amplitude
    )
{
    ULONG Index;
    LARGE_INTEGER Now;
    UNICODE_STRING UnicodeName;
    GEOMETRIC_WAVE_VALUES Values;

    PAGED_CODE();

    KeQuerySystemTime(&Now);
    Index = (ULONG)((Now.QuadPart / 10000000) % 10);

    Values.Triangle = Minimum + Amplitude * abs(5 - Index) / 5;
    Values.Square = Minimum + Amplitude * (Index < 5);

    RtlInitUnicodeString(&UnicodeName, Name);
    return WaveAddGeometricWave(Buffer, &UnicodeName, 0, &Values);
}

static NTSTATUS NTAPI
GeometricCallback(
    _In_ PCW_CALLBACK_TYPE Type,
    _In_ PPCW_CALLBACK_INFORMATION Info,
    _In_opt_ PVOID Context
    )
{
    static const PCWSTR Names[] = { L"Small Wave", L"Medium Wave", L"Large Wave" };
    static const ULONG Minima[] = { 40, 30, 20 };
    static const ULONG Amplitudes[] = { 20, 40, 60 };
    NTSTATUS Status = STATUS_SUCCESS;
    ULONG i;

    UNREFERENCED_PARAMETER(Context);

    switch (Type) {
    case PcwCallbackAddCounter:
        InterlockedIncrement(&Listeners);
        break;

    case PcwCallbackRemoveCounter:
        InterlockedDecrement(&Listeners);
        break;

    case PcwCallbackEnumerateInstances:
        for (i = 0; i < RTL_NUMBER_OF(Names) && NT_SUCCESS(Status); i++) {
            UNICODE_STRING Name;

            RtlInitUnicodeString(&Name, Names[i]);
            Status = WaveAddGeometricWave(Info->EnumerateInstances.Buffer, &Name, 0, NULL);
        }
        break;

    case PcwCallbackCollectData:
        for (i = 0; i < RTL_NUMBER_OF(Names) && NT_SUCCESS(Status); i++) {
            if (Info->CollectData.CancelEvent != NULL &&
                KeReadStateEvent(Info->CollectData.CancelEvent) != 0) {
                return STATUS_CANCELLED;
            }
            Status = AddWave(Info->CollectData.Buffer, Names[i], Minima[i], Amplitudes[i]);
        }
        break;
    }

    return Status;
}

static NTSTATUS NTAPI
TrigonometricCallback(
    _In_ PCW_CALLBACK_TYPE Type,
    _In_ PPCW_CALLBACK_INFORMATION Info,
    _In_opt_ PVOID Context
    )
{
    const ULONG Middle = 50;
    const ULONG Amplitude = 30;
    double Angle;
    KFLOATING_SAVE FloatSave;
    LARGE_INTEGER Now;
    NTSTATUS Status;
    TRIGONOMETRIC_WAVE_VALUES Values;
    UNICODE_STRING Name = RTL_CONSTANT_STRING(L"default");

    UNREFERENCED_PARAMETER(Context);

    if (Type == PcwCallbackEnumerateInstances) {
        return WaveAddTrigonometricWave(Info->EnumerateInstances.Buffer, &Name, 0, NULL);
    }
    if (Type != PcwCallbackCollectData) {
        return STATUS_SUCCESS;
    }

    Status = KeSaveFloatingPointState(&FloatSave);
    if (!NT_SUCCESS(Status)) {
        return Status;
    }
    KeQuerySystemTime(&Now);
    Angle = (double)(Now.QuadPart / 400000) * (22/7) / 180;
    Values.Constant = Middle;
    Values.Cosine = (ULONG)(Middle + Amplitude * cos(Angle));
    Values.Sine = (ULONG)(Middle + Amplitude * sin(Angle));
    KeRestoreFloatingPointState(&FloatSave);

    return WaveAddTrigonometricWave(Info->CollectData.Buffer, &Name, 0, &Values);
}

VOID
WavesUnload(_In_ PDRIVER_OBJECT DriverObject)
{
    UNREFERENCED_PARAMETER(DriverObject);
    PAGED_CODE();

    WaveUnregisterGeometricWave();
    WaveUnregisterTrigonometricWave();
}

NTSTATUS
DriverEntry(
    _In_ PDRIVER_OBJECT DriverObject,
    _In_ PUNICODE_STRING RegistryPath
    )
{
    NTSTATUS Status;

    UNREFERENCED_PARAMETER(RegistryPath);
    PAGED_CODE();

    Status = WaveRegisterGeometricWave(GeometricCallback, NULL);
    if (!NT_SUCCESS(Status)) {
        DbgPrintEx(DPFLTR_IHVDRIVER_ID, DPFLTR_ERROR_LEVEL, "geometric: 0x%x\n", Status);
        return Status;
    }

    Status = WaveRegisterTrigonometricWave(TrigonometricCallback, NULL);
    if (!NT_SUCCESS(Status)) {
        WaveUnregisterGeometricWave();
        return Status;
    }

    DriverObject->DriverUnload = WavesUnload;
    return STATUS_SUCCESS;
}
