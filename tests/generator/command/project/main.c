// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "orders_names.h"

int main(void) {
  for (const char* const* counter = counters; *counter != 0; ++counter) puts(*counter);
  return 0;
}
