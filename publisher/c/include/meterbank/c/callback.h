// SPDX-License-Identifier: Apache-2.0
//
// Countersets whose rows are computed when a reader asks for them.
//
//   static uint32_t answer(mb_request *request, void *context) {
//     const struct pools *pools = context;
//     for (size_t i = 0; i < pools->count; ++i) {
//       const uint64_t values[] = {pools->at[i].used, pools->at[i].size};
//       mb_request_add(request, pools->at[i].name, pools->at[i].id, values, 2);
//     }
//     return 0;
//   }
//
//   mb_provider_add_callback(provider, &spec, answer, &pools, NULL, &set, &error);
//
// Instances that were created and rows that a callback added appear together.
//
// Thread safety  The callback runs on threads of the library, several at a time unless
//                MB_CALLBACK_SERIAL is set. A request belongs to the thread of its call. An
//                interest may be used by any thread. A callback may call all functions of this
//                library.
// Errors         A callback returns 0 or a code of its own, which readers are shown. Rows that were
//                added before are delivered all the same. To PerfLib's consumers a code for
//                MB_REQUEST_ADD_INTEREST refuses the counters. A callback must return: it must
//                not be left by longjmp or by an exception.
// Progress       A callback may take its time: readers wait until their deadline, other providers
//                do not.
// Cost           mb_interest_wanted(): a call and one load.
// Lifetime       A request is valid during its call; the context, until mb_set_close() has
//                returned outside of a callback. An interest is valid until the process ends.
// Units          Values are words of the schema's counters. Deadlines are CLOCK_MONOTONIC
//                nanoseconds.
#ifndef METERBANK_C_CALLBACK_H
#define METERBANK_C_CALLBACK_H

#include <stddef.h>
#include <stdint.h>

#include "meterbank/c/publisher.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mb_request mb_request;    // one question of a reader
typedef struct mb_interest mb_interest;  // whether any reader is interested in a set

typedef uint32_t (*mb_callback)(mb_request* request, void* context);

#define MB_CALLBACK_SERIAL 1U  // one call at a time, for callbacks that are not thread-safe

typedef struct mb_callback_options {
  uint32_t size;
  uint32_t flags;  // MB_CALLBACK_...
} mb_callback_options;

#define MB_CALLBACK_OPTIONS_INIT \
  { sizeof(mb_callback_options), 0 }

// As mb_provider_add(). `callback` may be NULL: then the rows are the created instances, but the
// set still knows who is interested. `options` may be NULL. Errors: also MB_DENIED,
// MB_NO_DIRECTORY and MB_SYSTEM, of the socket and threads that answer.
MB_API mb_status mb_provider_add_callback(mb_provider* provider, const mb_counterset_spec* spec,
                                          mb_callback callback, void* context,
                                          const mb_callback_options* options, mb_set** set,
                                          mb_error* error);

// ---- Requests -----------------------------------------------------------------------------------

typedef enum mb_request_reason {
  MB_REQUEST_ADD_INTEREST = 0,     // a reader began to collect the set
  MB_REQUEST_REMOVE_INTEREST = 1,  // the same reader ended; these two balance
  MB_REQUEST_ENUMERATE = 2,        // wants names and ids of rows; values are not looked at
  MB_REQUEST_COLLECT = 3           // wants rows with values
} mb_request_reason;

// What became of a row.
typedef enum mb_row_added {
  MB_ROW_ADDED = 0,
  MB_ROW_DROPPED = 1,    // a row beyond the first, where the first is enough
  MB_ROW_NO_VALUES = 2,  // a row to collect has a value for each counter, in schema order
  MB_ROW_BAD_NAME = 3,   // not UTF-8, too long, empty where instances have names, or else not empty
  MB_ROW_RESERVED_ID = 4,  // 0xfffffffe and 0xffffffff
  MB_ROW_NO_MEMORY = 5,    // also: more rows than an answer can hold
  MB_ROW_WRONG_REASON = 6  // a request about interest has no rows
} mb_row_added;

MB_API mb_request_reason mb_request_why(const mb_request* request);
// What is wanted. Heeding it saves work and nothing else: the reader filters what it gets.
MB_API int mb_request_wants(const mb_request* request, uint32_t counter_id);
MB_API uint32_t mb_request_instance_id(const mb_request* request);  // 0xffffffff: any
// A pattern with `*` and `?`, without NUL at its end. `bytes` may be NULL.
MB_API const char* mb_request_instance_mask(const mb_request* request, size_t* bytes);
// 0: the first row is enough, others are dropped.
MB_API int mb_request_collects_many(const mb_request* request);
// Not 0 once no reader waits for the answer any more.
MB_API int mb_request_is_cancelled(const mb_request* request);
MB_API uint64_t mb_request_deadline_ns(const mb_request* request);
// Copies the name and the values. No values are needed for MB_REQUEST_ENUMERATE.
MB_API mb_row_added mb_request_add(mb_request* request, const char* name, uint32_t id,
                                   const uint64_t* values, size_t count);

// ---- Interest -----------------------------------------------------------------------------------

// Only sets that were added with mb_provider_add_callback() count it; in others no reader is ever
// interested. NULL gives NULL.
MB_API mb_status mb_set_interest(mb_set* set, const mb_interest** interest, mb_error* error);
// Both are 0 or 1, and 0 for NULL.
MB_API int mb_interest_wanted(const mb_interest* interest);
MB_API int mb_interest_wants_counter(const mb_interest* interest, uint32_t counter);

#ifdef __cplusplus
}
#endif

#endif
