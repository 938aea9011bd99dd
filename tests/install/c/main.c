// SPDX-License-Identifier: Apache-2.0
//
// A program outside of the tree: it counts, and reads what it has counted.
#include <meterbank.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(int is_good, const char* what, const mb_error* error) {
  if (is_good) return;
  fprintf(stderr, "%s: %s\n", what, error->what);
  exit(1);
}

int main(void) {
  const mb_counter_spec counter = {
      .id = 1, .name = "Laps", .symbol = "laps", .type = MB_TYPE_LARGE_RAW_COUNT};
  mb_counterset_spec spec = MB_COUNTERSET_SPEC_INIT;
  spec.name = "Installed";
  spec.symbol = "installed";
  spec.counters = &counter;
  spec.counters_count = 1;
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  options.name = "installed";
  mb_provider* provider = NULL;
  mb_set* set = NULL;
  mb_instance track;
  mb_error error;
  expect(mb_provider_create(&options, &provider, &error) == MB_OK, "provider", &error);
  expect(mb_provider_add(provider, &spec, &set, &error) == MB_OK, "set", &error);
  expect(mb_set_create_instance(set, "track", NULL, &track, &error) == MB_OK, "instance", &error);
  mb_instance_add(&track, 0, 42);

  const mb_catalog_options catalog_options = MB_CATALOG_OPTIONS_INIT;
  const char* const path = "installed/track/laps";
  mb_catalog* catalog = NULL;
  mb_query* query = NULL;
  mb_sample* sample = NULL;
  expect(mb_catalog_open(&catalog_options, &catalog, &error) == MB_OK, "catalog", &error);
  expect(mb_query_compile(catalog, &path, 1, NULL, 0, &query, &error) == MB_OK, "query", &error);
  expect(mb_sample_create(&sample, &error) == MB_OK, "sample", &error);
  expect(mb_query_collect(query, sample, MB_CUT_NONE, NULL, &error) == MB_OK, "collect", &error);
  double laps = 0;
  mb_values values = MB_VALUES_INIT;
  values.cooked = &laps;
  values.capacity = 1;
  expect(mb_sample_values(sample, NULL, &values, &error) == MB_OK, "values", &error);
  printf("%u values, %g laps, version %x\n", (unsigned)values.count, laps, (unsigned)mb_version());
  mb_instance_free(&track);
  mb_provider_close(provider);
  return values.count == 1 && laps == 42 ? 0 : 1;
}
