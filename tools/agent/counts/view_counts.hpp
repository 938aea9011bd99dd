// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::agent {

// What the agent counts of its page for browsers. Called by the thread that makes pictures.
class ViewCounts {
 public:
  explicit ViewCounts(Provider& own);
  ~ViewCounts();
  ViewCounts(const ViewCounts&) = delete;
  ViewCounts& operator=(const ViewCounts&) = delete;

  void sample_taken(std::uint64_t duration_ns) noexcept;
  void picture_made(std::uint64_t duration_ns) noexcept;

 private:
  struct Set;
  std::unique_ptr<Set> set_;
};

}  // namespace meterbank::agent
