// SPDX-License-Identifier: Apache-2.0
//
// Counting and exchanging from any thread, and loads and stores that say their order. Targets may
// be volatile, as they often are.
#pragma once

#include "basetsd.h"
#include "meterbank/windows/keywords.h"

// seq_cst, all: on Windows each of them is a full barrier, and programs rely on it.
#define InterlockedIncrement(target) __atomic_add_fetch((target), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrement(target) __atomic_sub_fetch((target), 1, __ATOMIC_SEQ_CST)
#define InterlockedAdd(target, value) __atomic_add_fetch((target), (value), __ATOMIC_SEQ_CST)
#define InterlockedExchange(target, value) __atomic_exchange_n((target), (value), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAdd(target, value) \
  __atomic_fetch_add((target), (value), __ATOMIC_SEQ_CST)
#define InterlockedAnd(target, value) __atomic_fetch_and((target), (value), __ATOMIC_SEQ_CST)
#define InterlockedOr(target, value) __atomic_fetch_or((target), (value), __ATOMIC_SEQ_CST)
#define InterlockedXor(target, value) __atomic_fetch_xor((target), (value), __ATOMIC_SEQ_CST)
// The value that was there.
#define InterlockedCompareExchange(target, value, expected) \
  __sync_val_compare_and_swap((target), (expected), (value))
#define InterlockedIncrement64 InterlockedIncrement
#define InterlockedDecrement64 InterlockedDecrement
#define InterlockedAdd64 InterlockedAdd
#define InterlockedExchange64 InterlockedExchange
#define InterlockedExchangeAdd64 InterlockedExchangeAdd
#define InterlockedAnd64 InterlockedAnd
#define InterlockedOr64 InterlockedOr
#define InterlockedXor64 InterlockedXor
#define InterlockedCompareExchange64 InterlockedCompareExchange
#define InterlockedExchangePointer InterlockedExchange
#define InterlockedCompareExchangePointer InterlockedCompareExchange
#define MemoryBarrier() __sync_synchronize()

// ReadUInt64NoFence, WriteUInt64Release and their like, of one type. Raw promises nothing on
// Windows, not even that the access is one; here it is the same as NoFence.
//
// relaxed: that is what NoFence asks for. acquire and release: what the caller pairs them with is
// the caller's to say.
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot stand in parentheses
#define METERBANK_ORDERED_ACCESS(type_name, width, type)                                          \
  EXTERN_C FORCEINLINE type Read##type_name##NoFence##width(type const volatile* source) {        \
    return __atomic_load_n(source, __ATOMIC_RELAXED);                                             \
  }                                                                                               \
  EXTERN_C FORCEINLINE type Read##type_name##Raw##width(type const volatile* source) {            \
    return __atomic_load_n(source, __ATOMIC_RELAXED);                                             \
  }                                                                                               \
  EXTERN_C FORCEINLINE type Read##type_name##Acquire##width(type const volatile* source) {        \
    return __atomic_load_n(source, __ATOMIC_ACQUIRE);                                             \
  }                                                                                               \
  EXTERN_C FORCEINLINE void Write##type_name##NoFence##width(type volatile* target, type value) { \
    __atomic_store_n(target, value, __ATOMIC_RELAXED);                                            \
  }                                                                                               \
  EXTERN_C FORCEINLINE void Write##type_name##Raw##width(type volatile* target, type value) {     \
    __atomic_store_n(target, value, __ATOMIC_RELAXED);                                            \
  }                                                                                               \
  EXTERN_C FORCEINLINE void Write##type_name##Release##width(type volatile* target, type value) { \
    __atomic_store_n(target, value, __ATOMIC_RELEASE);                                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

METERBANK_ORDERED_ACCESS(, 8, char)
METERBANK_ORDERED_ACCESS(, 16, short)
METERBANK_ORDERED_ACCESS(, , int)
METERBANK_ORDERED_ACCESS(, 64, LONG64)
METERBANK_ORDERED_ACCESS(Char, , char)
METERBANK_ORDERED_ACCESS(Short, , short)
METERBANK_ORDERED_ACCESS(Long, , int)
METERBANK_ORDERED_ACCESS(Long64, , LONG64)
METERBANK_ORDERED_ACCESS(UChar, , unsigned char)
METERBANK_ORDERED_ACCESS(UShort, , unsigned short)
METERBANK_ORDERED_ACCESS(ULong, , unsigned int)
METERBANK_ORDERED_ACCESS(ULong64, , ULONG64)
METERBANK_ORDERED_ACCESS(Boolean, , unsigned char)
METERBANK_ORDERED_ACCESS(Int8, , INT8)
METERBANK_ORDERED_ACCESS(Int16, , INT16)
METERBANK_ORDERED_ACCESS(Int32, , INT32)
METERBANK_ORDERED_ACCESS(Int64, , INT64)
METERBANK_ORDERED_ACCESS(UInt8, , UINT8)
METERBANK_ORDERED_ACCESS(UInt16, , UINT16)
METERBANK_ORDERED_ACCESS(UInt32, , UINT32)
METERBANK_ORDERED_ACCESS(UInt64, , UINT64)
METERBANK_ORDERED_ACCESS(LongPtr, , LONG_PTR)
METERBANK_ORDERED_ACCESS(ULongPtr, , ULONG_PTR)

typedef void* METERBANK_POINTER;
METERBANK_ORDERED_ACCESS(Pointer, , METERBANK_POINTER)
