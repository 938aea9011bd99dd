// SPDX-License-Identifier: Apache-2.0
//
// In the place of the header of this name: accesses that are recorded.
#ifndef METERBANK_C_WORDS_H
#define METERBANK_C_WORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum access_kind {
  LOAD_RELAXED,
  STORE_RELAXED,
  STORE_RELEASE,
  FENCE_RELEASE,
  ADD_SINGLE_WRITER,
  ADD_ANY_THREAD
} access_kind;

void record_access(access_kind kind, const uint64_t* word, uint64_t value);

static inline uint64_t mb_word_load_relaxed(const uint64_t* word) {
  record_access(LOAD_RELAXED, word, *word);
  return *word;
}
static inline void mb_word_store_relaxed(uint64_t* word, uint64_t value) {
  record_access(STORE_RELAXED, word, value);
  *word = value;
}
static inline void mb_word_store_release(uint64_t* word, uint64_t value) {
  record_access(STORE_RELEASE, word, value);
  *word = value;
}
static inline void mb_fence_release(void) {
  record_access(FENCE_RELEASE, 0, 0);  // stands for [W2] and [W4] where a commit calls it
}
static inline void mb_word_add_single_writer(uint64_t* word, uint64_t delta) {
  record_access(ADD_SINGLE_WRITER, word, delta);
  *word += delta;
}
static inline void mb_word_add_any_thread(uint64_t* word, uint64_t delta) {
  record_access(ADD_ANY_THREAD, word, delta);
  *word += delta;
}

#ifdef __cplusplus
}
#endif

#endif
