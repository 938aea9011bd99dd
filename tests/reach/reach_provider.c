/* SPDX-License-Identifier: Apache-2.0
 *
 * reach_provider DIRECTORY READERS HEARTBEAT_MS [UID]
 *
 * A service named "orders" with one counter, reach/value, which is 42. With UID it changes its user
 * first, as a daemon that was started by root does. Prints a line when it publishes, and ends with
 * its standard input.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "meterbank.h"

static const mb_counter_spec counters[] = {
    {.id = 1, .name = "Value", .symbol = "value", .type = MB_TYPE_LARGE_RAW_COUNT}};
static const mb_counterset_spec reach = {.size = sizeof(mb_counterset_spec),
                                         .counter_size = sizeof(mb_counter_spec),
                                         .name = "Reach",
                                         .symbol = "reach",
                                         .counters = counters,
                                         .counters_count = 1};

static int become(uid_t uid) {
  return setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0;
}

int main(int argc, char** argv) {
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  mb_provider* provider;
  mb_set* set;
  mb_instance instance;
  mb_error error;
  char byte;
  if (argc < 4) return 2;
  if (argc > 4 && !become((uid_t)strtoul(argv[4], NULL, 10))) return 2;
  options.name = "orders";
  options.directory = argv[1];
  options.readers = argv[2];
  options.heartbeat_ms = (uint32_t)strtoul(argv[3], NULL, 10);
  if (mb_provider_create(&options, &provider, &error) != MB_OK ||
      mb_provider_add(provider, &reach, &set, &error) != MB_OK ||
      mb_set_create_instance(set, "", NULL, &instance, &error) != MB_OK) {
    fprintf(stderr, "%s; try: %s\n", error.what, error.remedy);
    return 1;
  }
  mb_instance_set(&instance, 0, 42);
  puts("publishes");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  mb_provider_close(provider);
  return 0;
}
