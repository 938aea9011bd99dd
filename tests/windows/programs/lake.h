// SPDX-License-Identifier: Apache-2.0
//
// The driver's own words.
#pragma once

typedef struct _LAKE_LEVELS {
    ULONG Depth;
    UINT64 Litres;
} LAKE_LEVELS, *PLAKE_LEVELS;

typedef struct _LAKE {
    LIST_ENTRY Link;
    PPCW_INSTANCE Instance;
    LAKE_LEVELS Levels;
    WCHAR Name[16];
} LAKE, *PLAKE;

// May be called at any level; readers see the new number at once.
static FORCEINLINE VOID LakeFill(_Inout_ PLAKE Lake, _In_ UINT64 Litres)
{
    WriteUInt64NoFence(&Lake->Levels.Litres, ReadUInt64NoFence(&Lake->Levels.Litres) + Litres);
}

_Must_inspect_result_
_IRQL_requires_max_(APC_LEVEL)
NTSTATUS LakeOpen(_Out_ PLAKE Lake, _In_z_ PCWSTR Name, _In_ ULONG Depth);

_IRQL_requires_max_(APC_LEVEL)
VOID LakeClose(_Inout_ __drv_freesMem(Mem) PLAKE Lake);
