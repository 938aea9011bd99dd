// SPDX-License-Identifier: Apache-2.0
//
// The ledger (lease_ledger.hpp) as a process sees it that was given its descriptor. Words come from
// another process: they are hints of a state that may have changed since.
//
// Thread safety  All member functions may be called concurrently.
// Errors         Reads stay within the memory that was mapped, whatever the bytes say.
// Progress       Everything but attach(), over() and wait() is wait-free, without system calls or
//                allocation.
// Cost           One load or a few; find_place() looks through all places.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/owner_mutex.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::pmu {

class LedgerView {
 public:
  // Errors: those of the attach gate; kNotASegment, kNewerLayout, kCorrupt.
  static Result<std::shared_ptr<const LedgerView>> attach(UniqueFd descriptor);
  // Of memory that the caller keeps, aligned to a cache line. Errors: the last three.
  static Result<std::shared_ptr<const LedgerView>> over(MappedBytes bytes);

  // Constant.
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t arbiter_pid() const noexcept { return arbiter_pid_; }
  [[nodiscard]] std::uint64_t start_ns() const noexcept { return start_ns_; }
  [[nodiscard]] const std::vector<LedgerPlace>& places() const noexcept { return places_; }
  [[nodiscard]] const LedgerPlace* find_place(std::string_view pmu,
                                              std::uint32_t cpu) const noexcept;
  [[nodiscard]] std::uint32_t slot_count() const noexcept { return slot_count_; }

  // 0, which says "free" and "not in use", beyond the slots and leases there are.
  [[nodiscard]] std::uint64_t slot_word(std::uint32_t position) const noexcept {
    // [L6] pairs with [L1]. Without it the word of the lease that is named may be
    // older than this one.
    return position < slot_count_ ? slots_[position].load(std::memory_order_acquire) : 0;
  }
  [[nodiscard]] std::uint64_t lease_word(std::uint32_t number) const noexcept {
    // [L6] pairs with [L1]. Without it slot words may be older than what this says of their lease.
    return number < kLedgerLeasesMax ? leases_[number].load(std::memory_order_acquire) : 0;
  }
  // Whether a value that was read before was counted for this lease. False while no arbiter is
  // there that could revoke the lease: nothing is known of one that has died or was replaced.
  [[nodiscard]] bool is_in_force(Token token) const noexcept {
    // [L5] Without it the words may be loaded before the value was, and be older than a revocation,
    // or a death, that came between.
    StdAtomics::fence_acquire();
    return epoch_of(token) == epoch_ && pmu::is_in_force(lease_word(lease_of(token)), token) &&
           !has_owner_died();
  }

  // Grows with every change of a word, and wraps around.
  [[nodiscard]] std::uint32_t changes() const noexcept {
    // [L7] pairs with [L2]. Without it a waiter sees the new count and old words,
    // and sleeps over the change.
    return header_->changes.load(std::memory_order_acquire);
  }
  // Sleeps until changes() is not `seen` any more, but no longer than `timeout`; a signal may end
  // it early. True: it is another.
  bool wait(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept;

  // kEnded if the word is not a valid state.
  [[nodiscard]] LedgerState state() const noexcept;
  // The arbiter died, says the kernel. A hostile arbiter can forge it.
  [[nodiscard]] bool has_owner_died() const noexcept {
    return meterbank::has_owner_died(header_->owner_mutex);
  }
  [[nodiscard]] std::uint64_t alive_ns() const noexcept {
    // [L3] relaxed: the time stands for itself, nothing is published by it.
    return header_->alive_ns.load(std::memory_order_relaxed);
  }
  // Since the arbiter last said that it lives; 0 for a time to come. `now_ns`: CLOCK_MONOTONIC.
  [[nodiscard]] std::uint64_t silent_ns(std::uint64_t now_ns) const noexcept {
    const std::uint64_t alive = alive_ns();
    return alive < now_ns ? now_ns - alive : 0;
  }

 private:
  explicit LedgerView(MappedExtent extent) noexcept : extent_(std::move(extent)) {}
  static Result<std::shared_ptr<const LedgerView>> checked(MappedExtent extent);
  [[nodiscard]] Result<void> find_parts();

  MappedExtent extent_;
  const LedgerHeader* header_ = nullptr;
  const SharedWord* slots_ = nullptr;
  const SharedWord* leases_ = nullptr;
  std::uint32_t slot_count_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint64_t arbiter_pid_ = 0;
  std::uint64_t start_ns_ = 0;
  std::vector<LedgerPlace> places_;
};

}  // namespace meterbank::pmu
