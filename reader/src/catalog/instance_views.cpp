// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/instance_views.hpp"

#include <algorithm>
#include <utility>

namespace meterbank {

InstanceViews::InstanceViews(Pieces pieces) {
  auto list = std::make_shared<List>();
  for (const auto& piece : pieces) list->size += piece->instances.size();
  list->pieces = std::move(pieces);
  list_ = std::move(list);
}

std::size_t InstanceViews::live() const noexcept {
  std::size_t live = size();
  for (const auto& piece : pieces()) live -= piece->closed;
  return live;
}

std::size_t InstanceViews::index_of(std::uint32_t slot) const noexcept {
  const auto all = pieces();
  const auto ends_before = [slot](const std::shared_ptr<const InstancePiece>& piece) {
    return piece->instances.empty() || piece->instances.back().slot < slot;
  };
  const auto covers = [&](const std::shared_ptr<const InstancePiece>& piece) {
    return !ends_before(piece) && piece->instances.front().slot <= slot;
  };
  // The slot of a live instance tells its piece. Lists of recordings have no empty pieces, so they
  // can be searched.
  std::size_t index = slot / InstancePiece::kSlots;
  if (index >= all.size() || !covers(all[index])) {
    const auto found = std::partition_point(all.begin(), all.end(), ends_before);
    index = static_cast<std::size_t>(found - all.begin());
  }
  if (index == all.size()) return kNoIndex;
  const std::vector<InstanceView>& instances = all[index]->instances;
  const auto found = std::lower_bound(
      instances.begin(), instances.end(), slot,
      [](const InstanceView& instance, std::uint32_t wanted) { return instance.slot < wanted; });
  if (found == instances.end() || found->slot != slot) return kNoIndex;
  return index * InstancePiece::kSlots + static_cast<std::size_t>(found - instances.begin());
}

}  // namespace meterbank
