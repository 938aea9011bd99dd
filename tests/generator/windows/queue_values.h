// SPDX-License-Identifier: Apache-2.0
//
// What a driver keeps of a queue, with the names that its manifest says.
#pragma once

#include <wdm.h>

typedef struct QUEUE_COUNTERS {
  ULONG64 Packets;
  ULONG Length;
} QUEUE_COUNTERS;
