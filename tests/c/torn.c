// SPDX-License-Identifier: Apache-2.0
//
// METERBANK_COUNT_UP: the name of the function.
#include "torn.h"

void METERBANK_COUNT_UP(const mb_instance* instance, uint64_t from, uint64_t count) {
  uint64_t value;
  uint32_t word;
  for (value = from; value < from + count; ++value) {
    mb_update update = mb_update_begin(instance);
    for (word = 0; word < kTornWords; ++word) mb_update_set(&update, word, value);
    mb_update_commit(&update);
  }
}
