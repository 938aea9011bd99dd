// SPDX-License-Identifier: Apache-2.0
//
// What the agent counts of itself, as a provider like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace meterbank::agent {

class PageCounts {
 public:
  // Where there is no directory to publish in, the reason goes to standard error, and everything
  // counts into nothing.
  explicit PageCounts(const std::string& directory);
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
