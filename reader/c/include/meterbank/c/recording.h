// SPDX-License-Identifier: Apache-2.0
//
// Recordings in C: what `meterbank record` has kept, with the catalogs, queries, samples and
// cursors of reader.h.
//
//   mb_recording_open("today.mbr", NULL, &catalog, &error);
//   mb_query_compile(catalog, paths, 1, NULL, 0, &query, &error);
//   while (mb_recording_next(catalog, &error) == MB_OK) {
//     mb_query_update(query, catalog, NULL, NULL);
//     mb_query_collect(query, newer, MB_CUT_NONE, &collected, NULL);
//     if (collected.coverage != MB_COVERAGE_ALL) continue;
//     mb_cursor_start(cursor, newer, older, NULL); ...
//   }
//
// A recording is a catalog that shows one moment after another instead of now. Before the first
// mb_recording_next() or mb_recording_seek() it lists no providers. A query shows the moment of its
// last mb_query_update(): update it after each step. Its samples have the time of the moment.
// Providers are not asked: mb_query_ask() collects what they had answered. mb_catalog_refresh()
// changes nothing.
//
// Thread safety  As in reader.h.
// Errors         MB_INVALID_ARGUMENT for a catalog that is not a recording. Damage within a
//                recording is no error: what is whole is shown, and mb_recording_flaw() says what
//                is not.
// Progress       Functions read files and wait for nothing else.
// Cost           To open: the head and the index of each file, or all of a file that was not ended
//                in order. A step decodes one moment, a seek at most 600.
// Lifetime       As in reader.h. Files stay open, so they may be removed while they are read.
// Units          Times are nanoseconds since 1970-01-01 UTC.
#ifndef METERBANK_C_RECORDING_H
#define METERBANK_C_RECORDING_H

#include "meterbank/c/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

// A file, or a directory of files. `options`, which may be NULL: whose providers are shown; a
// directory among them means nothing. Closed by mb_catalog_close().
// Errors: MB_NOT_FOUND, MB_DENIED, MB_CORRUPT, MB_NEWER_LAYOUT, MB_SYSTEM.
MB_API mb_status mb_recording_open(const char* path, const mb_catalog_options* options,
                                   mb_catalog** catalog, mb_error* error);
// Shows the next moment; at the beginning, the first. Errors: MB_NOT_FOUND behind the last, and the
// catalog shows the last one still.
MB_API mb_status mb_recording_next(mb_catalog* catalog, mb_error* error);
// Shows the last moment at or before a time. Errors: MB_NOT_FOUND if the recording begins later;
// the catalog then shows what it showed before.
MB_API mb_status mb_recording_seek(mb_catalog* catalog, uint64_t realtime_ns, mb_error* error);

// The texts are valid until the catalog is closed.
typedef struct mb_recording_summary {
  uint32_t size;
  uint32_t files;
  uint64_t first_ns;  // the earliest and the latest moment; 0 without any
  uint64_t last_ns;
  uint64_t moment_ns;    // that is shown; 0: none yet
  uint64_t window_ns;    // that it took to sample it
  uint64_t bytes;        // the size of all files together
  uint64_t flaws;        // found by now, as many as mb_recording_flaw() lists
  uint64_t missed;       // samples that the recorder counted as missed, among the flaws
  const char* host;      // where the first file was recorded
  const char* recorder;  // by what: "meterbank 0.2.0"
} mb_recording_summary;
#define MB_RECORDING_SUMMARY_INIT \
  { sizeof(mb_recording_summary), 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL }
MB_API mb_status mb_recording_summarize(mb_catalog* catalog, mb_recording_summary* summary,
                                        mb_error* error);

// What is missing. A recording knows its flaws as far as it was read. The texts are valid until the
// catalog shows another moment.
typedef struct mb_flaw {
  uint32_t size;
  uint32_t is_gap;   // samples that were missed; else bytes that cannot be read
  uint64_t from_ns;  // when a gap began
  uint64_t to_ns;    // when it ended
  uint64_t missed;   // how many samples
  uint64_t offset;   // where bytes that cannot be read begin in the file
  uint64_t bytes;
  const char* reason;  // "late", "no space"; of bytes: what is wrong with them
  const char* path;    // the file of such bytes
} mb_flaw;
#define MB_FLAW_INIT \
  { sizeof(mb_flaw), 0, 0, 0, 0, 0, 0, NULL, NULL }
// Errors: MB_NOT_FOUND behind the last.
MB_API mb_status mb_recording_flaw(mb_catalog* catalog, size_t index, mb_flaw* flaw,
                                   mb_error* error);

// A text that the recorder gave to a moment: "make ended with status 2". Known as far as the
// recording was read; valid until the catalog shows another moment.
typedef struct mb_mark {
  uint32_t size;
  uint32_t reserved;
  uint64_t time_ns;
  const char* text;
} mb_mark;
#define MB_MARK_INIT \
  { sizeof(mb_mark), 0, 0, NULL }
// Errors: MB_NOT_FOUND behind the last.
MB_API mb_status mb_recording_mark(mb_catalog* catalog, size_t index, mb_mark* mark,
                                   mb_error* error);

#ifdef __cplusplus
}
#endif

#endif
