// SPDX-License-Identifier: Apache-2.0
#include "agent/counts/view_counts.hpp"

#include "agent_rows.hpp"

namespace meterbank::agent {
namespace {

double seconds_of(std::uint64_t duration_ns) noexcept {
  constexpr double kNsPerSecond = 1e9;
  return static_cast<double>(duration_ns) / kNsPerSecond;
}

}  // namespace

struct ViewCounts::Set {
  explicit Set(Provider& own) {
    if (auto added = ::agent::AgentView::add(own)) set = std::move(*added);
    if (auto created = set.create()) row = std::move(*created);
  }

  ::agent::AgentView set;
  ::agent::AgentViewInstance row;
};

ViewCounts::ViewCounts(Provider& own) : set_(std::make_unique<Set>(own)) {}
ViewCounts::~ViewCounts() = default;

void ViewCounts::sample_taken(std::uint64_t duration_ns) noexcept {
  set_->row.record_sampling(seconds_of(duration_ns));
}

void ViewCounts::picture_made(std::uint64_t duration_ns) noexcept {
  set_->row.record_drawing(seconds_of(duration_ns));
}

}  // namespace meterbank::agent
