// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of all providers. Keeps its catalog, query and layout from one to the next, so
// that a snapshot costs the copy of the values and what changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exposition/snapshot/about_providers.hpp"
#include "exposition/snapshot/snapshot.hpp"
#include "exposition/snapshot/spare_snapshot.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank::exposition {

struct SnapshotOptions {
  CatalogOptions catalog = {};
  std::vector<std::string> patterns = {};  // counter paths; empty: all that are shown by default
  MetricNames names = {};
  // How long to wait for rows that providers compute on demand.
  std::chrono::milliseconds timeout{500};
};

// Thread safety  One thread at a time.
// Errors         open(): a directory, a pattern, memory. take() throws std::bad_alloc; the next
// call
//                tries again.
// Progress       take() waits for providers that compute rows, at most `timeout`.
class Snapshots {
 public:
  static Result<Snapshots> open(SnapshotOptions options);

  [[nodiscard]] std::shared_ptr<const Snapshot> take();

 private:
  Snapshots(SnapshotOptions options, Catalog catalog, Query query);
  [[nodiscard]] std::vector<PlainFamily> about_snapshot(const Snapshot& snapshot,
                                                        const CollectSummary& summary,
                                                        std::uint64_t skew_ns) const;

  SnapshotOptions options_;
  Catalog catalog_;
  Query query_;
  AboutProviders about_providers_;
  StartTimes starts_;
  std::shared_ptr<SpareSnapshot> spare_;
  std::shared_ptr<const PageLayout> layout_;
  std::uint64_t last_look_ns_ = 0;
};

}  // namespace meterbank::exposition
