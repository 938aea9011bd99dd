// SPDX-License-Identifier: Apache-2.0
//
// How many connections are interested in a registration, and in each of its counters.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::detail {

// Bit x of word x / 64: the counter with id x. All ones in a single word: every id.
[[nodiscard]] constexpr bool is_in_mask(std::span<const std::uint64_t> mask,
                                        std::uint32_t id) noexcept {
  if (mask.size() == 1 && mask[0] == ~std::uint64_t{0}) return true;
  return id / 64 < mask.size() && (mask[id / 64] >> id % 64 & 1) != 0;
}

class InterestCounts {
 public:
  // `readers` lies in the segment, where listings see it. `ids`: one a counter.
  InterestCounts(SharedWord& readers, std::vector<std::uint32_t> ids)
      : readers_(readers),
        ids_(std::move(ids)),
        counters_(std::make_unique<std::atomic<std::uint32_t>[]>(ids_.size())) {}

  // Thread safety: one thread at a time may call these two.
  void add(std::span<const std::uint64_t> mask) noexcept { change(mask, 1); }
  void remove(std::span<const std::uint64_t> mask) noexcept {
    change(mask, static_cast<std::uint32_t>(-1));
  }
  void clear() noexcept {
    readers_.store(0, std::memory_order_relaxed);  // relaxed: hints, order nothing
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      counters_[i].store(0, std::memory_order_relaxed);  // relaxed: as above
    }
  }

  [[nodiscard]] const SharedWord& readers() const noexcept { return readers_; }
  [[nodiscard]] const std::atomic<std::uint32_t>* counters() const noexcept {
    return counters_.get();
  }
  [[nodiscard]] std::uint32_t positions() const noexcept {
    return static_cast<std::uint32_t>(ids_.size());
  }

 private:
  void change(std::span<const std::uint64_t> mask, std::uint32_t by) noexcept {
    // relaxed, both: hints, order nothing. Unsigned, so that adding "minus one" subtracts.
    readers_.fetch_add(static_cast<std::uint64_t>(static_cast<std::int32_t>(by)),
                       std::memory_order_relaxed);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (is_in_mask(mask, ids_[i])) counters_[i].fetch_add(by, std::memory_order_relaxed);
    }
  }

  SharedWord& readers_;
  const std::vector<std::uint32_t> ids_;
  const std::unique_ptr<std::atomic<std::uint32_t>[]> counters_;
};

}  // namespace meterbank::detail
