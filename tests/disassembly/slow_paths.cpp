// SPDX-License-Identifier: Apache-2.0
//
// Negative control of check.py: each function has something in it that must be found.
#include <atomic>
#include <cstdint>

#include "meterbank/publisher/sharded.hpp"

using Word = std::atomic<std::uint64_t>;

extern "C" {

void somewhere_else();

void calls(Word& word) {
  word.store(1, std::memory_order_relaxed);
  somewhere_else();
  word.store(2, std::memory_order_relaxed);
}

void jumps_away(Word& word) {
  word.store(1, std::memory_order_relaxed);
  somewhere_else();
}

void locks(Word& word) { word.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t swaps(Word& word) { return word.exchange(1, std::memory_order_relaxed); }

[[gnu::noinline]] std::uint64_t swaps_elsewhere(Word& word) { return swaps(word); }
std::uint64_t calls_one_that_swaps(Word& word) { return swaps_elsewhere(word) + 1; }

// A full barrier, where [W2] and [W4] ask for less.
void fences(Word& word) {
  word.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  word.store(2, std::memory_order_relaxed);
}

// As if each count of a sharded set also wrote a word of all threads. The result is used, because
// clang makes a store of an exchange whose result is not.
std::uint64_t counts_for_all_threads(meterbank::ShardedCounter& counter, Word& shared) {
  counter.add(1);
  return shared.exchange(1, std::memory_order_relaxed);
}

// As a reader without [R1] and [R2] would look.
bool reads_without_order(const Word& seq, const Word& word, std::uint64_t& value) {
  const std::uint64_t before = seq.load(std::memory_order_relaxed);
  value = word.load(std::memory_order_relaxed);
  return seq.load(std::memory_order_relaxed) == before;
}

// As a writer without [W2] and [W4] would commit.
void commits_without_fences(Word& seq, Word& copy0, Word& copy1) {
  const std::uint64_t before = seq.load(std::memory_order_relaxed);
  copy1.store(7, std::memory_order_relaxed);
  seq.store(before + 1, std::memory_order_release);
  copy0.store(7, std::memory_order_relaxed);
  seq.store(before + 2, std::memory_order_release);
}

// The same with the fences, but for one value.
void commits_mostly_with_fences(Word& seq, Word& copy0, Word& copy1, std::uint64_t value) {
  const std::uint64_t before = seq.load(std::memory_order_relaxed);
  copy1.store(value, std::memory_order_relaxed);
  seq.store(before + 1, std::memory_order_release);
  if (value != 7) std::atomic_thread_fence(std::memory_order_release);  // [W2], mostly
  copy0.store(value, std::memory_order_relaxed);
  seq.store(before + 2, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);  // [W4]
}
}
