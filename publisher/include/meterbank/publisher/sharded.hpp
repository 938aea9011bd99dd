// SPDX-License-Identifier: Apache-2.0
//
// Instances that any thread may count, without a lock and without a line that two threads write.
//
// A slot of a sharded set has several blocks. Readers join them. Which one a thread writes is one
// of two things, the same for all instances of a registration:
//
// - that of the processor it runs on, in a restartable sequence (restartable.hpp), where the system
//   has these, there is a block for each processor, and the set is independent, or asks for it with
//   CountersetSpec::by_processor and has blocks of at most kProcessorWordsMax words.
//   METERBANK_RSEQ=0 in the environment forbids it;
// - that of its number, the same in all sharded sets, which it has from its first count to its end.
//   It writes that block alone. Blocks are never folded nor emptied: the next thread with the
//   number counts on.
//
// The last block is shared: threads beyond the blocks, signal handlers that interrupt a change of
// their own thread, changes inside an update function, and threads that are at their very end add
// to it atomically; with blocks of processors only threads that cannot use sequences, or are always
// interrupted. Nothing waits and nothing is lost; a reader then says that the row of a block set is
// exact counter by counter only.
//
// Thread safety  Any thread and any signal handler may call any function of the writers, except
//                that update() must not be left by longjmp.
// Errors         None. A position outside the block and a handle to a counter of another form are
//                ignored.
// Progress       Wait-free where the thread or processor has a block, else lock-free. Nothing
//                blocks, throws or allocates; a thread's first count asks the C library to report
//                the thread's end, and ShardedInstance::close() takes the provider's private mutex.
// Cost           Independent: one addition. Block: one commit. The shared block: one locked
//                addition for each word. bench/README.md has the figures.
// Lifetime       A handle may outlive its instance, and then counts into nothing.
// Units          Those of the counter: CounterSpec::unit.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "meterbank/publisher/instance.hpp"
#include "meterbank/publisher/restartable.hpp"

namespace meterbank {

namespace detail {

// The shard index of the calling thread, or the reason it has none. Only its own thread and the
// signal handlers that interrupt it touch it.
inline constexpr std::uint32_t kNoThreadNumber = 0xffffffff;  // not yet
inline constexpr std::uint32_t kThreadInside = 0xfffffffe;    // in the middle of a change
inline constexpr std::uint32_t kThreadShares = 0xfffffffd;    // none is free, or it is at its end
struct ThreadNumber {
  std::uint32_t usable = kNoThreadNumber;
};
inline thread_local constinit ThreadNumber thread_number{};
static_assert(std::is_trivially_destructible_v<ThreadNumber>);  // there to the very last

// Takes a number if the thread has none yet and there are sharded sets. False: it got none.
[[nodiscard]] bool take_thread_number() noexcept;

// One for each block of a slot, in process-private memory.
struct Shard {
  BlockWriter<StdAtomics> writer;
  SharedWord* slot = nullptr;
};
static_assert(sizeof(Shard) == 32);

// The blocks of one instance as its writers need them.
struct Shards {
  const Shard* first = nullptr;
  std::uint64_t live = 0;  // the slot word of the life that is written to
  std::uint32_t own = 0;   // of threads or processors; the shared one follows
  // If the blocks are of processors and their words are added to in place: how many these are, word
  // 0 of the first block, and how many bytes it is from there to the next block's.
  std::uint32_t in_place_words = 0;
  SharedWord* in_place = nullptr;
  std::uint64_t stride = 0;
  std::ptrdiff_t rseq = 0;  // rseq_area() if they are of processors, else 0

  [[nodiscard]] const Shard& shared() const noexcept { return first[own]; }
  // The first count of a life makes its shard seen. Idempotent, so it does not matter who comes
  // first to one that has several writers.
  void open(const Shard& shard) const noexcept {
    // relaxed: of an earlier life, or open.
    const std::uint64_t word = StdAtomics::load_relaxed(*shard.slot);
    if (word == live) [[likely]]
      return;
    // Shard 0 is open from the beginning; its word is the slot's and may say CLOSED by now, which
    // is not for us to change.
    const std::uint64_t generation = SlotWord::of(live).generation;
    if (SlotWord::of(word).generation != generation) {
      slot_live<StdAtomics>(*shard.slot, generation);
    }
  }
};
static_assert(sizeof(Shards) == 48);
[[nodiscard]] Shards scratch_shards() noexcept;

// relaxed, all in here: a shared counter stands for itself, it orders nothing.
inline void raise_to(SharedWord& word, std::uint64_t value) noexcept {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (seen < value && !word.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}
inline void lower_to(SharedWord& word, std::uint64_t value) noexcept {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (seen > value && !word.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

enum class ShardChange : std::uint32_t { kAdd, kRaise, kLower, kRecord };

inline void change_shared(SharedWord& word, ShardChange change, std::uint64_t value) noexcept {
  if (change == ShardChange::kAdd) {
    word.fetch_add(value, std::memory_order_relaxed);
  } else if (change == ShardChange::kRaise) {
    raise_to(word, value);
  } else {
    lower_to(word, value);
  }
}
[[nodiscard]] inline std::uint64_t changed(ShardChange change, std::uint64_t now,
                                           std::uint64_t value) noexcept {
  if (change == ShardChange::kAdd) return now + value;
  const bool is_better = change == ShardChange::kRaise ? value > now : value < now;
  return is_better ? value : now;
}
// What an update function asked for, until it is applied. Nothing here has a first value: a list of
// them is made for each update.
struct WaitingChange {
  std::uint32_t word;
  ShardChange change;
  std::uint64_t value;
  // kRecord: `value` is a double's bits, and goes into the distribution that begins with `word`.
  std::uint32_t more, buckets;
  std::int32_t scale, first_bucket;

  [[nodiscard]] DistributionPlace place() const noexcept {
    return {{scale, first_bucket, buckets}, word, more};
  }
};
static_assert(std::is_trivially_default_constructible_v<WaitingChange>);

// Where a thread may not, or not now, write a block of its own.
[[gnu::noinline, gnu::cold]] void change_shared_shard(const Shards& shards, std::uint32_t word,
                                                      ShardChange change,
                                                      std::uint64_t value) noexcept;
[[gnu::noinline, gnu::cold]] void change_shared_shard(const Shards& shards,
                                                      const WaitingChange* changes,
                                                      std::size_t count) noexcept;

// A commit on a processor rewrites the whole block, so wide blocks are better off with numbers.
inline constexpr std::uint32_t kProcessorWordsMax = 32;

// On the block of the processor, or, if that cannot be, in the shared one. Several changes are one
// commit of a block set. Lock-free; wait-free between interruptions.
[[gnu::noinline]] void change_on_processor(const Shards& shards, std::uint32_t word,
                                           ShardChange change, std::uint64_t value) noexcept;
[[gnu::noinline]] void change_on_processor(const Shards& shards, const WaitingChange* changes,
                                           std::size_t count) noexcept;

// Adds to a word below Shards::in_place_words, unless something comes in between.
[[nodiscard, gnu::always_inline]] inline bool add_in_place(const Shards& shards, std::uint64_t word,
                                                           std::uint64_t delta) noexcept {
  const std::uint64_t processor = processor_now(shards.rseq);
  if (static_cast<std::uint32_t>(processor) >= shards.own) [[unlikely]]
    return false;
  SharedWord* const words = reinterpret_cast<SharedWord*>(
      reinterpret_cast<std::byte*>(shards.in_place) + processor * shards.stride);
  // relaxed, as in Shards::open(), which is for the first one here: the slot word stands right
  // before the words.
  if (StdAtomics::load_relaxed(words[-1]) != shards.live) [[unlikely]]
    return false;
  return add_on(shards.rseq, processor, words[word], delta);
}

// For the time of a change its thread has no number, so that a handler which interrupts it does not
// become a second writer of the block.
//
//      thread                                      signal handler that interrupts it
//      usable := kThreadInside                     usable
// [X3] fence of the compiler       seq_cst         kThreadInside: shares
//      change, or taking a number
//      fence of the compiler, X3
//      usable := the number
//
//      X3 keeps the compiler from moving the change out of the time that a handler can tell.
class InsideShard {
 public:
  explicit InsideShard(std::uint32_t number) noexcept : number_(number) {
    thread_number.usable = kThreadInside;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // [X3] usable before the change
  }
  InsideShard(const InsideShard&) = delete;
  InsideShard& operator=(const InsideShard&) = delete;
  ~InsideShard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // [X3] the change before usable
    thread_number.usable = number_;
  }

 private:
  const std::uint32_t number_;
};

template <ShardChange kChange>
inline void change_one(const Shards& shards, std::uint32_t word, std::uint64_t value) noexcept {
  if (shards.rseq != 0) {
    if constexpr (kChange == ShardChange::kAdd) {
      if (word < shards.in_place_words && add_in_place(shards, word, value)) [[likely]]
        return;
    }
    return change_on_processor(shards, word, kChange, value);
  }
  std::uint32_t number = thread_number.usable;
  if (number >= shards.own) [[unlikely]] {
    if (number != kNoThreadNumber || !take_thread_number() || thread_number.usable >= shards.own) {
      return change_shared_shard(shards, word, kChange, value);
    }
    number = thread_number.usable;
  }
  const Shard& shard = shards.first[number];
  const BlockWriter<StdAtomics>& writer = shard.writer;
  if (writer.is_in_place(word)) {
    shards.open(shard);
    // A handler may count in between: the addition is one instruction, the others are exchanges.
    if constexpr (kChange == ShardChange::kAdd) {
      StdAtomics::add_single_writer(writer.word(word), value);
    } else {
      change_shared(writer.word(word), kChange, value);
    }
  } else if (word < writer.words()) {
    const InsideShard inside(number);
    shards.open(shard);
    const std::uint64_t now = writer.value(word);
    const std::uint64_t next = changed(kChange, now, value);
    if (kChange == ShardChange::kAdd || next != now) writer.set(word, next);
  }
}

}  // namespace detail

// The right to count one counter.
class ShardedCounter {
 public:
  ShardedCounter() noexcept : shards_(detail::scratch_shards()) {}

  // Wait-free where the thread or processor has a block: one addition (independent) or one commit
  // (block).
  void add(std::uint64_t delta) noexcept {
    // Without the questions that change_one() asks about the word.
    if (shards_.in_place != nullptr) [[likely]] {
      if (detail::add_in_place(shards_, word_, delta)) [[likely]]
        return;
      return detail::change_on_processor(shards_, word(), detail::ShardChange::kAdd, delta);
    }
    detail::change_one<detail::ShardChange::kAdd>(shards_, word(), delta);
  }
  void increment() noexcept { add(1); }
  void raise(std::uint64_t value) noexcept {
    detail::change_one<detail::ShardChange::kRaise>(shards_, word(), value);
  }
  void lower(std::uint64_t value) noexcept {
    detail::change_one<detail::ShardChange::kLower>(shards_, word(), value);
  }

 private:
  friend class ShardedWriter;
  ShardedCounter(const detail::Shards& shards, std::uint32_t word,
                 const detail::SlotReference& slot) noexcept
      : shards_(shards), word_(word), slot_(slot) {}
  [[nodiscard]] std::uint32_t word() const noexcept { return static_cast<std::uint32_t>(word_); }

  detail::Shards shards_;
  std::uint64_t word_ = 0;
  detail::SlotReference slot_;
};

class ShardedRecorder;

// What an update function of a sharded instance changes. What a counter is at cannot be asked: a
// thread has its own share only.
class ShardValues {
 public:
  // A position outside the block is ignored. The words of distributions lie behind those of the
  // counters and must not be changed by position.
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    change(position_of(counter), detail::ShardChange::kAdd, delta);
  }
  template <CounterName C>
  void increment(C counter) noexcept {
    add(counter, 1);
  }
  template <CounterName C>
  void raise(C counter, std::uint64_t value) noexcept {
    change(position_of(counter), detail::ShardChange::kRaise, value);
  }
  template <CounterName C>
  void lower(C counter, std::uint64_t value) noexcept {
    change(position_of(counter), detail::ShardChange::kLower, value);
  }
  // In a distribution of this instance, see sharded_recorder.hpp. The commit rewrites all words
  // from the first to the last that changed, but for those of a few recorded values, which it
  // rewrites alone.
  void record(const ShardedRecorder& recorder, double value) noexcept;

 private:
  friend class ShardedWriter;
  enum class Into : std::uint32_t { kCommit, kInPlace, kShared, kProcessor, kProcessorInPlace };
  ShardValues(const detail::Shards& shards, const BlockWriter<StdAtomics>& writer,
              Into into) noexcept
      : update_(writer), writer_(writer), shards_(shards), into_(into) {}

  void change(std::uint32_t word, detail::ShardChange change, std::uint64_t value) noexcept {
    if (into_ == Into::kCommit) {
      update_.set(word, detail::changed(change, update_.value(word), value));
    } else if (word < writer_.words()) {
      change_now_or_later(word, change, value);
    }
  }
  void change_now_or_later(std::uint32_t word, detail::ShardChange change,
                           std::uint64_t value) noexcept {
    if (waits()) {
      // One by one: a compiler that has the parts elsewhere would load them as a whole.
      detail::WaitingChange& waiting = later();
      waiting.word = word;
      waiting.change = change;
      waiting.value = value;
    } else if (into_ == Into::kProcessorInPlace) {
      detail::change_on_processor(shards_, word, change, value);
    } else if (change == detail::ShardChange::kAdd) {
      StdAtomics::add_single_writer(writer_.word(word), value);
    } else {
      detail::change_shared(writer_.word(word), change, value);
    }
  }
  [[nodiscard]] bool waits() const noexcept {
    return into_ == Into::kShared || into_ == Into::kProcessor;
  }
  [[nodiscard]] detail::WaitingChange& later() noexcept {
    if (waiting_ == kWaitingMax) share();
    return list_[waiting_++];
  }
  void share() noexcept {
    into_ = Into::kShared;
    apply();
  }
  void apply() noexcept {
    if (into_ == Into::kProcessor) {
      detail::change_on_processor(shards_, list_.data(), waiting_);
    } else {
      detail::change_shared_shard(shards_, list_.data(), waiting_);
    }
    waiting_ = 0;
  }

  // Kept back, so that a function that throws has published nothing, and so that it runs once
  // however often its commit is interrupted.
  static constexpr std::uint32_t kWaitingMax = 32;

  BlockWriter<StdAtomics>::SparseUpdate update_;
  const BlockWriter<StdAtomics> writer_;
  const detail::Shards& shards_;
  Into into_;
  std::uint32_t waiting_ = 0;
  // Not initialised: most updates of threads' blocks need none of it.
  std::array<detail::WaitingChange, kWaitingMax> list_;
};

// The right to count one sharded instance, without the duty to close it.
class ShardedWriter {
 public:
  ShardedWriter() noexcept : shards_(detail::scratch_shards()) {}

  // One counter. A position outside the block is ignored. raise() and lower() are for counters
  // whose shards are joined by their maximum and minimum, add() is for the others.
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    detail::change_one<detail::ShardChange::kAdd>(shards_, position_of(counter), delta);
  }
  template <CounterName C>
  void increment(C counter) noexcept {
    add(counter, 1);
  }
  template <CounterName C>
  void raise(C counter, std::uint64_t value) noexcept {
    detail::change_one<detail::ShardChange::kRaise>(shards_, position_of(counter), value);
  }
  template <CounterName C>
  void lower(C counter, std::uint64_t value) noexcept {
    detail::change_one<detail::ShardChange::kLower>(shards_, position_of(counter), value);
  }

  // Of a distribution, see sharded_recorder.hpp. A counter of another form gives one that counts
  // into nothing.
  template <CounterName C>
  [[nodiscard]] ShardedRecorder recorder(C name) const noexcept;

  // Several counters, one commit: update([](ShardValues& values) { values.add(...); ... }). Of a
  // block set readers see all of it or none of it, except where the thread has to share: then each
  // counter changes by itself. If the function throws, nothing was published; exceptions are
  // independent sets, and functions that make more than 32 changes where these go to the shared
  // shard, as on processors they then do. What the function itself counts in sharded block sets
  // goes to their shared shards, unless the blocks are of processors.
  // It must not be left by longjmp.
  template <typename F>
  void update(F&& change) {
    using Into = ShardValues::Into;
    if (shards_.rseq != 0) {
      const auto& shared = shards_.shared().writer;
      return run(shared, shared.is_in_place(0) ? Into::kProcessorInPlace : Into::kProcessor,
                 std::forward<F>(change));
    }
    std::uint32_t number = detail::thread_number.usable;
    if (number >= shards_.own) [[unlikely]] {
      if (detail::take_thread_number()) number = detail::thread_number.usable;
    }
    const bool is_own = number < shards_.own;
    const detail::Shard& shard = is_own ? shards_.first[number] : shards_.shared();
    shards_.open(shard);
    if (is_own && !shard.writer.is_in_place(0)) {
      const detail::InsideShard inside(number);
      return commit(shard.writer, std::forward<F>(change));
    }
    run(shard.writer, is_own ? Into::kInPlace : Into::kShared, std::forward<F>(change));
  }

  template <CounterName C>
  [[nodiscard]] ShardedCounter counter(C name) const noexcept {
    const std::uint32_t word = position_of(name);
    if (word >= shards_.first->writer.words()) return {};
    return {shards_, word, slot_};
  }

 protected:
  friend class Registration;
  ShardedWriter(const detail::Shards& shards, const detail::SlotReference& slot) noexcept
      : shards_(shards), slot_(slot) {}

  template <typename F>
  void run(const BlockWriter<StdAtomics>& writer, ShardValues::Into into, F&& change) const {
    ShardValues values(shards_, writer, into);
    change(values);
    values.apply();
  }
  template <typename F>
  void commit(const BlockWriter<StdAtomics>& writer, F&& change) const {
    ShardValues values(shards_, writer, ShardValues::Into::kCommit);
    if constexpr (std::is_nothrow_invocable_v<F&, ShardValues&>) {
      change(values);
    } else {
      struct AbortUnlessDone {
        ShardValues* values;
        ~AbortUnlessDone() {
          if (values != nullptr) values->update_.abort();
        }
      } guard{&values};
      change(values);
      guard.values = nullptr;
    }
    values.update_.commit();
  }

  detail::Shards shards_;
  detail::SlotReference slot_;
};

// Owns one sharded instance: closes it when it goes out of scope. Its last values stay readable
// until the slot is needed again. A default-constructed one counts into nothing.
class ShardedInstance : public ShardedWriter {
 public:
  ShardedInstance() noexcept = default;
  ShardedInstance(ShardedInstance&& other) noexcept
      : ShardedWriter(std::exchange(other.base(), {})) {}
  ShardedInstance& operator=(ShardedInstance&& other) noexcept {
    if (this != &other) {
      close();
      base() = std::exchange(other.base(), {});
    }
    return *this;
  }
  ~ShardedInstance() { end(); }  // as ~Instance()

  // Not wait-free: takes the provider's private mutex. Later calls do nothing.
  void close() noexcept {
    end();
    base() = ShardedWriter();
  }
  // Unique among the live instances of the registration; 0xffffffff: it counts into nothing.
  [[nodiscard]] std::uint32_t id() const noexcept;

 private:
  friend class Registration;
  explicit ShardedInstance(const ShardedWriter& writer) noexcept : ShardedWriter(writer) {}
  void end() const noexcept;
  [[nodiscard]] ShardedWriter& base() noexcept { return *this; }
};

}  // namespace meterbank
