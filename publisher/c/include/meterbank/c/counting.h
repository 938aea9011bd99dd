// SPDX-License-Identifier: Apache-2.0
//
// Counting: what a service calls at each event. All of it is inline but for what is rare.
//
//   mb_instance_add(&venue, VENUE_ACCEPTED, 1);                one counter, one commit
//
//   mb_update update = mb_update_begin(&venue);                several counters, one commit
//   mb_update_add(&update, VENUE_ACCEPTED, 1);
//   mb_update_add(&update, VENUE_BYTES, bytes);
//   mb_update_commit(&update);
//
// publisher.h makes instances. The objects here and in values.h are small structs that may be
// copied, and whose members are private. One that is all zero, as with `= {0}`, counts into
// nothing, and so does every one that comes from a disabled provider.
//
// A counter is named by its position in the schema. A position that the schema does not have is
// ignored, and reads as 0. Distributions, texts and timed values (values.h) have words behind those
// of the counters: such words must not be set by position.
//
// Thread safety  Of a block set, one thread at a time per instance; of an independent set, one
//                thread at a time per counter, and any thread with the functions for any thread. A
//                signal handler may add to an independent counter that it interrupted; it must not
//                write to the block that its thread is writing to. Sharded sets have functions of
//                their own, in sharded.h.
// Errors         None. errno is never touched. Pointers must not be NULL.
// Progress       Wait-free: nothing blocks, allocates, locks or calls the kernel.
// Cost           Independent: one store for each change. Block: one commit, four stores and two for
//                each further word. bench/README.md has the figures.
// Lifetime       A struct may be used until mb_instance_free() is called for its instance, also
//                after the instance, its set and its provider were closed, and in the child of a
//                fork: it then counts into memory that no reader sees.
// Units          Those of the counter.
#ifndef METERBANK_C_COUNTING_H
#define METERBANK_C_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "meterbank/c/block.h"

#ifdef __cplusplus
extern "C" {
#endif

// The right to publish one instance's values.
typedef struct mb_instance {
  mb_block block;
  uint64_t number;
} mb_instance;

// The right to count one counter.
typedef struct mb_counter {
  mb_block block;
  uint32_t word;
} mb_counter;

// Several changes of one instance that become visible at once. In an independent set each is
// visible immediately.
typedef struct mb_update {
  mb_block block;
  uint32_t first;  // of the words that changed
  uint32_t last;
} mb_update;

// ---- One counter --------------------------------------------------------------------------------

static inline void mb_instance_add(const mb_instance* instance, uint32_t counter, uint64_t delta) {
  mb_block_add(&instance->block, counter, delta);
}
static inline void mb_instance_increment(const mb_instance* instance, uint32_t counter) {
  mb_block_add(&instance->block, counter, 1);
}
static inline void mb_instance_set(const mb_instance* instance, uint32_t counter, uint64_t value) {
  mb_block_set(&instance->block, counter, value);
}
static inline uint64_t mb_instance_value(const mb_instance* instance, uint32_t counter) {
  return mb_block_value(&instance->block, counter);
}

// For code that wants one pointer and nothing else. A position that the schema does not have gives
// a counter that counts into nothing.
static inline mb_counter mb_instance_counter(const mb_instance* instance, uint32_t counter) {
  mb_counter made = {{NULL, 0, 0, 0, 0, 0, 0}, 0};
  if (counter < instance->block.words) {
    made.block = instance->block;
    made.word = counter;
  }
  return made;
}
static inline void mb_counter_add(const mb_counter* counter, uint64_t delta) {
  mb_block_add(&counter->block, counter->word, delta);
}
static inline void mb_counter_increment(const mb_counter* counter) {
  mb_block_add(&counter->block, counter->word, 1);
}
static inline void mb_counter_set(const mb_counter* counter, uint64_t value) {
  mb_block_set(&counter->block, counter->word, value);
}
static inline uint64_t mb_counter_value(const mb_counter* counter) {
  return mb_block_value(&counter->block, counter->word);
}
// Any thread may call it, for a counter of an independent set. Does nothing to a counter of a block
// set, whose words only a commit may change. Cost: one locked addition.
static inline void mb_counter_add_from_any_thread(const mb_counter* counter, uint64_t delta) {
  const mb_block* const block = &counter->block;
  if (counter->word < block->words_in_place) {
    mb_word_add_any_thread(block->seq + block->copy0 + counter->word, delta);
  }
}

// ---- Several counters, one commit ---------------------------------------------------------------

// Nothing of an update is visible before mb_update_commit(). One that is neither committed nor
// aborted must be aborted before the next change of the instance. Between, the instance must not be
// written to in another way.
static inline mb_update mb_update_begin(const mb_instance* instance) {
  mb_update update;  // member by member, so that the compiler may keep each in a register
  update.block.seq = instance->block.seq;
  update.block.copy1 = instance->block.copy1;
  update.block.checkpoint = instance->block.checkpoint;
  update.block.copy0 = instance->block.copy0;
  update.block.words = instance->block.words;
  update.block.words_in_place = instance->block.words_in_place;
  update.block.words_plain = instance->block.words_plain;
  update.first = MB_BLOCK_WORDS_MAX;
  update.last = 0;
  return update;
}

static inline void mb_update_set(mb_update* update, uint32_t counter, uint64_t value) {
  if (counter < update->block.words) {
    // relaxed: published by [W1] of the commit.
    mb_word_store_relaxed(update->block.seq + update->block.copy1 + counter, value);
  }
  // Noted even if the block does not have the word: then the range of constants is a constant.
  if (counter < update->first) update->first = counter;
  if (counter > update->last) update->last = counter;
}

// What the counter will be after the commit.
static inline uint64_t mb_update_value(const mb_update* update, uint32_t counter) {
  if (counter >= update->block.words) return 0;
  // relaxed: own last store.
  return mb_word_load_relaxed(update->block.seq + update->block.copy1 + counter);
}

// In an independent set this is a load and a store: what a signal handler adds to the same counter
// in between is lost.
static inline void mb_update_add(mb_update* update, uint32_t counter, uint64_t delta) {
  mb_update_set(update, counter, mb_update_value(update, counter) + delta);
}

// For sets with MB_SET_STAMPED alone: CLOCK_MONOTONIC nanoseconds at which the values were true. In
// another set it would change the last word of the block.
static inline void mb_update_stamp(mb_update* update, uint64_t monotonic_ns) {
  mb_update_set(update, update->block.words - 1U, monotonic_ns);
}

// Private. The words from the first to the last that changed; then none has. relaxed: to copy 0
// published by [W3]; to copy 1 nothing is published.
static inline void mb_update_copy_changed(mb_update* update, uint64_t* target,
                                          const uint64_t* source) {
  const uint32_t end = update->last < update->block.words ? update->last + 1 : update->block.words;
  uint32_t word = update->first;
  for (; word + 4 <= end; word += 4) {  // compilers do not unroll loops of atomics
    mb_word_store_relaxed(target + word, mb_word_load_relaxed(source + word));
    mb_word_store_relaxed(target + word + 1, mb_word_load_relaxed(source + word + 1));
    mb_word_store_relaxed(target + word + 2, mb_word_load_relaxed(source + word + 2));
    mb_word_store_relaxed(target + word + 3, mb_word_load_relaxed(source + word + 3));
  }
  for (; word < end; ++word) {
    mb_word_store_relaxed(target + word, mb_word_load_relaxed(source + word));
  }
  update->first = MB_BLOCK_WORDS_MAX;
  update->last = 0;
}

// Private, in the library; in pieces, as the checkpoint. `changed` is last << 16 | first.
MB_API void mb_update_commit_slow(uint64_t* seq_word, uint32_t copy1, uint32_t checkpoint,
                                  uint32_t copy0, uint32_t words, uint32_t changed);

static inline void mb_update_commit(mb_update* update) {
  uint64_t* const seq_word = update->block.seq;
  if (update->block.words_in_place != 0) return;
  if (__builtin_expect(update->first < update->block.words_plain, 1)) {
    const uint64_t seq = mb_word_load_relaxed(seq_word);  // relaxed: own last store
    mb_block_publish_copy1(seq_word, seq);
    mb_update_copy_changed(update, seq_word + update->block.copy0, seq_word + update->block.copy1);
    mb_block_publish_copy0(&update->block, seq_word, seq);
  } else {
    const uint32_t last = update->last < MB_BLOCK_WORDS_MAX ? update->last : MB_BLOCK_WORDS_MAX;
    mb_update_commit_slow(seq_word, update->block.copy1, update->block.checkpoint,
                          update->block.copy0, update->block.words, last << 16 | update->first);
    update->first = MB_BLOCK_WORDS_MAX;
    update->last = 0;
  }
}

// Takes back what was changed since the last commit. An independent set keeps its new values.
static inline void mb_update_abort(mb_update* update) {
  if (update->block.words_in_place == update->block.words) return;
  mb_update_copy_changed(update, update->block.seq + update->block.copy1,
                         update->block.seq + update->block.copy0);
}

#ifdef __cplusplus
}
#endif

#endif
