// SPDX-License-Identifier: Apache-2.0
//
// In the form that CTRPP gives a kernel-mode header. Two files of the driver include it.
#pragma once

EXTERN_C DECLSPEC_SELECTANY PPCW_REGISTRATION LakeLevels = NULL;

EXTERN_C FORCEINLINE
VOID
LakeInitRegistrationInformationLevels(
    __in_opt PPCW_CALLBACK Callback,
    __in_opt PVOID CallbackContext,
    __out PPCW_REGISTRATION_INFORMATION RegInfo
    )
{
    static UNICODE_STRING Name = RTL_CONSTANT_STRING(L"Lake Levels");
    static PCW_COUNTER_DESCRIPTOR Descriptors[] = {
        { 1, 0, FIELD_OFFSET(LAKE_LEVELS, Depth), RTL_FIELD_SIZE(LAKE_LEVELS, Depth) },
        { 2, 0, FIELD_OFFSET(LAKE_LEVELS, Litres), RTL_FIELD_SIZE(LAKE_LEVELS, Litres) },
    };

#if CTRPP_VERIFY_COUNTER_SIZES
    C_ASSERT(RTL_FIELD_SIZE(LAKE_LEVELS, Depth) == sizeof(ULONG));
#endif
    RtlZeroMemory(RegInfo, sizeof(*RegInfo));
    RegInfo->Version = PCW_CURRENT_VERSION;
    RegInfo->CounterCount = RTL_NUMBER_OF(Descriptors);
    RegInfo->Counters = Descriptors;
    RegInfo->Callback = Callback;
    RegInfo->CallbackContext = CallbackContext;
    RegInfo->Name = &Name;
}

EXTERN_C FORCEINLINE
NTSTATUS
LakeRegisterLevels(
    __in_opt PPCW_CALLBACK Callback,
    __in_opt PVOID CallbackContext
    )
{
    PCW_REGISTRATION_INFORMATION RegInfo;

    LakeInitRegistrationInformationLevels(Callback, CallbackContext, &RegInfo);
    return PcwRegister(&LakeLevels, &RegInfo);
}

EXTERN_C FORCEINLINE
VOID
LakeUnregisterLevels(
    VOID
    )
{
    PcwUnregister(LakeLevels);
    LakeLevels = NULL;
}

EXTERN_C FORCEINLINE
NTSTATUS
LakeCreateLevels(
    __deref_out PPCW_INSTANCE *Instance,
    __in PCUNICODE_STRING Name,
    __in LAKE_LEVELS *Levels
    )
{
    PCW_DATA Data[1];

    Data[0].Data = Levels;
    Data[0].Size = sizeof(LAKE_LEVELS);
    return PcwCreateInstance(Instance, LakeLevels, Name, 1, Data);
}

EXTERN_C FORCEINLINE
VOID
LakeCloseLevels(
    __in PPCW_INSTANCE Instance
    )
{
    PcwCloseInstance(Instance);
}
