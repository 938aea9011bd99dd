// SPDX-License-Identifier: Apache-2.0
//
// The writer's part of the block protocol, for the headers beside this one. Not for callers.
//
// meterbank/shm/block.hpp states the protocol and docs/protocol.md proves it. Here it stands once
// more, store by store, because C code cannot include that; tests/c records the accesses of both
// and compares them. What is rare is not here but in the library, and is C++: commits of sets with
// cuts, checkpoints.
//
// Thread safety  One writing thread at a time per block.
// Progress       Wait-free.
// Cost           A commit of one word: four stores; on x86-64 no locked instruction and no fence.
#ifndef METERBANK_C_BLOCK_H
#define METERBANK_C_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "meterbank/c/base.h"
#include "meterbank/c/words.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where a block lies: what BlockWriter is in C++. All private.
typedef struct mb_block {
  uint64_t* seq;
  uint32_t copy1;  // words from seq, as the two below
  uint32_t checkpoint;
  uint16_t copy0;
  uint16_t words;
  uint16_t words_in_place;  // of an independent set: all; else none
  uint16_t words_plain;     // of a set with cuts: none; else all
} mb_block;

#define MB_BLOCK_WORDS_MAX 4096
#define MB_CHECKPOINT_EVERY 1024  // commits

// In the library: the rare parts, which are those of C++. Commits of a set with cuts, and positions
// that a block does not have, come here, too.
MB_API void mb_block_set_slow(const mb_block* block, uint32_t word, uint64_t value);
MB_API void mb_block_add_slow(const mb_block* block, uint32_t word, uint64_t delta);
// In pieces, because a block or an update whose address is taken lives in memory.
MB_API void mb_block_write_checkpoint(uint64_t* seq_word, uint32_t checkpoint, uint32_t copy0,
                                      uint32_t words, uint64_t seq);

// Between the stores to copy 1 and those to copy 0.
static inline void mb_block_publish_copy1(uint64_t* seq_word, uint64_t seq) {
  // [W1] pairs with [R1]: the commit point. Without it a reader sees the odd number and old words
  // of copy 1.
  mb_word_store_release(seq_word, seq + 1);
  // [W2] pairs with [R2]. Without it a reader sent to copy 0 before could accept a mix of the old
  // words and the next stores, because the odd number might become visible after them.
  mb_fence_release();
}

// Behind the stores to copy 0.
static inline void mb_block_publish_copy0(const mb_block* block, uint64_t* seq_word, uint64_t seq) {
  // [W3] pairs with [R1]. Without it a reader sees the even number and old words of copy 0.
  mb_word_store_release(seq_word, seq + 2);
  // [W4] pairs with [R2]. Without it the next commit's first store to copy 1 could be seen by a
  // reader of the odd number that has not yet seen this even one.
  mb_fence_release();
  // seq grows by two a commit.
  if (__builtin_expect(((seq + 2) & (2 * MB_CHECKPOINT_EVERY - 1)) == 0, 0)) {
    mb_block_write_checkpoint(seq_word, block->checkpoint, block->copy0, block->words, seq + 2);
  }
}

static inline void mb_block_set_one(const mb_block* block, uint32_t word, uint64_t value) {
  uint64_t* const seq_word = block->seq;  // loaded once: no compiler keeps it across an atomic
  uint64_t* const copy0 = seq_word + block->copy0 + word;
  uint64_t* const copy1 = seq_word + block->copy1 + word;
  const uint64_t seq = mb_word_load_relaxed(seq_word);  // relaxed: own last store
  mb_word_store_relaxed(copy1, value);                  // relaxed: published by [W1]
  mb_block_publish_copy1(seq_word, seq);
  mb_word_store_relaxed(copy0, value);  // relaxed: published by [W3]
  mb_block_publish_copy0(block, seq_word, seq);
}

// relaxed: the one writer reads back its own last store.
static inline uint64_t mb_block_value(const mb_block* block, uint32_t word) {
  return word < block->words ? mb_word_load_relaxed(block->seq + block->copy0 + word) : 0;
}

static inline void mb_block_set(const mb_block* block, uint32_t word, uint64_t value) {
  if (word < block->words_in_place) {
    // relaxed: it orders nothing.
    mb_word_store_relaxed(block->seq + block->copy0 + word, value);
  } else if (__builtin_expect(word < block->words_plain, 1)) {
    mb_block_set_one(block, word, value);
  } else {
    mb_block_set_slow(block, word, value);
  }
}

static inline void mb_block_add(const mb_block* block, uint32_t word, uint64_t delta) {
  if (word < block->words_in_place) {
    mb_word_add_single_writer(block->seq + block->copy0 + word, delta);
  } else if (__builtin_expect(word < block->words_plain, 1)) {
    mb_block_set_one(block, word, mb_block_value(block, word) + delta);
  } else {
    mb_block_add_slow(block, word, delta);
  }
}

#ifdef __cplusplus
}
#endif

#endif
