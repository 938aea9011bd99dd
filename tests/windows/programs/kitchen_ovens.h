// SPDX-License-Identifier: Apache-2.0
#pragma once

PPERF_COUNTERSET_INSTANCE OpenOven(_In_ PCWSTR Name, _In_ ULONG Id);
_Success_(return != FALSE) BOOL
    HeatOven(_Inout_ PPERF_COUNTERSET_INSTANCE Oven, _In_ ULONG Degrees);
