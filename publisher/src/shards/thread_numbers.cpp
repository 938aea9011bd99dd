// SPDX-License-Identifier: Apache-2.0
#include "thread_numbers.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "index_set.hpp"
#include "meterbank/publisher/sharded_recorder.hpp"

namespace meterbank::detail {
namespace {

constexpr std::uint32_t kNumberWords = (kShardsMax - 1) / 64;
using Numbers = IndexSet<StdAtomics, kNumberWords>;
static_assert(Numbers::kNone >= kThreadShares);

// Constant-initialised and never destroyed: threads may end at any time.
constinit Numbers numbers;

// Tells of the end of a thread; runs behind the destructors of its thread_local objects, so these
// can still count. Its value is the number and one.
struct EndOfThread {
  pthread_key_t key = 0;
  bool was_asked_for = false;
  bool exists = false;
};
// Written before the first instance that could read it; constant afterwards.
constinit EndOfThread end_of_thread;

void at_end_of_thread(void* value) noexcept {
  // From here on the thread shares. Without the fence a handler could count with a number that is
  // free already, as a second writer.
  thread_number.usable = kThreadShares;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // [X3] usable, then the number
  numbers.give_back(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(value) - 1));
}

// The one it has, which it will give back at its end, else a free one.
std::uint32_t number_of_this_thread() noexcept {
  // A handler that came just before its thread could say that it is taking one has taken it.
  const auto held = reinterpret_cast<std::uintptr_t>(::pthread_getspecific(end_of_thread.key));
  if (held != 0) return static_cast<std::uint32_t>(held - 1);
  const std::uint32_t number = numbers.take();
  if (number == Numbers::kNone) return number;
  const std::uintptr_t value = std::uintptr_t{number} + 1;
  if (::pthread_setspecific(end_of_thread.key, reinterpret_cast<void*>(value)) == 0) return number;
  numbers.give_back(number);
  return Numbers::kNone;
}

}  // namespace

void prepare_thread_numbers() noexcept {
  static const bool made = [] {
    end_of_thread.exists = ::pthread_key_create(&end_of_thread.key, at_end_of_thread) == 0;
    return end_of_thread.was_asked_for = true;
  }();
  static_cast<void>(made);  // without a key all threads share
}

bool take_thread_number() noexcept {
  if (thread_number.usable != kNoThreadNumber || !end_of_thread.was_asked_for) return false;
  // A handler that comes in between shares. Without the fences it could find the number half taken
  // and take a second one, or count with it before it is taken.
  thread_number.usable = kThreadInside;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // [X3] usable, then the number
  const std::uint32_t number = end_of_thread.exists ? number_of_this_thread() : Numbers::kNone;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // [X3] the number, then usable
  thread_number.usable = number == Numbers::kNone ? kThreadShares : number;
  return number != Numbers::kNone;
}

void keep_only_own_thread_number() noexcept {
  if (!end_of_thread.exists) return;
  const auto value = reinterpret_cast<std::uintptr_t>(::pthread_getspecific(end_of_thread.key));
  numbers.keep_only(value == 0 ? Numbers::kNone : static_cast<std::uint32_t>(value - 1));
}

void change_shared_shard(const Shards& shards, std::uint32_t word, ShardChange change,
                         std::uint64_t value) noexcept {
  const Shard& shard = shards.shared();
  if (word >= shard.writer.words()) return;
  shards.open(shard);
  change_shared(shard.writer.word(word), change, value);
}

void record_shared(const Shards& shards, const DistributionPlace& place, double value) noexcept {
  using Shape = DistributionShape;
  const Shard& shard = shards.shared();
  shards.open(shard);
  // relaxed, all in here: a shared counter stands for itself, it orders nothing.
  const auto change_real = [&](std::uint32_t word, auto&& changed) {
    SharedWord& shared = shard.writer.word(place.more + word);
    std::uint64_t seen = shared.load(std::memory_order_relaxed);
    for (;;) {
      const double now = std::bit_cast<double>(seen);
      const double next = changed(now);
      if (!(next != now)) return;
      if (shared.compare_exchange_weak(seen, std::bit_cast<std::uint64_t>(next),
                                       std::memory_order_relaxed)) {
        return;
      }
    }
  };
  const std::uint32_t counted = place.shape.word_of(value);
  shard.writer.word(place.more + counted).fetch_add(1, std::memory_order_relaxed);
  if (counted == Shape::kRefused) return;
  shard.writer.word(place.own).fetch_add(1, std::memory_order_relaxed);
  if (std::isfinite(value)) change_real(Shape::kSum, [=](double now) { return now + value; });
  change_real(Shape::kLeast, [=](double now) { return std::min(now, value); });
  change_real(Shape::kMost, [=](double now) { return std::max(now, value); });
}

void change_shared_shard(const Shards& shards, const WaitingChange* changes,
                         std::size_t count) noexcept {
  for (const WaitingChange* change = changes; change != changes + count; ++change) {
    if (change->change == ShardChange::kRecord) {
      record_shared(shards, change->place(), std::bit_cast<double>(change->value));
    } else {
      change_shared_shard(shards, change->word, change->change, change->value);
    }
  }
}

}  // namespace meterbank::detail
