// SPDX-License-Identifier: Apache-2.0
//
// A service in C: counters that move together, and how long requests take.
#include <stdio.h>

#include "meterbank/c/publisher.h"

enum { ACCEPTED, BYTES, LATENCY };

static const mb_counter_spec venue_counters[] = {
    {.id = 1, .name = "Accepted/sec", .symbol = "accepted", .type = MB_TYPE_BULK_COUNT},
    {.id = 2, .name = "Bytes/sec", .symbol = "bytes", .type = MB_TYPE_BULK_COUNT, .unit = "By"},
    {.id = 3,
     .name = "Latency",
     .symbol = "latency",
     .type = MB_TYPE_BULK_COUNT,
     .unit = "s",
     .form = MB_FORM_DISTRIBUTION,
     .bucket_least = 1e-6,
     .bucket_most = 10,
     .bucket_scale = 3},
};
static const mb_counterset_spec venues = {
    .size = sizeof(mb_counterset_spec),
    .counter_size = sizeof(mb_counter_spec),
    .name = "C Orders",
    .symbol = "c_orders",
    .label = "venue",
    .instances = MB_INSTANCES_MULTIPLE,
    .counters = venue_counters,
    .counters_count = 3,
};

int main(void) {
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  mb_provider* provider;
  mb_set* set;
  mb_instance venue;
  mb_recorder latency;
  mb_error error;
  int order;
  options.name = "from-c";
  // Never fails: without a directory or memory it says so once and counts into nothing.
  provider = mb_provider_create_or_disabled(&options);
  if (mb_provider_add(provider, &venues, &set, &error) != MB_OK ||
      mb_set_create_instance(set, "eu", NULL, &venue, &error) != MB_OK ||
      mb_instance_recorder(&venue, LATENCY, &latency, &error) != MB_OK) {
    fprintf(stderr, "%s; try: %s\n", error.what, error.remedy);
    return 1;
  }
  for (order = 0; order < 1000; ++order) {
    mb_update update = mb_update_begin(&venue);
    mb_update_add(&update, ACCEPTED, 1);
    mb_update_add(&update, BYTES, 512);
    mb_update_record(&update, &latency, 0.001);
    mb_update_commit(&update);
  }
  printf("published %llu orders\n", (unsigned long long)mb_instance_value(&venue, ACCEPTED));
  mb_provider_close(provider);
  return 0;
}
