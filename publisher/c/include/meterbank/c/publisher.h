// SPDX-License-Identifier: Apache-2.0
//
// A provider publishes this process's countersets. Set-up can fail and says why; counting, which
// counting.h and values.h have, cannot.
//
//   enum { VENUE_ACCEPTED, VENUE_BYTES };
//   static const mb_counter_spec venue_counters[] = {
//       {.id = 1, .name = "Accepted/sec", .symbol = "accepted", .type = MB_TYPE_BULK_COUNT},
//       {.id = 2, .name = "Bytes/sec", .symbol = "bytes", .type = MB_TYPE_BULK_COUNT},
//   };
//   static const mb_counterset_spec venues = {
//       .size = sizeof(mb_counterset_spec), .counter_size = sizeof(mb_counter_spec),
//       .name = "Venues", .symbol = "venues", .instances = MB_INSTANCES_MULTIPLE,
//       .counters = venue_counters, .counters_count = 2,
//   };
//
//   mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
//   options.name = "orders";
//   mb_provider *provider = mb_provider_create_or_disabled(&options);
//   mb_set *set;
//   mb_instance venue;
//   if (mb_provider_add(provider, &venues, &set, NULL) == MB_OK &&
//       mb_set_create_instance(set, "eu", NULL, &venue, NULL) == MB_OK) {
//     mb_instance_add(&venue, VENUE_ACCEPTED, 1);
//   }
//
// NULL is a provider, a disabled one: monitoring that cannot start must not stop a service. A set
// of a disabled provider is NULL, too, and its instances count into nothing. All of that is MB_OK.
//
// What a function makes is set to NULL or zero if the function fails, so it can be used all the
// same: it then counts into nothing.
//
// Thread safety  All functions may be called concurrently, also on the same handle.
// Errors         mb_status, and an mb_error with a sentence and a remedy; the functions name their
//                codes. All of them may return MB_BAD_HANDLE, MB_INVALID_ARGUMENT where a pointer
//                is NULL, MB_NO_SPACE for lack of memory and MB_FORKED in the child of a fork. A
//                remedy names options as C++ does: ProviderOptions::bytes_max is the member
//                bytes_max of mb_provider_options.
// Progress       Private mutexes, and the kernel. mb_set_close() waits for callbacks that run.
// Cost           A provider: one memfd, one record, one thread unless `heartbeat_ms` is zero. An
//                instance takes no system call but for growth.
// Lifetime       Handles may be closed in any order. Instances that are not freed may outlive their
//                set and provider; they then count into nothing. Specifications and text are
//                copied.
// Units          Sizes are bytes; the name of a time says its unit.
#ifndef METERBANK_C_PUBLISHING_H
#define METERBANK_C_PUBLISHING_H

#include <stddef.h>
#include <stdint.h>

#include "meterbank/c/base.h"
#include "meterbank/c/counting.h"
#include "meterbank/c/schema.h"
#include "meterbank/c/values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mb_provider mb_provider;  // all that this process publishes under one name
typedef struct mb_set mb_set;            // one live declaration of a counterset

// ---- Providers ----------------------------------------------------------------------------------

typedef struct mb_provider_options {
  uint32_t size;
  uint32_t heartbeat_ms;       // how often the keeper thread says "alive"; 0: no thread
  const char* name;            // shown to readers, at most 63 bytes
  const char* directory;       // NULL: METERBANK_DIR or the default of this user
  uint64_t bytes_max;          // of all memory that the provider publishes
  uint32_t instances_max;      // live at a time, all sets together
  uint32_t registrations_max;  // sets
  uint32_t callbacks_max;      // that run at a time, all sets together
  uint32_t keep_record;        // 1: leaves its record behind at the end, without a system call
  uint64_t quarantine_ms;      // how long the slot of a closed instance keeps its last values
  uint64_t cut_period_us;      // how often the state of sets with cuts is marked
  // Who may read besides root and this user: "owner", "group:NAME", "group:GID" or "everyone".
  // NULL: the group of the runtime directory. METERBANK_READERS takes its place.
  const char* readers;
} mb_provider_options;

// meterbank/publisher/provider.hpp says more of each.
#define MB_PROVIDER_OPTIONS_INIT                                                              \
  {                                                                                           \
    sizeof(mb_provider_options), 1000, NULL, NULL, UINT64_C(64) << 20, 16384, 64, 8, 0, 5000, \
        5000, NULL                                                                            \
  }

// Errors: MB_BAD_NAME, MB_NO_DIRECTORY, MB_NO_SPACE, MB_DENIED, MB_SYSTEM; MB_INVALID_ARGUMENT of
// `readers`.
MB_API mb_status mb_provider_create(const mb_provider_options* options, mb_provider** provider,
                                    mb_error* error);

// Never fails. If mb_provider_create() does, the reason goes to stderr and the result is NULL.
MB_API mb_provider* mb_provider_create_or_disabled(const mb_provider_options* options);

// Closes its sets, too, and removes the record unless it is to be kept, when calls on it that are
// in progress have returned. Readers that have the memory keep the last values. Idempotent; NULL is
// ignored. A process that ends without it leaves a record, by which readers see that the provider
// is dead.
MB_API void mb_provider_close(mb_provider* provider);

// The path of the provider's record, empty if it is disabled. Errors: MB_LIMIT, if `bytes` do not
// hold it with its NUL.
MB_API mb_status mb_provider_record(mb_provider* provider, char* path, size_t bytes,
                                    mb_error* error);

// ---- Countersets --------------------------------------------------------------------------------

// The id of another counter of the set, or nothing. MB_LINK(7) is an initialiser for counter 7.
typedef struct mb_link {
  uint32_t is_set;  // 0 or 1
  uint32_t id;
} mb_link;
#define MB_LINK(counter_id) \
  { 1, (counter_id) }

#define MB_COUNTER_TIMED 1U       // keeps when it was set; gauges and texts
#define MB_COUNTER_ANY_THREAD 2U  // for mb_counter_add_from_any_thread(); independent sets

// One counter. Members that are left zero have their usual meaning: none, or the one named here.
typedef struct mb_counter_spec {
  uint32_t id;         // unique in the set
  uint32_t type;       // mb_counter_type
  const char* name;    // "Accepted/sec"; may be NULL for a base counter
  const char* symbol;  // "accepted": short path, JSON field, metric name
  const char* unit;    // UCUM code: "s", "By", "{order}"
  const char* help;
  mb_link base;  // linked counters: the rules of Windows' counter types
  mb_link time;
  mb_link frequency;
  mb_link multi;
  int32_t scale;        // -10..10, for display only
  uint32_t detail;      // 100 or 0: standard; 200: advanced
  uint32_t aggregate;   // mb_aggregate
  uint32_t form;        // mb_value_form
  uint32_t flags;       // MB_COUNTER_...
  uint32_t text_bytes;  // of a text at most, 1..256
  uint64_t attributes;
  // Of a distribution: the values from `bucket_least` to `bucket_most` are told apart, in
  // 2^bucket_scale buckets for each factor of two. A percentile is off by at most 4.3 % at scale 3,
  // 0.54 % at scale 6.
  double bucket_least;  // more than zero
  double bucket_most;
  int32_t bucket_scale;  // -4..8
  uint32_t reserved;     // zero
} mb_counter_spec;

#define MB_SET_INDEPENDENT 1U    // each counter exact by itself: the cheapest increment
#define MB_SET_MANY 2U           // many instances, created and written by one thread
#define MB_SET_NO_CHECKPOINT 4U  // less memory; readers may find a block busy that never rests
#define MB_SET_STAMPED 8U        // keeps when the values were true: mb_update_stamp()
#define MB_SET_CUTS 16U          // readers can have all instances as of one moment; block sets
#define MB_SET_SHARDED 32U       // any thread may write: sharded.h
#define MB_SET_BY_PROCESSOR 64U  // a sharded block set has blocks of processors, where possible
#define MB_SET_NAME_AND_ID \
  128U  // names and ids of instances may repeat; only both together are new

// One set. meterbank/publisher/schema.hpp says more of each member.
typedef struct mb_counterset_spec {
  uint32_t size;          // sizeof(mb_counterset_spec)
  uint32_t counter_size;  // sizeof(mb_counter_spec)
  const char* name;       // "Demo Orders"
  const char* symbol;     // "demo_orders"
  const char* help;
  const char* label;  // what an instance is: "venue"
  mb_guid guid;       // zero: derived from the provider's name and the set's
  mb_guid provider_guid;
  uint32_t instances;  // mb_instances
  uint32_t flags;      // MB_SET_...
  uint32_t shards;     // threads with a block of their own; 0: chosen by the number of processors
  uint32_t counters_count;
  const mb_counter_spec* counters;  // counter i has position i
} mb_counterset_spec;

#define MB_COUNTERSET_SPEC_INIT                                                   \
  {                                                                               \
    sizeof(mb_counterset_spec), sizeof(mb_counter_spec), NULL, NULL, NULL, NULL,  \
        {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}}, {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}}, \
        MB_INSTANCES_MULTIPLE, 0, 0, 0, NULL                                      \
  }

// Errors: MB_INVALID_ARGUMENT and MB_BAD_NAME, with the rule that the specification breaks;
// MB_EXISTS (same GUID or name), MB_LIMIT, MB_NO_SPACE; MB_SYSTEM with MB_SET_CUTS.
MB_API mb_status mb_provider_add(mb_provider* provider, const mb_counterset_spec* spec,
                                 mb_set** set, mb_error* error);

// Closes all of its instances. Idempotent; NULL is ignored. Waits for callbacks of the set that
// run; called from inside one, it closes when they have returned. The same specification may be
// added again.
MB_API void mb_set_close(mb_set* set);

// ---- Instances ----------------------------------------------------------------------------------

typedef struct mb_instance_options {
  uint32_t size;
  mb_link id;  // one that no live instance has; else chosen. With MB_SET_NAME_AND_ID: of its name
} mb_instance_options;

#define MB_INSTANCE_OPTIONS_INIT          \
  {                                       \
    sizeof(mb_instance_options), { 0, 0 } \
  }

// `options` may be NULL. The name is empty where instances have none. Errors: MB_BAD_NAME,
// MB_EXISTS (case does not count), MB_LIMIT, MB_NO_SPACE, MB_CLOSED; MB_INVALID_ARGUMENT of a
// sharded set.
MB_API mb_status mb_set_create_instance(mb_set* set, const char* name,
                                        const mb_instance_options* options, mb_instance* instance,
                                        mb_error* error);

// A live instance, to write to; of several with the name, the one with the smallest id.
// mb_instance_close() of it does nothing: the one that was created
// closes. It is freed apart from that one. Errors: MB_NOT_FOUND.
MB_API mb_status mb_set_find_instance(mb_set* set, const char* name, mb_instance* instance,
                                      mb_error* error);

// Readers see it go; its last values stay readable for a while. The struct, its copies and what was
// made of it stay harmless, and keep the memory of the instance. Idempotent.
MB_API void mb_instance_close(const mb_instance* instance);

// Closes, and gives the memory to other instances. The struct becomes zero. The caller promises
// that no copy and nothing that was made of the instance is used any more. A program that creates
// instances as long as it runs calls it for each; nothing else has to. Idempotent, also by copies.
MB_API void mb_instance_free(mb_instance* instance);

// Unique among the live instances of the set unless that has MB_SET_NAME_AND_ID; 0xffffffff for an
// instance that counts into nothing.
MB_API uint32_t mb_instance_id(const mb_instance* instance);

// What values.h uses, of the counter at position `counter`. It is valid as long as the instance.
// Errors: MB_INVALID_ARGUMENT, if the schema does not have the counter or it has another form.
MB_API mb_status mb_instance_gauge(const mb_instance* instance, uint32_t counter, mb_gauge* gauge,
                                   mb_error* error);
MB_API mb_status mb_instance_recorder(const mb_instance* instance, uint32_t counter,
                                      mb_recorder* recorder, mb_error* error);
MB_API mb_status mb_instance_text(const mb_instance* instance, uint32_t counter, mb_text* text,
                                  mb_error* error);

#ifdef __cplusplus
}
#endif

#endif
