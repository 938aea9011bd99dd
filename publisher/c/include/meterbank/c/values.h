// SPDX-License-Identifier: Apache-2.0
//
// Counters that are more than a count: gauges, distributions, texts. Each is made once, by
// publisher.h, and kept; each call is one commit, so that a reader sees all words of it and of the
// counters beside it as they were at one moment.
//
//   mb_recorder_record(&latency, seconds);
//   mb_gauge_set(&temperature, 21.5);
//   mb_text_set(&state, "draining", 8);
//
// Thread safety  One thread at a time per instance, as for all writers of a block. A signal handler
//                must not write to the block that its thread is writing to.
// Errors         None. A value beyond the range of a distribution is counted as such, NaN as
//                refused; a gauge keeps to the range of its form; a text is cut between characters.
// Progress       Wait-free: nothing blocks, allocates or locks.
// Cost           One commit, a few nanoseconds. bench/README.md has the figures.
// Lifetime       As of counting.h.
// Units          Those of the counter. Times are CLOCK_MONOTONIC_COARSE, in nanoseconds.
#ifndef METERBANK_C_VALUES_H
#define METERBANK_C_VALUES_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "meterbank/c/counting.h"
#include "meterbank/c/schema.h"

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

// A value that is set: in the form of its counter, with the time if the counter is timed.
typedef struct mb_gauge {
  mb_block block;
  uint32_t word;
  uint32_t form;
  uint32_t time_word;  // 0: not timed
} mb_gauge;

// A distribution, which values are recorded in.
typedef struct mb_recorder {
  mb_block block;
  uint32_t count;  // the word with the number of values
  uint32_t more;   // the first of the other words
  int32_t scale;
  int32_t first_bucket;
  uint32_t buckets;
} mb_recorder;

// A short text, such as the name of a state.
typedef struct mb_text {
  mb_block block;
  uint32_t length_word;
  uint32_t more;
  uint32_t text_words;
  uint32_t time_word;  // 0: not timed
} mb_text;

// ---- Commits of a few words. Private. -----------------------------------------------------------

#define MB_WORD_LIST_MAX 6

typedef struct mb_word_list {
  uint32_t word[MB_WORD_LIST_MAX];
  uint64_t value[MB_WORD_LIST_MAX];
  uint32_t count;
} mb_word_list;

static inline void mb_word_list_add(mb_word_list* list, uint32_t word, uint64_t value) {
  list->word[list->count] = word;
  list->value[list->count] = value;
  ++list->count;
}

// Precondition: a block without cuts, which has all of the words.
static inline void mb_block_commit_words(const mb_block* block, const mb_word_list* list) {
  uint64_t* const seq_word = block->seq;
  uint64_t* const copy0 = seq_word + block->copy0;
  uint64_t* const copy1 = seq_word + block->copy1;
  const uint64_t seq = mb_word_load_relaxed(seq_word);  // relaxed: own last store
  uint32_t i;
  for (i = 0; i < list->count; ++i) {
    mb_word_store_relaxed(copy1 + list->word[i], list->value[i]);  // relaxed: published by [W1]
  }
  mb_block_publish_copy1(seq_word, seq);
  for (i = 0; i < list->count; ++i) {
    mb_word_store_relaxed(copy0 + list->word[i], list->value[i]);  // relaxed: published by [W3]
  }
  mb_block_publish_copy0(block, seq_word, seq);
}

// ---- Gauges -------------------------------------------------------------------------------------

// Private, in the library: the bits of a value in this form, rounded and held at the ends of its
// range; and the commit of value and time.
MB_API uint64_t mb_bits_of_real(uint32_t form, double value);
MB_API uint64_t mb_bits_of_signed(uint32_t form, int64_t value);
MB_API uint64_t mb_bits_of_unsigned(uint32_t form, uint64_t value);
MB_API double mb_real_of_bits(uint32_t form, uint64_t bits);
MB_API uint64_t mb_coarse_clock_ns(void);
MB_API void mb_gauge_set_timed(const mb_gauge* gauge, uint64_t bits);

static inline uint64_t mb_gauge_bits(const mb_gauge* gauge, double value) {
  uint64_t bits;
  if (gauge->form != MB_FORM_REAL) return mb_bits_of_real(gauge->form, value);
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline void mb_gauge_set_bits(const mb_gauge* gauge, uint64_t bits) {
  if (gauge->time_word == 0) {
    mb_block_set(&gauge->block, gauge->word, bits);
  } else {
    mb_gauge_set_timed(gauge, bits);
  }
}

static inline void mb_gauge_set(const mb_gauge* gauge, double value) {
  mb_gauge_set_bits(gauge, mb_gauge_bits(gauge, value));
}
// Whole numbers that a double would round.
static inline void mb_gauge_set_signed(const mb_gauge* gauge, int64_t value) {
  mb_gauge_set_bits(gauge, mb_bits_of_signed(gauge->form, value));
}
static inline void mb_gauge_set_unsigned(const mb_gauge* gauge, uint64_t value) {
  mb_gauge_set_bits(gauge, mb_bits_of_unsigned(gauge->form, value));
}
static inline double mb_gauge_value(const mb_gauge* gauge) {
  return mb_real_of_bits(gauge->form, mb_block_value(&gauge->block, gauge->word));
}
static inline void mb_gauge_add(const mb_gauge* gauge, double delta) {
  mb_gauge_set(gauge, mb_gauge_value(gauge) + delta);
}

// As part of an update. The gauge must belong to an instance of the same set.
static inline void mb_update_set_gauge_bits(mb_update* update, const mb_gauge* gauge,
                                            uint64_t bits) {
  if (gauge->block.words == 0) return;
  mb_update_set(update, gauge->word, bits);
  if (gauge->time_word != 0) mb_update_set(update, gauge->time_word, mb_coarse_clock_ns());
}
static inline void mb_update_set_gauge(mb_update* update, const mb_gauge* gauge, double value) {
  mb_update_set_gauge_bits(update, gauge, mb_gauge_bits(gauge, value));
}
static inline void mb_update_set_gauge_signed(mb_update* update, const mb_gauge* gauge,
                                              int64_t value) {
  mb_update_set_gauge_bits(update, gauge, mb_bits_of_signed(gauge->form, value));
}
static inline void mb_update_set_gauge_unsigned(mb_update* update, const mb_gauge* gauge,
                                                uint64_t value) {
  mb_update_set_gauge_bits(update, gauge, mb_bits_of_unsigned(gauge->form, value));
}

// ---- Distributions ------------------------------------------------------------------------------
//
// meterbank/shm/distribution.hpp says what the words and buckets are. Private down to
// mb_recorder_record().

// Behind `more`.
enum {
  MB_WORD_SUM = 0,
  MB_WORD_LEAST = 1,
  MB_WORD_MOST = 2,
  MB_WORD_BELOW = 3,
  MB_WORD_ABOVE = 4,
  MB_WORD_REFUSED = 5,
  MB_WORD_BUCKETS = 6
};

#define MB_FINEST_SCALE 8
#define MB_FINEST_BUCKETS 256  // of a factor of two
#define MB_MANTISSA_BITS 52

// In the library: the boundaries of the finest buckets.
typedef struct mb_bucket_boundaries {
  uint64_t mantissa[MB_FINEST_BUCKETS + 2];
  uint16_t below[MB_FINEST_BUCKETS];
} mb_bucket_boundaries;
MB_API extern const mb_bucket_boundaries mb_finest_boundaries;

// In the library: records in a set with cuts.
MB_API void mb_recorder_record_slow(const mb_recorder* recorder, double value);

// Precondition: positive and finite.
static inline int32_t mb_finest_bucket(double value) {
  uint64_t bits, mantissa;
  int32_t shift = 0, exponent, count;
  memcpy(&bits, &value, sizeof bits);
  if (bits >> MB_MANTISSA_BITS == 0) {  // subnormal: the same number with a normal exponent
    const double lifted = value * 18446744073709551616.0;  // 2^64
    memcpy(&bits, &lifted, sizeof bits);
    shift = 64;
  }
  exponent = (int32_t)(bits >> MB_MANTISSA_BITS) - 1023 - shift;
  mantissa = bits & ((UINT64_C(1) << MB_MANTISSA_BITS) - 1);
  count = mb_finest_boundaries.below[mantissa >> (MB_MANTISSA_BITS - MB_FINEST_SCALE)];
  // Without a branch: which of the neighbouring buckets it is, no processor can foresee.
  {
    const int32_t is_beyond_first = mb_finest_boundaries.mantissa[count] < mantissa;
    const int32_t is_beyond_second = mb_finest_boundaries.mantissa[count + 1] < mantissa;
    count += is_beyond_first + is_beyond_second;
  }
  return exponent * MB_FINEST_BUCKETS + count - 1;
}

// The word that a value is counted in, behind `more`.
static inline uint32_t mb_recorder_word(const mb_recorder* recorder, double value) {
  int32_t index;
  uint32_t position;
  if (value != value) return MB_WORD_REFUSED;
  if (value <= 0) return MB_WORD_BELOW;
  if (value > DBL_MAX) return MB_WORD_ABOVE;
  index = mb_finest_bucket(value) >> (MB_FINEST_SCALE - recorder->scale);
  if (index < recorder->first_bucket) return MB_WORD_BELOW;
  position = (uint32_t)(index - recorder->first_bucket);
  return position < recorder->buckets ? MB_WORD_BUCKETS + position : (uint32_t)MB_WORD_ABOVE;
}

// relaxed: the one writer reads back its own last store.
static inline double mb_word_load_real(const uint64_t* word) {
  const uint64_t bits = mb_word_load_relaxed(word);
  double real;
  memcpy(&real, &bits, sizeof real);
  return real;
}
static inline void mb_word_list_add_real(mb_word_list* list, uint32_t word, double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  mb_word_list_add(list, word, bits);
}

// The words that a value changes, and what they become. `copy` is where they are read.
static inline void mb_recorder_changes(const mb_recorder* recorder, const uint64_t* copy,
                                       double value, mb_word_list* changes) {
  const uint32_t more = recorder->more;
  const uint32_t counted = more + mb_recorder_word(recorder, value);
  uint64_t count;
  changes->count = 0;
  // relaxed, these loads: the one writer reads back its own last store.
  mb_word_list_add(changes, counted, mb_word_load_relaxed(copy + counted) + 1);
  if (counted == more + MB_WORD_REFUSED) return;
  count = mb_word_load_relaxed(copy + recorder->count);
  mb_word_list_add(changes, recorder->count, count + 1);
  if (value - value == 0) {  // finite
    mb_word_list_add_real(changes, more + MB_WORD_SUM,
                          mb_word_load_real(copy + more + MB_WORD_SUM) + value);
  }
  if (count == 0 || value < mb_word_load_real(copy + more + MB_WORD_LEAST)) {
    mb_word_list_add_real(changes, more + MB_WORD_LEAST, value);
  }
  if (count == 0 || value > mb_word_load_real(copy + more + MB_WORD_MOST)) {
    mb_word_list_add_real(changes, more + MB_WORD_MOST, value);
  }
}

static inline void mb_recorder_record(const mb_recorder* recorder, double value) {
  mb_word_list changes;
  if (__builtin_expect(recorder->count < recorder->block.words_plain, 1)) {
    mb_recorder_changes(recorder, recorder->block.seq + recorder->block.copy0, value, &changes);
    mb_block_commit_words(&recorder->block, &changes);
  } else {
    mb_recorder_record_slow(recorder, value);
  }
}

// As part of an update. The commit rewrites all words from the first to the last that changed.
static inline void mb_update_record(mb_update* update, const mb_recorder* recorder, double value) {
  mb_word_list changes;
  uint32_t i;
  // One that counts into nothing, or that is of a wider block than this.
  if (recorder->buckets == 0 ||
      recorder->more + MB_WORD_BUCKETS + recorder->buckets > update->block.words) {
    return;
  }
  mb_recorder_changes(recorder, update->block.seq + update->block.copy1, value, &changes);
  for (i = 0; i < changes.count; ++i) mb_update_set(update, changes.word[i], changes.value[i]);
}

// ---- Texts --------------------------------------------------------------------------------------

// Private, in the library: how many bytes of a text are kept, which ends with a whole character.
MB_API size_t mb_text_bytes_kept(const char* text, size_t bytes, size_t bytes_max);

// As part of an update: `bytes` of UTF-8, which may contain NUL; NULL is empty. What is not UTF-8
// is shown with replacement characters.
static inline void mb_update_set_text(mb_update* update, const mb_text* counter, const char* text,
                                      size_t bytes) {
  uint32_t word;
  size_t kept, at;
  if (counter->block.words == 0) return;
  kept = text == NULL ? 0 : mb_text_bytes_kept(text, bytes, counter->text_words * sizeof(uint64_t));
  mb_update_set(update, counter->length_word, kept);
  for (word = 0, at = 0; at < kept; ++word, at += sizeof(uint64_t)) {
    uint64_t bits = 0;
    const size_t rest = kept - at;
    memcpy(&bits, text + at, rest < sizeof bits ? rest : sizeof bits);
    mb_update_set(update, counter->more + word, bits);
  }
  if (counter->time_word != 0) mb_update_set(update, counter->time_word, mb_coarse_clock_ns());
}

static inline void mb_text_set(const mb_text* counter, const char* text, size_t bytes) {
  mb_update update;
  if (counter->block.words == 0) return;
  update.block = counter->block;
  update.first = MB_BLOCK_WORDS_MAX;
  update.last = 0;
  mb_update_set_text(&update, counter, text, bytes);
  mb_update_commit(&update);
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
