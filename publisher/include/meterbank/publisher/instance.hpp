// SPDX-License-Identifier: Apache-2.0
//
// Publishing values: what a service calls in its hot path.
//
// Nothing here fails, blocks, throws, allocates, locks or calls the kernel. A handle that outlives
// its instance, registration or provider keeps counting into memory that nobody reads; so does one
// in the child of a fork. errno is never touched.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "meterbank/shm/block.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

namespace detail {

struct OwnedRegistration;
struct SlotLife;

// Keeps a slot from being given to another instance while somebody can still write to it.
class SlotReference {
 public:
  SlotReference() noexcept = default;
  SlotReference(std::shared_ptr<OwnedRegistration> registration, SlotLife* life) noexcept;
  SlotReference(const SlotReference& other) noexcept;
  SlotReference(SlotReference&& other) noexcept
      : registration_(std::move(other.registration_)), life_(std::exchange(other.life_, nullptr)) {}
  SlotReference& operator=(SlotReference other) noexcept {
    std::swap(registration_, other.registration_);
    std::swap(life_, other.life_);
    return *this;
  }
  ~SlotReference();

  [[nodiscard]] SlotLife* life() const noexcept { return life_; }
  [[nodiscard]] OwnedRegistration* registration() const noexcept { return registration_.get(); }

 private:
  std::shared_ptr<OwnedRegistration> registration_;
  SlotLife* life_ = nullptr;
};

// A block that nobody reads: where handles without an instance count.
[[nodiscard]] BlockParts<SharedWord> scratch_block() noexcept;

}  // namespace detail

// A counter is named by its position in the schema; an enum class of the positions reads best.
template <typename T>
concept CounterName = std::is_enum_v<T> || std::is_integral_v<T>;

// The right to count one counter, for code that wants one pointer and nothing else.
// Company: add() and set() one thread per instance of a block set, or per counter of an independent
// set. Signals: on an independent set a handler may add to what it interrupted; nothing is lost. On
// a block set a handler must not write to the block that its thread is writing to.
class Counter {
 public:
  Counter() noexcept : word_(detail::scratch_block().copy0) {}

  // Wait-free: one store (independent) or one commit (block).
  void add(std::uint64_t delta) noexcept {
    if (writer_.is_bound()) {
      writer_.add(index_, delta);
    } else {
      StdAtomics::add_single_writer(*word_, delta);
    }
  }
  void increment() noexcept { add(1); }
  // For a counter of an independent set that several threads write: wait-free, a locked add.
  void add_from_any_thread(std::uint64_t delta) noexcept {
    word_->fetch_add(delta, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
  void set(std::uint64_t value) noexcept {
    if (writer_.is_bound()) {
      writer_.set(index_, value);
    } else {
      StdAtomics::store_relaxed(*word_, value);  // relaxed: it orders nothing
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return StdAtomics::load_relaxed(*word_);  // relaxed: own last store
  }

 private:
  friend class InstanceWriter;
  Counter(detail::SlotReference slot, SharedWord* word, std::uint32_t index,
          const BlockWriter<StdAtomics>* writer) noexcept
      : word_(word), index_(index), slot_(std::move(slot)) {
    if (writer != nullptr) writer_ = *writer;
  }

  SharedWord* word_;
  std::uint32_t index_ = 0;
  BlockWriter<StdAtomics> writer_;  // unbound for an independent set
  detail::SlotReference slot_;
};

// What an update function writes to: nothing is visible before it returns.
class Values {
 public:
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    if (word < words_) writer_.stage(word, writer_.staged(word) + delta);
  }
  template <CounterName C>
  void set(C counter, std::uint64_t value) noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    if (word < words_) writer_.stage(word, value);
  }
  template <CounterName C>
  [[nodiscard]] std::uint64_t value(C counter) const noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    return word < words_ ? writer_.staged(word) : 0;
  }
  // Stamped sets: CLOCK_MONOTONIC nanoseconds at which the values were true.
  void stamp(std::uint64_t monotonic_ns) noexcept { writer_.stage(words_ - 1, monotonic_ns); }

 private:
  friend class InstanceWriter;
  Values(BlockWriter<StdAtomics>& writer, std::uint32_t words) noexcept
      : writer_(writer), words_(words) {}

  BlockWriter<StdAtomics>& writer_;
  std::uint32_t words_;
};

// The right to publish one instance's values, without the duty to close it.
// Company: one thread at a time (block), one thread a counter (independent).
class InstanceWriter {
 public:
  InstanceWriter() noexcept : InstanceWriter({}, detail::scratch_block(), Consistency::kBlock) {}

  // One counter, one commit. A position outside the schema is ignored.
  template <CounterName C>
  void add(C counter, std::uint64_t delta) noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    if (word >= words_) return;
    if (independent_) {
      StdAtomics::add_single_writer(copy0_[word], delta);
    } else {
      writer_.add(word, delta);
    }
  }
  template <CounterName C>
  void set(C counter, std::uint64_t value) noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    if (word >= words_) return;
    if (independent_) {
      StdAtomics::store_relaxed(copy0_[word], value);  // relaxed: it orders nothing
    } else {
      writer_.set(word, value);
    }
  }
  template <CounterName C>
  [[nodiscard]] std::uint64_t value(C counter) const noexcept {
    const auto word = static_cast<std::uint32_t>(counter);
    return word < words_ ? StdAtomics::load_relaxed(copy0_[word]) : 0;  // relaxed: own last store
  }

  // Several counters, one commit: update([](Values& values) { values.add(...); ... }). If the
  // function throws, nothing was published. Readers see all of it or none of it (block sets).
  template <typename F>
  void update(F&& change) {
    Values values(writer_, words_);
    if constexpr (std::is_nothrow_invocable_v<F&, Values&>) {
      change(values);
    } else {
      struct AbortUnlessDone {
        InstanceWriter* writer;
        ~AbortUnlessDone() {
          if (writer != nullptr && !writer->independent_) writer->writer_.abort();
        }
      } guard{this};
      change(values);
      guard.writer = nullptr;
    }
    if (!independent_) writer_.commit();
  }

  template <CounterName C>
  [[nodiscard]] Counter counter(C name) const noexcept {
    const auto word = static_cast<std::uint32_t>(name);
    if (word >= words_) return {};
    return {slot_, copy0_ + word, word, independent_ ? nullptr : &writer_};
  }

 protected:
  friend class Registration;
  InstanceWriter(detail::SlotReference slot, const BlockParts<SharedWord>& parts,
                 Consistency consistency) noexcept
      : writer_(parts),
        copy0_(parts.copy0),
        words_(parts.words),
        independent_(consistency == Consistency::kIndependent),
        slot_(std::move(slot)) {}

  BlockWriter<StdAtomics> writer_;
  SharedWord* copy0_;
  std::uint32_t words_;
  bool independent_;
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
  ~Instance() { close(); }

  // Not wait-free: takes the provider's private mutex. Later calls do nothing.
  void close() noexcept;
  // Unique in the life of the provider; 0xffffffff for an instance that counts into nothing.
  [[nodiscard]] std::uint32_t id() const noexcept;

 private:
  friend class Registration;
  explicit Instance(InstanceWriter writer) noexcept : InstanceWriter(std::move(writer)) {}
  [[nodiscard]] InstanceWriter& base() noexcept { return *this; }
};

}  // namespace meterbank
