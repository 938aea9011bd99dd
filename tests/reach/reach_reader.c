/* SPDX-License-Identifier: Apache-2.0
 *
 * reach_reader DIRECTORY
 *
 * Prints what a program learns through the library of the provider named "orders": its state, the
 * value of reach/value or "none", why it cannot be read and what to try, each on a line.
 */
#include <stdio.h>
#include <string.h>

#include "meterbank.h"

static int fail(const mb_error* error) {
  printf("%s\nnone\n%s\n%s\n", mb_status_text(error->status), error->what, error->remedy);
  return 1;
}

int main(int argc, char** argv) {
  static const char* const paths[] = {"reach/value"};
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  mb_listed_provider provider = MB_LISTED_PROVIDER_INIT;
  mb_catalog* catalog;
  mb_query* query;
  mb_sample* sample;
  mb_cursor* cursor;
  mb_row row = MB_ROW_INIT;
  mb_value value = MB_VALUE_INIT;
  mb_error error;
  size_t index = 0;
  if (argc < 2) return 2;
  options.directory = argv[1];
  if (mb_catalog_open(&options, &catalog, &error) != MB_OK) return fail(&error);
  while (mb_catalog_provider(catalog, index, &provider, &error) == MB_OK) {
    if (strcmp(provider.name, "orders") == 0) break;
    ++index;
  }
  if (error.status != MB_OK) return fail(&error);
  if (mb_query_compile(catalog, paths, 1, NULL, 0, &query, &error) != MB_OK ||
      mb_sample_create(&sample, &error) != MB_OK || mb_cursor_create(&cursor, &error) != MB_OK ||
      mb_query_collect(query, sample, MB_CUT_NONE, NULL, &error) != MB_OK ||
      mb_cursor_start(cursor, sample, NULL, &error) != MB_OK) {
    return fail(&error);
  }
  puts(mb_provider_state_text(provider.state));
  if (mb_cursor_next_row(cursor, &row, NULL) == MB_OK &&
      mb_cursor_next_value(cursor, &value, NULL) == MB_OK && mb_has_value(value.status)) {
    printf("%g\n", value.cooked);
  } else {
    puts("none");
  }
  printf("%s\n%s\n", provider.why, provider.remedy);
  return 0;
}
