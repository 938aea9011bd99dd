// SPDX-License-Identifier: Apache-2.0
//
// METERBANK_COMMITS: the name of the table. METERBANK_FAULT: what was done to the headers.
#include "c_commits.h"

extern const c_commits METERBANK_COMMITS;

static void set(const mb_instance* instance, uint32_t word, uint64_t value) {
  mb_instance_set(instance, word, value);
}

static void add(const mb_instance* instance, uint32_t word, uint64_t delta) {
  mb_instance_add(instance, word, delta);
}

static mb_update open_update(const mb_instance* instance, const uint32_t* words, size_t count,
                             uint64_t value) {
  size_t i;
  mb_update update = mb_update_begin(instance);
  for (i = 0; i < count; ++i) mb_update_set(&update, words[i], value + i);
  for (i = 0; i < count; ++i) mb_update_add(&update, words[i], 1);
  return update;
}

static void commit_update(const mb_instance* instance, const uint32_t* words, size_t count,
                          uint64_t value) {
  mb_update update = open_update(instance, words, count, value);
  mb_update_commit(&update);
}

static void abort_update(const mb_instance* instance, const uint32_t* words, size_t count,
                         uint64_t value) {
  mb_update update = open_update(instance, words, count, value);
  mb_update_abort(&update);
}

static void record(const mb_recorder* recorder, double value) {
  mb_recorder_record(recorder, value);
}

static void record_two(const mb_instance* instance, const mb_recorder* recorder, double first,
                       double second) {
  mb_update update = mb_update_begin(instance);
  mb_update_record(&update, recorder, first);
  mb_update_record(&update, recorder, second);
  mb_update_commit(&update);
}

static void set_gauge(const mb_gauge* gauge, double value) { mb_gauge_set(gauge, value); }

static void set_text(const mb_text* text, const char* bytes, size_t count) {
  mb_text_set(text, bytes, count);
}

const c_commits METERBANK_COMMITS = {METERBANK_FAULT, set,          add,
                                     commit_update,   abort_update, record,
                                     record_two,      set_gauge,    set_text};
