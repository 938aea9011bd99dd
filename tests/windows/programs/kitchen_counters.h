// SPDX-License-Identifier: Apache-2.0
//
// In the form that CTRPP gives a user-mode header: GUIDs that can be written to, tables without
// `static`, functions without `static`, sizes that only CTRPP understands. Two files include it.
#pragma once

#define KitchenOvensHeat (1)
#define KitchenOvensLoaves (2)

EXTERN_C DECLSPEC_SELECTANY GUID KitchenGuid = { 0x3a8b3f60, 0x5c1d, 0x4a57, 0xb1, 0x0c, 0x27, 0x5e, 0x90, 0x4d, 0x11, 0x1 };

EXTERN_C DECLSPEC_SELECTANY GUID KitchenOvensGuid = { 0x3a8b3f61, 0x5c1d, 0x4a57, 0xb1, 0x0c, 0x27, 0x5e, 0x90, 0x4d, 0x11, 0x1 };


EXTERN_C DECLSPEC_SELECTANY HANDLE Kitchen = NULL;

EXTERN_C DECLSPEC_SELECTANY struct {
    PERF_COUNTERSET_INFO CounterSet;
    PERF_COUNTER_INFO Counter0;
    PERF_COUNTER_INFO Counter1;
} KitchenOvensInfo = {
    { { 0x3a8b3f61, 0x5c1d, 0x4a57, 0xb1, 0x0c, 0x27, 0x5e, 0x90, 0x4d, 0x11, 0x1 }, { 0x3a8b3f60, 0x5c1d, 0x4a57, 0xb1, 0x0c, 0x27, 0x5e, 0x90, 0x4d, 0x11, 0x1 }, 2, PERF_COUNTERSET_MULTI_INSTANCES },
    { 1, PERF_COUNTER_RAWCOUNT, 0, sizeof(ULONG), PERF_DETAIL_NOVICE, 0, 0 },
    { 2, PERF_COUNTER_BULK_COUNT, 0, sizeof(ULONGLONG), PERF_DETAIL_NOVICE, 0, 0 },
};

EXTERN_C FORCEINLINE
VOID
CounterCleanup(
    VOID
    )
{
    if (Kitchen != NULL) {
        PerfStopProvider(Kitchen);
        Kitchen = NULL;
    }
}

EXTERN_C __inline
ULONG
CounterInitialize(
    __in_opt PERFLIBREQUEST NotificationCallback,
    __in_opt PERF_MEM_ALLOC MemoryAllocationFunction,
    __in_opt PERF_MEM_FREE MemoryFreeFunction,
    __inout_opt PVOID MemoryFunctionsContext
    )
{
    ULONG Status;
    PERF_PROVIDER_CONTEXT ProviderContext;

    ZeroMemory(&ProviderContext, sizeof(PERF_PROVIDER_CONTEXT));
    ProviderContext.ContextSize = sizeof(PERF_PROVIDER_CONTEXT);
    ProviderContext.ControlCallback = NotificationCallback;
    ProviderContext.MemAllocRoutine = MemoryAllocationFunction;
    ProviderContext.MemFreeRoutine = MemoryFreeFunction;
    ProviderContext.pMemContext = MemoryFunctionsContext;

    Status = PerfStartProviderEx(&KitchenGuid, &ProviderContext, &Kitchen);
    if (Status != ERROR_SUCCESS) {
        Kitchen = NULL;
        return Status;
    }

    Status = PerfSetCounterSetInfo(Kitchen, &KitchenOvensInfo.CounterSet, sizeof KitchenOvensInfo);
    if (Status != ERROR_SUCCESS) {
        CounterCleanup();
        return Status;
    }
    return ERROR_SUCCESS;
}
