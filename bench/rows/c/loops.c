// SPDX-License-Identifier: Apache-2.0
#include "loops.h"

void c_add_hot(const mb_instance* instance, uint64_t turns) {
  uint64_t turn;
  for (turn = 0; turn < turns; ++turn) mb_instance_add(instance, 0, 1);
}

void c_counter_add_hot(const mb_counter* counter, uint64_t turns) {
  uint64_t turn;
  for (turn = 0; turn < turns; ++turn) mb_counter_add(counter, 1);
}

void c_add_turning(const mb_instance* instances, size_t count, uint64_t turns) {
  uint64_t turn;
  for (turn = 0; turn < turns; ++turn) mb_instance_add(&instances[turn & (count - 1)], 0, 1);
}

void c_sharded_add_hot(const mb_sharded* instance, uint64_t turns) {
  uint64_t turn;
  for (turn = 0; turn < turns; ++turn) mb_sharded_add(instance, 0, 1);
}

void c_update_eight(const mb_instance* instance, uint64_t turns) {
  uint64_t turn;
  uint32_t word;
  for (turn = 0; turn < turns; ++turn) {
    mb_update update = mb_update_begin(instance);
    for (word = 0; word < 8; ++word) mb_update_add(&update, word, 1);
    mb_update_commit(&update);
  }
}

void c_record_all(const mb_recorder* recorder, const double* values, size_t count, uint64_t turns) {
  uint64_t turn;
  for (turn = 0; turn < turns; ++turn) mb_recorder_record(recorder, values[turn & (count - 1)]);
}
