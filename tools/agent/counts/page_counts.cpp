// SPDX-License-Identifier: Apache-2.0
#include "agent/counts/page_counts.hpp"

#include "agent_rows.hpp"

namespace meterbank::agent {

using ::agent::AgentExporter;
using ::agent::AgentExporterInstance;
using ::agent::AgentExporterUpdate;
using ::agent::AgentSnapshots;
using ::agent::AgentSnapshotsInstance;
using ::agent::AgentSnapshotsUpdate;

struct PageCounts::Sets {
  explicit Sets(Provider& own) {
    if (auto added = AgentExporter::add(own)) exporter = std::move(*added);
    if (auto added = AgentSnapshots::add(own)) snapshots = std::move(*added);
    if (auto created = exporter.create()) pages = std::move(*created);
    if (auto created = snapshots.create()) taken = std::move(*created);
  }

  AgentExporter exporter;
  AgentSnapshots snapshots;
  AgentExporterInstance pages;
  AgentSnapshotsInstance taken;
};

PageCounts::PageCounts(Provider& own) : sets_(std::make_unique<Sets>(own)) {}
PageCounts::~PageCounts() = default;

void PageCounts::page_begun() noexcept {
  sets_->pages.update([](AgentExporterUpdate& row) noexcept {
    row.add_pages(1U);
    row.add_pages_open(1U);
  });
}

void PageCounts::sent(std::size_t bytes) noexcept { sets_->pages.add_sent(std::uint64_t{bytes}); }

void PageCounts::page_ended(std::uint64_t page_bytes, bool was_broken_off) noexcept {
  if (page_bytes > largest_page_) largest_page_ = page_bytes;
  const std::uint64_t largest = largest_page_;
  sets_->pages.update([=](AgentExporterUpdate& row) noexcept {
    row.subtract_pages_open(1U);
    row.add_broken_off(was_broken_off ? 1U : 0U);
    row.set_largest_page(largest);
  });
}

void PageCounts::refused() noexcept { sets_->pages.add_refused(1U); }

void PageCounts::overloaded() noexcept { sets_->pages.add_overloaded(1U); }

void PageCounts::snapshot_taken(std::uint64_t duration_ns, std::size_t requests) noexcept {
  constexpr double kNsPerSecond = 1e9;
  sets_->taken.update([=](AgentSnapshotsUpdate& row) noexcept {
    row.record_duration(static_cast<double>(duration_ns) / kNsPerSecond);
    row.add_requests(std::uint64_t{requests});
  });
}

}  // namespace meterbank::agent
