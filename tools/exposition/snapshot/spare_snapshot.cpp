// SPDX-License-Identifier: Apache-2.0
#include "exposition/snapshot/spare_snapshot.hpp"

#include <utility>

namespace meterbank::exposition {

std::shared_ptr<Snapshot> SpareSnapshot::take(const std::shared_ptr<SpareSnapshot>& from) {
  std::unique_ptr<Snapshot> snapshot;
  {
    const std::lock_guard lock(from->mutex_);
    snapshot = std::move(from->spare_);
  }
  if (snapshot == nullptr) snapshot = std::make_unique<Snapshot>();
  return {snapshot.release(),
          [from](Snapshot* returned) { from->give_back(std::unique_ptr<Snapshot>(returned)); }};
}

void SpareSnapshot::give_back(std::unique_ptr<Snapshot> snapshot) noexcept {
  // Providers may have ended since; their memory must not stay mapped.
  snapshot->sample.clear();
  snapshot->layout = nullptr;
  snapshot->about.clear();
  const std::lock_guard lock(mutex_);
  if (spare_ == nullptr) spare_ = std::move(snapshot);
}

}  // namespace meterbank::exposition
