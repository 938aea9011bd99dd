// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "exposition/snapshot/snapshot.hpp"

namespace meterbank::exposition {

// One snapshot that its last page has given back, for its memory, which has the right size.
//
// Thread safety  All functions may be called concurrently.
class SpareSnapshot {
 public:
  // Snapshots come back when nothing refers to them any more, also after `from` has been let go.
  [[nodiscard]] static std::shared_ptr<Snapshot> take(const std::shared_ptr<SpareSnapshot>& from);

 private:
  void give_back(std::unique_ptr<Snapshot> snapshot) noexcept;

  std::mutex mutex_;
  std::unique_ptr<Snapshot> spare_;
};

}  // namespace meterbank::exposition
