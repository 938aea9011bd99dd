// SPDX-License-Identifier: Apache-2.0
//
// The atomic accesses that counting.h is made of: what StdAtomics is to the C++ library. Not for
// callers. Tests put their own in the place of this header and see every access of a commit.
//
// Each access is of an aligned 8-byte word, and its order is in its name. The caller argues it.
#ifndef METERBANK_C_WORDS_H
#define METERBANK_C_WORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The thread sanitizer does not model fences. There each word carries the order itself, which is
// stronger; what the fences are worth is shown by model checkers.
#if defined(__SANITIZE_THREAD__)
#define MB_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MB_THREAD_SANITIZER 1
#endif
#endif

#ifdef MB_THREAD_SANITIZER
static inline uint64_t mb_word_load_relaxed(const uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
static inline void mb_word_store_relaxed(uint64_t* word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
static inline void mb_fence_release(void) {}
#else
static inline uint64_t mb_word_load_relaxed(const uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void mb_word_store_relaxed(uint64_t* word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
static inline void mb_fence_release(void) {
  __atomic_thread_fence(__ATOMIC_RELEASE);  // [W2] [W4]
}
#endif

static inline void mb_word_store_release(uint64_t* word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// The cheapest exact increment of a word with one writer. On x86-64 it is one instruction, so a
// signal handler that increments the same word in between loses nothing; elsewhere it is an atomic
// addition for the same reason. relaxed: each counter stands for itself, it orders nothing.
static inline void mb_word_add_single_writer(uint64_t* word, uint64_t delta) {
#if defined(__x86_64__) && !defined(MB_THREAD_SANITIZER)
  __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(delta) : "cc");
#else
  __atomic_fetch_add(word, delta, __ATOMIC_RELAXED);
#endif
}

// relaxed: it orders nothing.
static inline void mb_word_add_any_thread(uint64_t* word, uint64_t delta) {
  __atomic_fetch_add(word, delta, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif

#endif
