// SPDX-License-Identifier: Apache-2.0
//
// Instances that any thread may count, of sets with MB_SET_SHARDED. No lock, and no line of memory
// that two threads write: each thread or processor has a block of its own, and readers join them.
//
//   mb_sharded_add(&venue, VENUE_ACCEPTED, 1);                 one counter
//   mb_sharded_record(&venue, VENUE_LATENCY, seconds);         one value of a distribution
//
//   const mb_sharded_change changes[] = {                      several, one commit
//       {VENUE_ACCEPTED, MB_SHARDED_ADD, 1, 0},
//       {VENUE_LATENCY, MB_SHARDED_RECORD, 0, seconds},
//   };
//   mb_sharded_update(&venue, changes, 2);
//
// The objects are small structs that may be copied, and whose members are private. One that is all
// zero counts into nothing. These functions are in the library, not inline: what they do is code of
// C++ that has to know the calling thread.
//
// Thread safety  Any thread and any signal handler may count.
// Errors         None. A position that the schema does not have, and one of a counter of another
//                form, is ignored. Pointers must not be NULL.
// Progress       Wait-free where the thread or processor has a block, else lock-free. Nothing
//                blocks or allocates; the first count of a thread asks the C library to report the
//                end of the thread.
// Cost           A call, and one addition (independent sets) or one commit. bench/README.md has the
//                figures.
// Lifetime       A struct may be used until mb_sharded_free() is called, also after the instance,
//                its set and its provider were closed, and in the child of a fork.
// Units          Those of the counter.
#ifndef METERBANK_C_SHARDED_H
#define METERBANK_C_SHARDED_H

#include <stddef.h>
#include <stdint.h>

#include "meterbank/c/publisher.h"

#ifdef __cplusplus
extern "C" {
#endif

// The right to count one sharded instance.
typedef struct mb_sharded {
  void* counting;
  uint64_t number;
} mb_sharded;

typedef enum mb_sharded_change_kind {
  MB_SHARDED_ADD = 0,
  MB_SHARDED_RAISE = 1,  // to at least `amount`; counters with MB_AGGREGATE_MAXIMUM
  MB_SHARDED_LOWER = 2,  // to at most `amount`; counters with MB_AGGREGATE_MINIMUM
  MB_SHARDED_RECORD = 3  // `value`, in a distribution
} mb_sharded_change_kind;

typedef struct mb_sharded_change {
  uint32_t counter;
  uint32_t kind;  // mb_sharded_change_kind; other numbers are ignored
  uint64_t amount;
  double value;
} mb_sharded_change;

// As mb_set_create_instance() and those beside it, for sharded sets. Errors: also
// MB_INVALID_ARGUMENT, if the set is not sharded.
MB_API mb_status mb_set_create_sharded(mb_set* set, const char* name,
                                       const mb_instance_options* options, mb_sharded* instance,
                                       mb_error* error);
MB_API mb_status mb_set_find_sharded(mb_set* set, const char* name, mb_sharded* instance,
                                     mb_error* error);
MB_API void mb_sharded_close(const mb_sharded* instance);
MB_API void mb_sharded_free(mb_sharded* instance);
MB_API uint32_t mb_sharded_id(const mb_sharded* instance);

MB_API void mb_sharded_add(const mb_sharded* instance, uint32_t counter, uint64_t delta);
MB_API void mb_sharded_raise(const mb_sharded* instance, uint32_t counter, uint64_t value);
MB_API void mb_sharded_lower(const mb_sharded* instance, uint32_t counter, uint64_t value);
MB_API void mb_sharded_record(const mb_sharded* instance, uint32_t counter, double value);

// All changes in one commit: readers of a block set see all of them or none, except where the
// thread has to share a block. meterbank/publisher/sharded.hpp says when that is.
MB_API void mb_sharded_update(const mb_sharded* instance, const mb_sharded_change* changes,
                              size_t count);

#ifdef __cplusplus
}
#endif

#endif
