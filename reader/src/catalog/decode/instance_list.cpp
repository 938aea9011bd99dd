// SPDX-License-Identifier: Apache-2.0
#include "instance_list.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace meterbank {

namespace {

// A small set takes little memory, a large one few allocations.
constexpr std::size_t kFirstBlockBytes = 256;
constexpr std::size_t kBlockBytesMax = std::size_t{64} * 1024;

}  // namespace

std::string_view InstanceList::Names::kept(std::string_view name) {
  if (name.empty()) return {};
  if (block_bytes_ - used_ < name.size()) {
    const std::size_t next =
        blocks_.empty() ? kFirstBlockBytes : std::min(2 * block_bytes_, kBlockBytesMax);
    const std::size_t bytes = std::max(next, name.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    block_bytes_ = bytes;
    used_ = 0;
  }
  char* const place = blocks_.back().get() + used_;
  std::memcpy(place, name.data(), name.size());
  used_ += name.size();
  bytes_ += name.size();
  return {place, name.size()};
}

InstanceList::InstanceList() : names_(std::make_shared<Names>()) {}

InstanceList::InstanceList(const RegisteredSet& before, std::size_t more) {
  const auto& list = *static_cast<const InstanceList*>(before.instances_memory.get());
  names_ = list.names_;
  name_bytes_ = list.name_bytes_;
  instances_.reserve(before.instances.size() + more);
}

void InstanceList::add(InstanceView instance) {
  instance.name = names_->kept(instance.name);
  name_bytes_ += instance.name.size();
  instances_.push_back(instance);
}

void InstanceList::take_over(std::span<const InstanceView> instances) {
  instances_.insert(instances_.end(), instances.begin(), instances.end());
}

bool InstanceList::is_wasteful() const noexcept {
  return names_->bytes() > name_bytes_ + name_bytes_ / 4 + kFirstBlockBytes;
}

InstanceList InstanceList::copied() const {
  InstanceList copy;
  copy.reserve(instances_.size());
  for (const InstanceView& instance : instances_) copy.add(instance);
  return copy;
}

void InstanceList::move_to(RegisteredSet& set) && {
  const auto kept = std::make_shared<const InstanceList>(std::move(*this));
  set.instances = kept->instances_;
  set.instances_memory = kept;
}

}  // namespace meterbank
