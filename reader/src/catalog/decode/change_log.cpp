// SPDX-License-Identifier: Apache-2.0
#include "change_log.hpp"

#include <algorithm>

namespace meterbank {

std::optional<std::vector<ChangedSlot>> read_log(const MappedSegment& segment, std::uint64_t known,
                                                 std::uint64_t now) {
  // A version that went back is further away than any log reaches.
  const std::uint64_t count = now - known;
  if (!segment.has_change_log() || count > kChangesKept) return std::nullopt;
  std::vector<ChangedSlot> slots;
  slots.reserve(count);
  for (std::uint64_t number = known + 1; number != now + 1; ++number) {
    const SharedWord& entry = segment.header().changes[number % kChangesKept];
    // [Q8] pairs with [P8]. Without it an entry 2^32 changes younger could be taken for this one,
    // and the caller could still load the version that it expects.
    const auto change = DirectoryChange::of(entry.load(std::memory_order_acquire));
    if (change.number != static_cast<std::uint32_t>(number)) return std::nullopt;
    if (!change.is_of_one_slot()) return std::nullopt;
    slots.push_back({change.registration, change.slot});
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

}  // namespace meterbank
