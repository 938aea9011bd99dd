// SPDX-License-Identifier: Apache-2.0
//
// Small numbers that are taken and given back, by any thread, lowest free one first. Who holds a
// number may write to what belongs to it; the next holder goes on where the last one stopped.
//
//      last holder                                 next holder
//      its stores                  any             word := word with the bit   acquire   [X2]
// [X1] word := word less the bit   release         its loads and stores        any
//
//                                                  fence                       release   [X4]
//
//      X1 pairs with X2, also over changes of other bits in between: every change is a
//      read-modify-write, so what X1 released stays with the word.
//
// Progress   lock-free; nothing here waits, so a signal handler may interrupt it and take a number.
// Crash      The set is process-private and ends with its process.
// docs/protocol.md has the argument; tests/model runs this source.
#pragma once

#include <bit>
#include <cstdint>

namespace meterbank {

template <typename A, std::uint32_t kWords>
class IndexSet {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kBits = 64;

  // The lowest free number below the capacity, or kNone.
  [[nodiscard]] std::uint32_t take() noexcept {
    for (std::uint32_t at = 0; at < kWords; ++at) {
      std::uint64_t seen = A::load_relaxed(taken_[at]);  // relaxed: a guess, which [X2] confirms
      while (~seen != 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_one(seen));
        // [X2] pairs with [X1]. Without it the next holder could miss the last one's stores, and
        // would count on from an older value: what was counted in between is lost.
        if (A::exchange_acquire(taken_[at], seen, seen | std::uint64_t{1} << bit)) {
          // [X4] pairs with [R2]. Without it a reader could see the first word that the next holder
          // stores and not the last number that the one before did: [W4] is a fence of another
          // thread, and fences order stores of their own thread only.
          A::fence_release();
          return at * kBits + bit;
        }
      }
    }
    return kNone;
  }
  void give_back(std::uint32_t index) noexcept {
    // [X1] pairs with [X2]. Without it the number is seen as free before the holder's last stores.
    A::clear_bits_release(taken_[index / kBits], std::uint64_t{1} << index % kBits);
  }
  // In the child of a fork, which has one thread: the other holders are not there.
  void keep_only(std::uint32_t index) noexcept {
    for (std::uint32_t at = 0; at < kWords; ++at) {
      const bool is_here = index != kNone && index / kBits == at;
      // relaxed: one thread
      A::store_relaxed(taken_[at], is_here ? std::uint64_t{1} << index % kBits : 0);
    }
  }

 private:
  typename A::Word taken_[kWords] = {};
};

}  // namespace meterbank
