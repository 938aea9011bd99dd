// SPDX-License-Identifier: Apache-2.0
//
// What the agent counts of its pages and snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::agent {

class PageCounts {
 public:
  explicit PageCounts(Provider& own);
  ~PageCounts();
  PageCounts(const PageCounts&) = delete;
  PageCounts& operator=(const PageCounts&) = delete;

  // The thread of the HTTP server.
  void page_begun() noexcept;
  void sent(std::size_t bytes) noexcept;
  void page_ended(std::uint64_t page_bytes, bool was_broken_off) noexcept;
  void refused() noexcept;
  void overloaded() noexcept;
  // The thread that takes snapshots.
  void snapshot_taken(std::uint64_t duration_ns, std::size_t requests) noexcept;

 private:
  struct Sets;
  std::unique_ptr<Sets> sets_;
  std::uint64_t largest_page_ = 0;
};

}  // namespace meterbank::agent
