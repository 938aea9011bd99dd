// SPDX-License-Identifier: Apache-2.0
//
//   counting_worker COMMAND
//
// The file that the patch of docs/examples/memcached adds, without memcached around it. Counts as a
// worker does, and runs the command while the counters are there.
#include <stdio.h>
#include <stdlib.h>

#include "meterbank_stats.h"

int main(int argc, char** argv) {
  worker_meters workers[2] = {{.begin = 0}, {.begin = 0}};
  int i;
  if (argc != 2) return 2;
  meters_start(true, false);
  for (i = 0; i < 2; ++i) {
    meters_add_worker(&workers[i], i);
    meter_begin(&workers[i]);
    meter_command(&workers[i], COUNT_GET_HITS);
    meter_command(&workers[i], COUNT_GET_HITS);
    meter_command(&workers[i], COUNT_DELETE_MISSES);
    meter_add(&workers[i], COUNT_BYTES_WRITTEN, 100);
  }
  meters_set_connections(3, 5);
  return system(argv[1]) == 0 ? 0 : 1;
}
