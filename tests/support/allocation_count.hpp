// SPDX-License-Identifier: Apache-2.0
//
// A program that links meterbank_allocation_count counts its allocations, so that a test or a
// benchmark can show that a stretch of code makes none, and can let allocations fail.
#pragma once

#include <cstddef>

namespace meterbank::test {

// By the calling thread, through operator new, since it started.
[[nodiscard]] std::size_t allocations_made() noexcept;

inline constexpr std::size_t kAllOthers = ~std::size_t{0};

// While it lives, allocations of the calling thread fail: `passing` succeed first, then `count`
// fail. One at a time in a thread.
class FailingAllocations {
 public:
  explicit FailingAllocations(std::size_t passing, std::size_t count = kAllOthers) noexcept;
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();

  // How many have failed.
  [[nodiscard]] std::size_t failed() const noexcept;
};

}  // namespace meterbank::test
