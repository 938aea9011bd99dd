// SPDX-License-Identifier: Apache-2.0
#include "private_groups.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace meterbank {

std::shared_ptr<std::byte> zeroed_lines(std::size_t bytes) {
  constexpr std::align_val_t kAlignment{kCacheLine};
  const auto free = [](std::byte* memory) { ::operator delete(memory, kAlignment); };
  auto* const memory = static_cast<std::byte*>(::operator new(bytes, kAlignment));
  std::memset(memory, 0, bytes);
  return {memory, free};
}

GroupLayout PrivateGroups::layout_of(std::uint32_t slots) const noexcept {
  GroupLayout layout = GroupLayout::of(form_, slots);
  layout.bytes = layout.descriptors + std::uint64_t{slots} * own_words_ * sizeof(SharedWord);
  return layout;
}

std::uint64_t PrivateGroups::bytes_of(std::uint32_t slots) const noexcept {
  return layout_of(slots).bytes;
}

void PrivateGroups::add(std::uint32_t slots) {
  Group group;
  group.layout = layout_of(slots);
  group.first_slot = slots_;
  group.slots = slots;
  group.memory = zeroed_lines(group.layout.bytes);
  groups_.push_back(std::move(group));
  slots_ += slots;
}

const PrivateGroups::Group& PrivateGroups::group_of(std::uint32_t slot) const noexcept {
  const auto next = std::upper_bound(
      groups_.begin() + 1, groups_.end(), slot,
      [](std::uint32_t wanted, const Group& group) { return wanted < group.first_slot; });
  return *(next - 1);
}

BlockParts<SharedWord> PrivateGroups::block(std::uint32_t slot) const noexcept {
  const Group& group = group_of(slot);
  return block_parts(group.memory.get(), form_, group.layout, slot - group.first_slot);
}

SharedWord* PrivateGroups::own_words(std::uint32_t slot) const noexcept {
  const Group& group = group_of(slot);
  auto* const first = reinterpret_cast<SharedWord*>(group.memory.get() + group.layout.descriptors);
  return first + std::size_t{slot - group.first_slot} * own_words_;
}

MappedBytes PrivateGroups::bytes(std::size_t group) const noexcept {
  return {groups_[group].memory.get(), groups_[group].layout.bytes};
}

void PrivateGroups::list_in(RegisteredSet& set, std::size_t group, std::uint32_t extent) const {
  set.groups.push_back(make_ref(extent, 0));
  set.layouts.push_back(groups_[group].layout);
  set.group_slots.push_back(groups_[group].slots);
}

}  // namespace meterbank
