// SPDX-License-Identifier: Apache-2.0
//
//   10_read_a_recording FILE|DIR PATH
//
// What a counter did, from moment to moment of a recording.
#include <stdio.h>

#include "meterbank/c/recording.h"

static int fail(const mb_error* error) {
  fprintf(stderr, "%s; try: %s\n", error->what, error->remedy);
  return 1;
}

static void print_values(mb_cursor* cursor, uint64_t realtime_ns) {
  mb_value value = MB_VALUE_INIT;
  while (mb_cursor_next_row(cursor, NULL, NULL) == MB_OK) {
    while (mb_cursor_next_value(cursor, &value, NULL) == MB_OK) {
      const char* path = "";
      mb_cursor_path(cursor, MB_PATH_SHORT, &path, NULL);
      if (!mb_has_value(value.status)) continue;
      printf("%.3f %s = %g\n", (double)realtime_ns / 1e9, path, value.cooked);
    }
  }
}

int main(int count, char** arguments) {
  mb_catalog* recording = NULL;
  mb_query* query = NULL;
  mb_sample* samples[2] = {NULL, NULL};
  mb_cursor* cursor = NULL;
  mb_collected collected = MB_COLLECTED_INIT;
  mb_recording_summary summary = MB_RECORDING_SUMMARY_INIT;
  mb_status status;
  mb_error error;
  int newer = 0;
  if (count != 3) return 2;
  if (mb_recording_open(arguments[1], NULL, &recording, &error) != MB_OK) return fail(&error);
  if (mb_query_compile(recording, (const char* const*)&arguments[2], 1, NULL, 0, &query, &error) !=
          MB_OK ||
      mb_sample_create(&samples[0], &error) != MB_OK ||
      mb_sample_create(&samples[1], &error) != MB_OK ||
      mb_cursor_create(&cursor, &error) != MB_OK) {
    return fail(&error);
  }
  while ((status = mb_recording_next(recording, &error)) == MB_OK) {
    mb_query_update(query, recording, NULL, NULL);
    if (mb_query_collect(query, samples[newer], MB_CUT_NONE, &collected, &error) != MB_OK) break;
    if (collected.coverage != MB_COVERAGE_ALL) continue;  // it was not sampled then
    mb_cursor_start(cursor, samples[newer], samples[1 - newer], NULL);
    print_values(cursor, collected.realtime_ns);
    newer = 1 - newer;
  }
  if (status != MB_NOT_FOUND) return fail(&error);
  mb_recording_summarize(recording, &summary, NULL);
  printf("%llu samples were missed\n", (unsigned long long)summary.missed);
  mb_catalog_close(recording);
  return 0;
}
