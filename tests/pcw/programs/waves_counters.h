// SPDX-License-Identifier: Apache-2.0
//
// What a generator for Windows makes of a manifest with two sets, by hand: one variable, and six
// functions a set.
#pragma once

EXTERN_C DECLSPEC_SELECTANY PPCW_REGISTRATION WaveGeometricWave = NULL;
EXTERN_C DECLSPEC_SELECTANY PPCW_REGISTRATION WaveTrigonometricWave = NULL;

EXTERN_C FORCEINLINE VOID
WaveInitRegistrationInformationGeometricWave(
    __in_opt PPCW_CALLBACK Callback,
    __in_opt PVOID CallbackContext,
    _Out_ PPCW_REGISTRATION_INFORMATION RegInfo
    )
{
    static const UNICODE_STRING Name = RTL_CONSTANT_STRING(L"Geometric Waves");
    static const PCW_COUNTER_DESCRIPTOR Descriptors[] = {
        { 1, 0, FIELD_OFFSET(GEOMETRIC_WAVE_VALUES, Triangle), RTL_FIELD_SIZE(GEOMETRIC_WAVE_VALUES, Triangle) },
        { 2, 0, FIELD_OFFSET(GEOMETRIC_WAVE_VALUES, Square), RTL_FIELD_SIZE(GEOMETRIC_WAVE_VALUES, Square) },
    };

    PAGED_CODE();

    RtlZeroMemory(RegInfo, sizeof(*RegInfo));
    RegInfo->Version = PCW_CURRENT_VERSION;
    RegInfo->Name = &Name;
    RegInfo->CounterCount = RTL_NUMBER_OF(Descriptors);
    RegInfo->Counters = (PPCW_COUNTER_DESCRIPTOR)Descriptors;
    RegInfo->Callback = Callback;
    RegInfo->CallbackContext = CallbackContext;
}

EXTERN_C FORCEINLINE NTSTATUS
WaveRegisterGeometricWave(__in_opt PPCW_CALLBACK Callback, __in_opt PVOID CallbackContext)
{
    PCW_REGISTRATION_INFORMATION RegInfo;

    PAGED_CODE();

    WaveInitRegistrationInformationGeometricWave(Callback, CallbackContext, &RegInfo);
    return PcwRegister(&WaveGeometricWave, &RegInfo);
}

EXTERN_C FORCEINLINE VOID
WaveUnregisterGeometricWave(VOID)
{
    PAGED_CODE();
    PcwUnregister(WaveGeometricWave);
}

EXTERN_C FORCEINLINE NTSTATUS
WaveAddGeometricWave(
    _In_ PPCW_BUFFER Buffer,
    _In_ PCUNICODE_STRING Name,
    ULONG Id,
    __in_opt const GEOMETRIC_WAVE_VALUES *GeometricWaveValues
    )
{
    PCW_DATA Data[1];

    PAGED_CODE();

    Data[0].Data = GeometricWaveValues;
    Data[0].Size = sizeof(GEOMETRIC_WAVE_VALUES);
    return PcwAddInstance(Buffer, Name, Id, 1, Data);
}

EXTERN_C FORCEINLINE NTSTATUS
WaveRegisterTrigonometricWave(__in_opt PPCW_CALLBACK Callback, __in_opt PVOID CallbackContext)
{
    PCW_REGISTRATION_INFORMATION RegInfo = { 0 };
    DECLARE_CONST_UNICODE_STRING(Name, L"Trigonometric Waves");
    PCW_COUNTER_DESCRIPTOR Descriptors[] = {
        { 1, 0, FIELD_OFFSET(TRIGONOMETRIC_WAVE_VALUES, Sine), RTL_FIELD_SIZE(TRIGONOMETRIC_WAVE_VALUES, Sine) },
        { 2, 0, FIELD_OFFSET(TRIGONOMETRIC_WAVE_VALUES, Cosine), RTL_FIELD_SIZE(TRIGONOMETRIC_WAVE_VALUES, Cosine) },
        { 3, 0, FIELD_OFFSET(TRIGONOMETRIC_WAVE_VALUES, Constant), RTL_FIELD_SIZE(TRIGONOMETRIC_WAVE_VALUES, Constant) },
    };

    PAGED_CODE();

    RegInfo.Version = PCW_VERSION_1;
    RegInfo.Name = &Name;
    RegInfo.CounterCount = RTL_NUMBER_OF(Descriptors);
    RegInfo.Counters = Descriptors;
    RegInfo.Callback = Callback;
    RegInfo.CallbackContext = CallbackContext;
    return PcwRegister(&WaveTrigonometricWave, &RegInfo);
}

EXTERN_C FORCEINLINE VOID
WaveUnregisterTrigonometricWave(VOID)
{
    PAGED_CODE();
    PcwUnregister(WaveTrigonometricWave);
}

EXTERN_C FORCEINLINE NTSTATUS
WaveAddTrigonometricWave(
    _In_ PPCW_BUFFER Buffer,
    _In_ PCUNICODE_STRING Name,
    ULONG Id,
    __in_opt const TRIGONOMETRIC_WAVE_VALUES *TrigonometricWaveValues
    )
{
    PCW_DATA Data[1];

    PAGED_CODE();

    Data[0].Data = TrigonometricWaveValues;
    Data[0].Size = sizeof(TRIGONOMETRIC_WAVE_VALUES);
    return PcwAddInstance(Buffer, Name, Id, 1, Data);
}
