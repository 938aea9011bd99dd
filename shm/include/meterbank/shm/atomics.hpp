// SPDX-License-Identifier: Apache-2.0
//
// Atomics policies: what the block protocol is written over. The same source of block.hpp runs on
// StdAtomics in the product, on a policy with release/acquire words under the race detector (which
// does not see fences), and on a model checker's atomics in tests/model.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
#define METERBANK_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define METERBANK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define METERBANK_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define METERBANK_ADDRESS_SANITIZER 1
#endif
#endif

// Sanitizers do not see what assembler loads, so their builds load word by word.
#if defined(__x86_64__) && !defined(METERBANK_THREAD_SANITIZER) && \
    !defined(METERBANK_ADDRESS_SANITIZER)
#define METERBANK_VECTOR_LOADS 1
#endif

namespace meterbank {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(alignof(std::atomic<std::uint64_t>) == 8);

// Copies `count` words by 8-byte relaxed loads, through wide registers where that is known not to
// tear inside an aligned 8-byte lane (x86-64; four words at once with AVX2). C++ has no name for
// such a load, hence assembler; the scalar loop is the portable and the checked path. Wait-free.
void copy_words_relaxed(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
                        std::size_t count) noexcept;

// Counts the epochs of this process, for its providers' cuts. Alone in its line: every commit of a
// set with cuts loads it.
struct alignas(64) ProcessEpoch {
  std::atomic<std::uint64_t> count{0};
};
extern constinit ProcessEpoch process_epoch;

struct StdAtomics {
  using Word = std::atomic<std::uint64_t>;
  static constexpr std::uint64_t kCheckpointEvery = 1024;  // commits

#ifdef METERBANK_THREAD_SANITIZER
  // The detector does not model fences, so here every word carries the ordering itself. This is
  // stronger than the product; what the fences are worth is shown by tests/model instead.
  static constexpr auto kLoadOrder = std::memory_order_acquire;
  static constexpr auto kStoreOrder = std::memory_order_release;
  static void fence_release() noexcept {}
  static void fence_acquire() noexcept {}
#else
  static constexpr auto kLoadOrder = std::memory_order_relaxed;
  static constexpr auto kStoreOrder = std::memory_order_relaxed;
  static void fence_release() noexcept {
    std::atomic_thread_fence(std::memory_order_release);  // [W2] [W4] [E2] [S2] [X4] [X5]
  }
  static void fence_acquire() noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);  // [R2] [R4] [R5] [R7] [L5]
  }
#endif

  static std::uint64_t load_relaxed(const Word& word) noexcept { return word.load(kLoadOrder); }
  static void store_relaxed(Word& word, std::uint64_t value) noexcept {
    word.store(value, kStoreOrder);
  }
  static std::uint64_t load_acquire(const Word& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  static void store_release(Word& word, std::uint64_t value) noexcept {
    word.store(value, std::memory_order_release);
  }

  // relaxed: a barrier in every thread comes between this word and the word that readers see it by.
  static std::uint64_t epoch() noexcept { return load_relaxed(process_epoch.count); }

  static void copy_words(std::uint64_t* target, const Word* source, std::size_t count) noexcept {
    if (count > kInlineCopyWords) return copy_words_relaxed(target, source, count);
    std::size_t word = 0;
#ifdef METERBANK_VECTOR_LOADS
    for (; word + 2 <= count; word += 2) copy_pair(target + word, source + word);
#endif
    for (; word < count; ++word) target[word] = load_relaxed(source[word]);
  }

  // The cheapest exact increment of a word with one writer. On x86-64 it is one instruction, so a
  // signal handler that increments the same word in between loses nothing; elsewhere it is an
  // atomic add for the same reason. relaxed: each counter stands for itself, it orders nothing.
  static void add_single_writer(Word& word, std::uint64_t delta) noexcept {
#if defined(__x86_64__) && !defined(METERBANK_THREAD_SANITIZER)
    asm volatile("addq %1, %0" : "+m"(word) : "er"(delta) : "cc");
#else
    word.fetch_add(delta, std::memory_order_relaxed);
#endif
  }

  // For words with many writers. True: `word` was `seen` and is `next` now; else `seen` is what it
  // is. [X2] the next holder sees the stores of the last one.
  static bool exchange_acquire(Word& word, std::uint64_t& seen, std::uint64_t next) noexcept {
    return word.compare_exchange_weak(seen, next, std::memory_order_acquire,
                                      std::memory_order_relaxed);
  }
  static void clear_bits_release(Word& word, std::uint64_t bits) noexcept {
    word.fetch_and(~bits, std::memory_order_release);  // [X1] last stores first
  }

  static void pause() noexcept {
#if defined(__x86_64__)
    asm volatile("pause");
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

 private:
  static constexpr std::size_t kInlineCopyWords = 16;

#ifdef METERBANK_VECTOR_LOADS
  // Two words through one register, as copy_words_relaxed() does with four.
  static void copy_pair(std::uint64_t* target, const Word* source) noexcept {
    std::uint64_t both __attribute__((vector_size(16)));
    asm volatile("movdqu %1, %0" : "=x"(both) : "m"(*reinterpret_cast<const PairOfWords*>(source)));
    std::memcpy(target, &both, sizeof both);
  }
  struct PairOfWords {
    Word first, second;
  };
#endif
};

}  // namespace meterbank
