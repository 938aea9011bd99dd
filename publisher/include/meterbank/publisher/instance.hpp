// SPDX-License-Identifier: Apache-2.0
//
// Publishing values: what a service calls in its hot path.
//
// Thread safety  Of a block set, one thread at a time per instance; of an independent set, one
//                thread at a time per counter, and any thread with add_from_any_thread(). A signal
//                handler may add to an independent counter that it interrupted; it must not write
//                to the block that its thread is writing to.
// Errors         None. A position outside the block and a handle to a counter of another form are
//                ignored. errno is never touched.
// Progress       Wait-free: nothing blocks, throws, allocates, locks or calls the kernel, except
//                Instance::close(), which may wait for the provider's private mutex.
// Cost           Independent: one store for each change. Block: one commit, four stores and two for
//                each further word. bench/README.md has the figures.
// Lifetime       A handle may outlive its instance, registration and provider: it then counts into
//                memory that no reader maps. So does a handle in the child of a fork.
// Units          Those of the counter: CounterSpec::unit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "meterbank/publisher/counter_position.hpp"
#include "meterbank/shm/block.hpp"
#include "meterbank/shm/distribution.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

namespace detail {

struct SlotLife;

// Keeps a slot from being given to another instance while a handle can still write to it. There is
// no move: a handle that was moved from knows where to write as before, so it keeps the slot, too.
class SlotReference {
 public:
  SlotReference() noexcept = default;
  explicit SlotReference(SlotLife& life) noexcept;  // which is already held, or found under lock
  SlotReference(const SlotReference& other) noexcept;
  SlotReference& operator=(SlotReference other) noexcept {
    std::swap(life_, other.life_);
    return *this;
  }
  ~SlotReference() {
    if (life_ != nullptr) release();
  }

  [[nodiscard]] SlotLife* life() const noexcept { return life_; }

 private:
  void release() noexcept;

  SlotLife* life_ = nullptr;
};

// A block that no reader maps. Handles without an instance count there.
[[nodiscard]] BlockWriter<StdAtomics> scratch_writer() noexcept;

}  // namespace detail

// The right to count one counter, for code that wants one pointer and nothing else.
class Counter {
 public:
  Counter() noexcept : writer_(detail::scratch_writer()) {}

  void add(std::uint64_t delta) noexcept {
    if (writer_.is_in_place(index_)) {
      StdAtomics::add_single_writer(writer_.word(index_), delta);
    } else {
      writer_.add(index_, delta);
    }
  }
  void increment() noexcept { add(1); }
  // Thread safety: any thread, on a counter of an independent set. Cost: one locked addition. Does
  // nothing to a counter of a block set, whose words only a commit may change.
  void add_from_any_thread(std::uint64_t delta) noexcept {
    if (!writer_.is_in_place(index_)) return;
    writer_.word(index_).fetch_add(delta, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
  void set(std::uint64_t value) noexcept {
    if (writer_.is_in_place(index_)) {
      StdAtomics::store_relaxed(writer_.word(index_), value);  // relaxed: it orders nothing
    } else {
      writer_.set(index_, value);
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return writer_.value(index_); }

 private:
  friend class InstanceWriter;
  Counter(const BlockWriter<StdAtomics>& writer, std::uint32_t index,
          const detail::SlotReference& slot) noexcept
      : writer_(writer), slot_(slot), index_(index) {}

  BlockWriter<StdAtomics> writer_;
  detail::SlotReference slot_;
  std::uint32_t index_ = 0;
};

// Where the words of a counter that has more than a number lie; see schema_layout.hpp.
struct CounterPlace {
  bool known = false;  // false: of no counter
  ValueForm form = ValueForm::kUnsigned;
  bool timed = false;
  std::uint32_t own = 0;   // its first word
  std::uint32_t more = 0;  // the others, in a row: buckets or text, then the time
  std::uint32_t more_words = 0;
  DistributionShape shape;
};

namespace detail {
// As the schema has it. Not for the hot path: it looks through the counters.
[[nodiscard]] CounterPlace place_of(const SlotLife* life, std::uint32_t counter) noexcept;
}  // namespace detail

class Recorder;
class Gauge;
class TextCounter;

// What an update function writes to. In a block set nothing of it is visible before the function
// returns; an independent set changes at once, and add() is a load and a store there, so what a
// signal handler adds to the same counter in between is lost.
class Values {
 public:
  // A position outside the block is ignored, and reads as zero. Distributions, texts and timed
  // values have their words, and a stamped set its time, behind those of the counters: such words
  // are for the functions below and must not be set by position.
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    set(counter, value(counter) + delta);
  }
  template <CounterName C>
  void set(C counter, std::uint64_t value) noexcept {
    update_.set(position_of(counter), value);
  }
  template <CounterName C>
  [[nodiscard]] std::uint64_t value(C counter) const noexcept {
    return update_.value(position_of(counter));
  }
  // The same through handles, for what is more than a number; see value_handles.hpp. The handle
  // must belong to an instance of the same set. The commit rewrites all words from the first to the
  // last that changed, but for those of a few recorded values, which it rewrites alone.
  void record(const Recorder& recorder, double value) noexcept;
  void set(const Gauge& gauge, double value) noexcept;
  void set_signed(const Gauge& gauge, std::int64_t value) noexcept;
  void set_unsigned(const Gauge& gauge, std::uint64_t value) noexcept;
  void set(const TextCounter& counter, std::string_view text) noexcept;
  // For stamped sets only: CLOCK_MONOTONIC nanoseconds at which the values were true. In a set that
  // is not stamped it would change the last word of the block.
  void stamp(std::uint64_t monotonic_ns) noexcept { update_.set(stamp_, monotonic_ns); }

 private:
  friend class InstanceWriter;
  void set_gauge(const CounterPlace& place, std::uint64_t bits) noexcept;
  explicit Values(const BlockWriter<StdAtomics>& writer) noexcept
      : update_(writer), stamp_(writer.words() - 1) {}

  BlockWriter<StdAtomics>::SparseUpdate update_;
  std::uint32_t stamp_;  // position of the time stamp
};

// The right to publish one instance's values, without the duty to close it. 32 bytes: a service
// holds one for each instance, and reads it at each count.
class alignas(32) InstanceWriter {
 public:
  InstanceWriter() noexcept : writer_(detail::scratch_writer()) {}

  // One counter, one commit. A position outside the block is ignored; see Values for those that are
  // not counters.
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    const std::uint32_t word = position_of(counter);
    if (writer_.is_in_place(word)) {
      StdAtomics::add_single_writer(writer_.word(word), delta);
    } else {
      writer_.add(word, delta);
    }
  }
  template <CounterName C>
  void set(C counter, std::uint64_t value) noexcept {
    const std::uint32_t word = position_of(counter);
    if (writer_.is_in_place(word)) {
      StdAtomics::store_relaxed(writer_.word(word), value);  // relaxed: it orders nothing
    } else {
      writer_.set(word, value);
    }
  }
  template <CounterName C>
  [[nodiscard]] std::uint64_t value(C counter) const noexcept {
    const std::uint32_t word = position_of(counter);
    return word < writer_.words() ? writer_.value(word) : 0;
  }

  // The words of an independent instance, for code that stores to them itself; none of a block
  // instance, which nothing but a commit may change. They are the instance's while it is open.
  [[nodiscard]] std::span<SharedWord> words_in_place() const noexcept {
    if (!writer_.is_in_place(0)) return {};
    return {&writer_.word(0), writer_.words()};
  }

  // Several counters, one commit: update([](Values& values) { values.add(...); ... }). Readers of a
  // block set see all of the changes or none; if the function throws, nothing is published. An
  // independent set has no commit: each change is visible at once, and stays if the function
  // throws later.
  // The function must write to this instance through `values` only, must not close or destroy it,
  // and must not be left by longjmp.
  template <typename F>
  void update(F&& change) {
    Values values(writer_);
    if constexpr (std::is_nothrow_invocable_v<F&, Values&>) {
      change(values);
    } else {
      struct AbortUnlessDone {
        Values* values;
        ~AbortUnlessDone() {
          if (values != nullptr) values->update_.abort();
        }
      } guard{&values};
      change(values);
      guard.values = nullptr;
    }
    if (!values.update_.is_in_place()) values.update_.commit();
  }

  template <CounterName C>
  [[nodiscard]] Counter counter(C name) const noexcept {
    const std::uint32_t word = position_of(name);
    if (word >= writer_.words()) return {};
    return {writer_, word, slot_};
  }
  // Handles for what is more than a number, see value_handles.hpp. A counter of another form gives
  // one that counts into nothing.
  template <CounterName C>
  [[nodiscard]] Recorder recorder(C name) const noexcept;
  template <CounterName C>
  [[nodiscard]] Gauge gauge(C name) const noexcept;
  template <CounterName C>
  [[nodiscard]] TextCounter text(C name) const noexcept;

 protected:
  friend class Registration;
  InstanceWriter(const BlockWriter<StdAtomics>& writer, const detail::SlotReference& slot) noexcept
      : writer_(writer), slot_(slot) {}

  BlockWriter<StdAtomics> writer_;
  detail::SlotReference slot_;
};

// Owns one instance: closes it when it goes out of scope. Its last values stay readable until the
// slot is needed again. A default-constructed instance counts into nothing.
class Instance : public InstanceWriter {
 public:
  Instance() noexcept = default;
  Instance(Instance&& other) noexcept : InstanceWriter(std::exchange(other.base(), {})) {}
  Instance& operator=(Instance&& other) noexcept {
    if (this != &other) {
      close();
      base() = std::exchange(other.base(), {});
    }
    return *this;
  }
  // Other threads may still count through a static instance while exit() destroys it. So the
  // destructor leaves its members as they are, and the memory that they point to stays mapped.
  ~Instance() { end(); }

  // Idempotent. Progress: waits for the provider's private mutex.
  void close() noexcept {
    end();
    base() = InstanceWriter();
  }
  // Unique among the live instances of the registration; 0xffffffff for an instance that counts
  // into nothing.
  [[nodiscard]] std::uint32_t id() const noexcept;

 private:
  friend class Registration;
  explicit Instance(const InstanceWriter& writer) noexcept : InstanceWriter(writer) {}
  void end() const noexcept;
  [[nodiscard]] InstanceWriter& base() noexcept { return *this; }
};
static_assert(sizeof(Instance) == 32);

}  // namespace meterbank
