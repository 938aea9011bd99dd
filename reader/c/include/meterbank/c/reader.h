// SPDX-License-Identifier: Apache-2.0
//
// Reading counters from C: catalog -> query -> sample -> rows and values.
//
//   mb_query_collect(query, older, MB_CUT_NONE, NULL, NULL);
//   ...
//   mb_query_collect(query, newer, MB_CUT_NONE, NULL, NULL);
//   mb_cursor_start(cursor, newer, older, NULL);
//   while (mb_cursor_next_row(cursor, &row, NULL) == MB_OK) {
//     while (mb_cursor_next_value(cursor, &value, NULL) == MB_OK) {
//       if (mb_has_value(value.status)) printf("%s = %g\n", value.symbol, value.cooked);
//     }
//   }
//
// The rules for handles, structs, text and errors are in base.h. Structs that a function fills
// begin with their size as well; the function fills what the caller's version of the struct has.
//
// Thread safety  All functions may be called concurrently. Each object has a mutex: two calls about
//                one query or sample take turns, also if one of them waits for providers.
// Errors         MB_BAD_HANDLE, MB_FORKED, MB_INVALID_ARGUMENT and MB_NO_SPACE can come from every
//                function that returns a status.
// Progress       mb_query_collect() copies a bounded number of bytes whatever providers wrote, and
//                makes no system call unless another thread uses the query or the sample.
// Cost           Collecting, iterating and mb_sample_values() allocate nothing once samples and
//                cursor have their size, but for totals of distributions of unequal shapes.
// Lifetime       Text and numbers that a filled struct points to are valid until the object is used
//                again in the way that its function names, or is closed. Queries, samples and
//                cursors may be closed in any order.
// Units          Times are nanoseconds, sizes are bytes. mb_value.unit is a UCUM code.
#ifndef METERBANK_C_READER_H
#define METERBANK_C_READER_H

#include "meterbank/c/base.h"
#include "meterbank/c/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mb_catalog mb_catalog;  // what providers show now, or in a recording (recording.h)
typedef struct mb_query mb_query;
typedef struct mb_sample mb_sample;
typedef struct mb_cursor mb_cursor;

// ---- Catalog: the providers of this machine -----------------------------------------------------

// A choice of users, by the kernel's word about who owns a provider's memory.
typedef enum mb_users {
  MB_USERS_OWN = 0,
  MB_USERS_OWN_AND_ROOT = 1,
  MB_USERS_EVERYONE = 2
} mb_users;

typedef struct mb_catalog_options {
  uint32_t size;
  uint32_t users;         // mb_users: whose providers are read
  uint32_t trust;         // mb_users: whose rows are in totals
  uint32_t reserved;      // 0
  const char* directory;  // NULL: METERBANK_DIR, else the usual directories
} mb_catalog_options;
#define MB_CATALOG_OPTIONS_INIT \
  { sizeof(mb_catalog_options), MB_USERS_EVERYONE, MB_USERS_OWN_AND_ROOT, 0, NULL }

typedef struct mb_catalog_summary {
  uint32_t size;
  uint32_t is_stale;   // mb_catalog_refresh() would find a change; new providers are not noticed
  uint64_t version;    // grows with every refresh that changed anything
  uint64_t providers;  // as many as mb_catalog_provider() lists
  uint64_t left_out;   // records and directories that were not read; may hide providers
} mb_catalog_summary;
#define MB_CATALOG_SUMMARY_INIT \
  { sizeof(mb_catalog_summary), 0, 0, 0, 0 }

// Why something in the directories is not among the providers.
typedef struct mb_left_out {
  uint32_t size;
  uint32_t uid;              // its owner; 0xffffffff: of users beyond the first ones
  uint32_t hides_providers;  // healthy providers may be among it
  uint32_t reserved;
  uint64_t count;
  const char* reason;  // "records that cannot be opened"; constant
} mb_left_out;
#define MB_LEFT_OUT_INIT \
  { sizeof(mb_left_out), 0, 0, 0, 0, NULL }

typedef enum mb_provider_state {
  MB_PROVIDER_LIVE = 0,
  MB_PROVIDER_HUNG = 1,        // alive, but missed heartbeats
  MB_PROVIDER_DEAD = 2,        // the process is gone; its last values stay readable
  MB_PROVIDER_CLOSED = 3,      // ended in order
  MB_PROVIDER_UNREADABLE = 4,  // see why
  MB_PROVIDER_FOREIGN = 5      // cannot be verified from here, see why
} mb_provider_state;

// The texts are valid until the catalog is refreshed.
typedef struct mb_listed_provider {
  uint32_t size;
  uint32_t state;       // mb_provider_state
  uint32_t pid;         // as this process sees it if that is known, else as the provider does
  uint32_t uid;         // from the kernel
  uint32_t is_trusted;  // mb_catalog_options.trust includes the uid
  uint32_t sets;        // countersets
  uint64_t bytes;       // of its memory that is mapped
  const char* name;     // "orders"
  const char* label;    // "orders@48213"
  const char* why;      // why it cannot be read or verified; else empty
  const char* remedy;   // what to try; may be empty
} mb_listed_provider;
#define MB_LISTED_PROVIDER_INIT \
  { sizeof(mb_listed_provider), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

// Looks for providers. That none is there is not an error.
// Errors: MB_NO_DIRECTORY, if a directory was named and is missing or not safe.
MB_API mb_status mb_catalog_open(const mb_catalog_options* options, mb_catalog** catalog,
                                 mb_error* error);
MB_API void mb_catalog_close(mb_catalog* catalog);
// Looks for new providers, reads again what changed, and notices deaths. Makes system calls.
MB_API mb_status mb_catalog_refresh(mb_catalog* catalog, mb_error* error);
MB_API mb_status mb_catalog_summarize(mb_catalog* catalog, mb_catalog_summary* summary,
                                      mb_error* error);
// Errors: MB_NOT_FOUND behind the last provider.
MB_API mb_status mb_catalog_provider(mb_catalog* catalog, size_t index,
                                     mb_listed_provider* provider, mb_error* error);
// Errors: MB_NOT_FOUND behind the last reason.
MB_API mb_status mb_catalog_left_out(mb_catalog* catalog, size_t index, mb_left_out* left_out,
                                     mb_error* error);
MB_API const char* mb_provider_state_text(uint32_t state);

// ---- Query: what to copy ------------------------------------------------------------------------

// What the rows of one collection shall have in common.
typedef enum mb_cut {
  MB_CUT_NONE = 0,  // each row is whole, and of a moment of its own
  MB_CUT_TRY = 1,   // all rows of one moment, if no writer comes in between, three times
  MB_CUT_EPOCH = 2  // as of one moment a little ago, whatever writers do; else as MB_CUT_TRY
} mb_cut;

// How much of what a query selects was sampled at the moment that a recording shows: it may sample
// sets at different rates, and between two moments the others are as they were.
typedef enum mb_coverage {
  MB_COVERAGE_ALL = 0,  // live, always
  MB_COVERAGE_SOME = 1,
  MB_COVERAGE_NONE = 2
} mb_coverage;

typedef struct mb_collected {
  uint32_t size;
  uint32_t is_stale;  // mb_catalog_refresh() and mb_query_update() would see more
  uint64_t rows;
  uint64_t not_fresh;     // rows with any status but MB_ROW_FRESH
  uint64_t unanswered;    // sets whose provider was asked and gave no rows
  uint64_t monotonic_ns;  // CLOCK_MONOTONIC
  uint64_t realtime_ns;   // since 1970-01-01 UTC
  uint32_t cut;           // mb_row_cut, of all rows together
  uint32_t coverage;      // mb_coverage
} mb_collected;
#define MB_COLLECTED_INIT \
  { sizeof(mb_collected), 0, 0, 0, 0, 0, 0, 0, 0 }

// A path that selects nothing. The texts are valid until the query is updated.
typedef struct mb_unmatched {
  uint32_t size;
  uint32_t reserved;
  const char* path;
  const char* part;        // "counterset", "instance", "counter" or "provider"
  const char* suggestion;  // the nearest name that exists; may be empty
} mb_unmatched;
#define MB_UNMATCHED_INIT \
  { sizeof(mb_unmatched), 0, NULL, NULL, NULL }

// Paths are counter paths in either spelling, with globs in every part; no paths select everything
// that is shown by default. A path that matches nothing is kept, listed by mb_query_unmatched(),
// and matched again by mb_query_update(). `excluded` are globs over set/instance/counter and
// set/counter. A list may be NULL if its count is 0.
// Errors: MB_BAD_PATH.
MB_API mb_status mb_query_compile(mb_catalog* catalog, const char* const* paths, size_t path_count,
                                  const char* const* excluded, size_t excluded_count,
                                  mb_query** query, mb_error* error);
MB_API void mb_query_close(mb_query* query);
// Adapts to a catalog that was refreshed, or that is a recording and shows another moment.
// `changed`, which may be NULL, becomes 1 if the query now selects other rows or counters, else 0.
MB_API mb_status mb_query_update(mb_query* query, mb_catalog* catalog, int* changed,
                                 mb_error* error);
// Errors: MB_NOT_FOUND behind the last.
MB_API mb_status mb_query_unmatched(mb_query* query, size_t index, mb_unmatched* unmatched,
                                    mb_error* error);
// Copies the values. Rows that providers compute on demand are those of the last
// mb_query_ask(). `collected` may be NULL, here and below.
MB_API mb_status mb_query_collect(mb_query* query, mb_sample* sample, mb_cut cut,
                                  mb_collected* collected, mb_error* error);
// Asks all providers of such rows at once, waits until each has answered or the timeout has
// expired, and collects. A provider that does not answer costs its own rows only:
// mb_sample_answer() has the reason.
MB_API mb_status mb_query_ask(mb_query* query, mb_sample* sample, uint64_t timeout_ns, mb_cut cut,
                              mb_collected* collected, mb_error* error);

// ---- Sample: what was copied --------------------------------------------------------------------

MB_API mb_status mb_sample_create(mb_sample** sample, mb_error* error);
MB_API void mb_sample_close(mb_sample* sample);

// What came of asking for the rows of one set. The texts are valid until the next call of
// mb_sample_answer() for the sample, or until it is collected again.
typedef struct mb_answer {
  uint32_t size;
  uint32_t has_rows;  // the rows are as new as the answer
  uint64_t rows;
  const char* provider;  // "orders@48213"
  const char* set;
  const char* reason;  // "no answer within 1 s"
} mb_answer;
#define MB_ANSWER_INIT \
  { sizeof(mb_answer), 0, 0, NULL, NULL, NULL }
// Errors: MB_NOT_FOUND behind the last.
MB_API mb_status mb_sample_answer(mb_sample* sample, size_t index, mb_answer* answer,
                                  mb_error* error);

// All values of a sample at once, in the order in which a cursor gives them: value by value, row by
// row. The caller sets size, the buffers that it wants, and their capacity.
typedef struct mb_values {
  uint32_t size;
  uint32_t reserved;
  double* cooked;   // NaN where there is no value; NULL: not wanted
  uint64_t* raw;    // NULL: not wanted
  uint8_t* status;  // mb_value_status; NULL: not wanted
  size_t capacity;  // elements of each buffer
  size_t count;     // filled in: values of the sample
  // Filled in: samples with equal numbers have the same values in the same order, so the
  // names that a cursor gave for one hold for the other. In this process only.
  uint64_t layout;
} mb_values;
#define MB_VALUES_INIT \
  { sizeof(mb_values), 0, NULL, NULL, NULL, 0, 0, 0 }
// `older` may be NULL: then rates have no value. Values that do not fit are counted and not stored:
// compare count with capacity.
MB_API mb_status mb_sample_values(mb_sample* newer, mb_sample* older, mb_values* values,
                                  mb_error* error);

// ---- Cursor: rows and their values --------------------------------------------------------------

typedef enum mb_row_status {
  MB_ROW_FRESH = 0,       // the current version
  MB_ROW_CHECKPOINT = 1,  // an older consistent version
  MB_ROW_BUSY = 2,        // nothing could be copied within the bound
  MB_ROW_GONE = 3,        // the instance is closed; refresh finds out more
  MB_ROW_CLOSED = 4,      // final values of a closed instance
  MB_ROW_DEAD = 5,        // last values of a provider that is gone
  MB_ROW_TIMEOUT = 6,     // the provider gave no answer in time
  MB_ROW_OVERLOADED = 7,  // the provider was asked by too many readers
  MB_ROW_UNANSWERED = 8   // mb_sample_answer() has the reason
} mb_row_status;
MB_API const char* mb_row_status_text(uint32_t status);

typedef enum mb_row_consistency {
  MB_CONSISTENCY_BLOCK = 0,        // all values of the row are of one moment
  MB_CONSISTENCY_INDEPENDENT = 1,  // each is exact by itself
  MB_CONSISTENCY_SHARDS = 2,       // each change is in the row wholly or not at all
  MB_CONSISTENCY_SHARED = 3        // of a sharded set, but each is exact by itself
} mb_row_consistency;

typedef enum mb_row_cut {
  MB_ROW_CUT_PER_BLOCK = 0,  // each row for itself
  MB_ROW_CUT_CUT = 1,        // what a row shows, everything that led to it shows
  MB_ROW_CUT_EXACT = 2       // all were so at one moment
} mb_row_cut;

// One instance, or the total of several. The texts are valid until the cursor goes to another row.
typedef struct mb_row {
  uint32_t size;
  uint32_t status;       // mb_row_status
  uint32_t consistency;  // mb_row_consistency
  uint32_t cut;          // mb_row_cut
  uint64_t time_ns;      // CLOCK_MONOTONIC: when the values were stored, or else collected
  uint64_t skew_ns;      // MB_ROW_CUT_PER_BLOCK: the first load was at most so long before the last
  uint32_t instance_id;  // with `instance`, what the row is: paths have it where names repeat
  uint32_t is_total;     // made by the reader; provider and set are those of its first share
  uint32_t pid;          // that of the provider, as in mb_listed_provider
  uint32_t uid;
  uint32_t is_trusted;
  uint32_t needs_provider;  // it would pass for a row of a trusted provider: show the provider
  const char* provider;     // "orders"
  const char* set;          // "Order Venues"
  const char* set_symbol;   // "venues"
  const char* set_label;    // what one instance is called: "venue"
  const char* instance;     // "eu"; empty where instances have no names
} mb_row;
#define MB_ROW_INIT \
  { sizeof(mb_row), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

typedef enum mb_value_status {
  MB_VALUE_NEW = 0,            // a value that changed since the older sample
  MB_VALUE_UNCHANGED = 1,      // a value that did not change
  MB_VALUE_BELOW_RANGE = 2,    // a quantile that is not greater than the value
  MB_VALUE_ABOVE_RANGE = 3,    // a quantile that is greater than the value
  MB_VALUE_FIRST_SAMPLE = 4,   // needs two samples, and there is one
  MB_VALUE_NO_NEW_SAMPLE = 5,  // the provider stored nothing newer in between
  MB_VALUE_RESET = 6,          // a count went backwards, or the instance was created anew
  MB_VALUE_NEGATIVE_BASE = 7,  // the base went backwards
  MB_VALUE_NEGATIVE_TIME = 8,  // time went backwards or stood still
  MB_VALUE_ZERO_BASE = 9,      // the base did not move or is zero
  MB_VALUE_TYPE_CHANGED = 10,  // the two samples disagree about the type
  MB_VALUE_NOT_COOKABLE = 11,  // a base, a type without a formula, or inconsistent words
  MB_VALUE_NOT_FINITE = 12,    // a real number that is NaN or infinite
  MB_VALUE_NO_VALUE = 13       // the row holds nothing: see its status
} mb_value_status;
MB_API const char* mb_value_status_text(uint32_t status);
static inline int mb_has_value(uint32_t status) { return status <= MB_VALUE_ABOVE_RANGE; }

// One counter of one row. The texts are valid until the cursor goes on.
typedef struct mb_value {
  uint32_t size;
  uint32_t status;  // mb_value_status
  uint32_t type;    // mb_counter_type
  uint32_t form;    // mb_value_form; the raw value and the cooked one of a distribution: its count
  double cooked;    // 0 if the status says that there is no value
  uint64_t raw;
  uint64_t base;    // of a share or an average
  uint64_t set_ns;  // when a timed value was set, CLOCK_MONOTONIC_COARSE; 0: never
  uint32_t id;
  int32_t scale;       // show the value times 10 to this power
  const char* name;    // "Accepted/sec"
  const char* symbol;  // "accepted"
  const char* unit;
  const char* help;
  const char* text;  // of a text, followed by NUL; else NULL
  size_t text_length;
} mb_value;
#define MB_VALUE_INIT \
  { sizeof(mb_value), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0 }

typedef enum mb_path_spelling {
  MB_PATH_WINDOWS = 0,  // "\Order Venues(eu)\Accepted/sec"
  MB_PATH_SHORT = 1     // "venues/eu/accepted"
} mb_path_spelling;

// What was recorded between the two samples, or since the beginning where there is no older one.
// Bucket i holds values v with base^(first + i) < v <= base^(first + i + 1), base = 2^(2^-scale).
typedef struct mb_distribution {
  uint32_t size;
  int32_t scale;
  int32_t first;
  uint32_t bucket_count;
  const uint64_t* buckets;  // valid until the cursor goes on
  uint64_t count;
  uint64_t below;    // values up to the lower end of the first bucket
  uint64_t above;    // values beyond the upper end of the last
  uint64_t refused;  // NaN; not in the count
  double sum;
  double least;  // NaN: not known
  double most;
} mb_distribution;
#define MB_DISTRIBUTION_INIT \
  { sizeof(mb_distribution), 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0 }

MB_API mb_status mb_cursor_create(mb_cursor** cursor, mb_error* error);
MB_API void mb_cursor_close(mb_cursor* cursor);
// Before the first row of `newer`, with the values between the two samples. `older` may be NULL. A
// cursor can be started as often as wanted, and keeps its memory. Collecting into one of the two
// samples ends the iteration: the calls below then return MB_CLOSED.
MB_API mb_status mb_cursor_start(mb_cursor* cursor, mb_sample* newer, mb_sample* older,
                                 mb_error* error);
// To the next row, and before its first value. `row` may be NULL.
// Errors: MB_NOT_FOUND behind the last row, MB_CLOSED.
MB_API mb_status mb_cursor_next_row(mb_cursor* cursor, mb_row* row, mb_error* error);
// To the next value of the row. `value` may be NULL.
// Errors: MB_NOT_FOUND behind the last value and where the cursor is at no row, MB_CLOSED.
MB_API mb_status mb_cursor_next_value(mb_cursor* cursor, mb_value* value, mb_error* error);
// These are about the value that the cursor is at; MB_NOT_FOUND: it is at none.
// The path of the value, with the provider only where that is needed. Allocates. The text is valid
// until the next call of mb_cursor_path(), or until the cursor goes on.
MB_API mb_status mb_cursor_path(mb_cursor* cursor, mb_path_spelling spelling, const char** path,
                                mb_error* error);
// Errors: MB_NOT_FOUND, if the value has no distribution.
MB_API mb_status mb_cursor_distribution(mb_cursor* cursor, mb_distribution* distribution,
                                        mb_error* error);
// The value that a share, 0 to 1, of the recorded ones does not exceed. `status`, which may be
// NULL, becomes MB_VALUE_NEW, MB_VALUE_BELOW_RANGE, MB_VALUE_ABOVE_RANGE, or MB_VALUE_NO_VALUE if
// nothing was recorded; `value` is NaN then. Errors: MB_NOT_FOUND, if the value has no
// distribution.
MB_API mb_status mb_cursor_quantile(mb_cursor* cursor, double share, double* value,
                                    uint32_t* status, mb_error* error);

#ifdef __cplusplus
}
#endif

#endif
