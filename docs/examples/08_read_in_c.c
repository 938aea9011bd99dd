// SPDX-License-Identifier: Apache-2.0
//
// A collector in C: what each counter of this machine's providers did within a second.
#include <stdio.h>
#include <unistd.h>

#include "meterbank/c/reader.h"

static int fail(const mb_error* error) {
  fprintf(stderr, "%s; try: %s\n", error->what, error->remedy);
  return 1;
}

static void print_rows(mb_cursor* cursor) {
  mb_row row = MB_ROW_INIT;
  while (mb_cursor_next_row(cursor, &row, NULL) == MB_OK) {
    mb_value value = MB_VALUE_INIT;
    while (mb_cursor_next_value(cursor, &value, NULL) == MB_OK) {
      const char* path = "";
      mb_cursor_path(cursor, MB_PATH_SHORT, &path, NULL);
      if (mb_has_value(value.status)) {
        printf("%s = %g %s\n", path, value.cooked, value.unit);
      } else {
        printf("%s: %s\n", path, mb_value_status_text(value.status));
      }
    }
  }
}

int main(void) {
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  mb_catalog* catalog = NULL;
  mb_query* query = NULL;
  mb_sample* before = NULL;
  mb_sample* after = NULL;
  mb_cursor* cursor = NULL;
  mb_error error;
  if (mb_catalog_open(&options, &catalog, &error) != MB_OK) return fail(&error);
  // No paths: everything that is shown by default.
  if (mb_query_compile(catalog, NULL, 0, NULL, 0, &query, &error) != MB_OK) return fail(&error);
  if (mb_sample_create(&before, &error) != MB_OK) return fail(&error);
  if (mb_sample_create(&after, &error) != MB_OK) return fail(&error);
  if (mb_cursor_create(&cursor, &error) != MB_OK) return fail(&error);

  if (mb_query_collect(query, before, MB_CUT_NONE, NULL, &error) != MB_OK) return fail(&error);
  sleep(1);
  if (mb_query_collect(query, after, MB_CUT_NONE, NULL, &error) != MB_OK) return fail(&error);
  if (mb_cursor_start(cursor, after, before, &error) != MB_OK) return fail(&error);
  print_rows(cursor);

  mb_cursor_close(cursor);
  mb_sample_close(after);
  mb_sample_close(before);
  mb_query_close(query);
  mb_catalog_close(catalog);
  return 0;
}
