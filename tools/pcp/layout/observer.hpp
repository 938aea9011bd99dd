// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of all providers for PCP. Keeps its catalog, query and layout from one to the
// next, so that a snapshot costs the copy of the values and what changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"
#include "pcp/layout/layout_maker.hpp"
#include "pcp/layout/recent_window.hpp"

namespace meterbank::pcp {

struct ObserverOptions {
  CatalogOptions catalog = {};
  std::vector<std::string> patterns = {};  // counter paths; empty: all that are shown by default
  int domain = 0;
  // How long to wait for rows that providers compute on demand.
  std::chrono::milliseconds timeout{500};
};

// Thread safety  One thread at a time.
// Errors         open(): a directory, a pattern, memory. look() throws std::bad_alloc; the next
//                call tries again.
// Progress       look() waits for providers that compute rows, at most `timeout`.
class Observer {
 public:
  static Result<Observer> open(ObserverOptions options);

  // Takes a snapshot: values and layout are of this moment.
  void look(const Timestamp& now = Timestamp::now());
  // The same for names and descriptions, for which a snapshot of the last `kFreshNs` is enough.
  void look_for_names();
  // What changed since the last call: PMCD_NAMES_CHANGE, PMCD_LABEL_CHANGE.
  [[nodiscard]] unsigned take_changes() noexcept { return std::exchange(changes_, 0U); }

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] const Sample& sample() const noexcept { return sample_; }
  [[nodiscard]] const RecentWindow& window() const noexcept { return window_; }

 private:
  static constexpr std::uint64_t kFreshNs = 1'000'000'000;

  Observer(ObserverOptions options, Catalog catalog, Query query);
  void make_layout();

  ObserverOptions options_;
  Catalog catalog_;
  Query query_;
  LayoutMaker maker_;
  Sample sample_;
  Layout layout_;
  RecentWindow window_;
  std::uint64_t last_look_ns_ = 0;  // CLOCK_MONOTONIC; 0: none yet
  std::uint64_t version_ = 0;       // of the catalog, when the layout was made
  unsigned changes_ = 0;
};

}  // namespace meterbank::pcp
