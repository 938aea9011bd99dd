// SPDX-License-Identifier: Apache-2.0
#include "instance_list.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace meterbank {

namespace {

// A small set takes little memory, a large one few allocations.
constexpr std::size_t kFirstBlockBytes = 256;
constexpr std::size_t kBlockBytesMax = std::size_t{8} * 1024;

std::size_t closed_in(std::span<const InstanceView> instances) {
  return static_cast<std::size_t>(
      std::count_if(instances.begin(), instances.end(),
                    [](const InstanceView& instance) { return instance.closed; }));
}

}  // namespace

std::string_view InstanceNames::kept(std::string_view name) {
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

InstanceList::InstanceList() : names_(std::make_shared<InstanceNames>()) {}

InstanceList::InstanceList(const InstancePiece& before, std::size_t more)
    : names_(before.names), name_bytes_(before.name_bytes) {
  instances_.reserve(before.instances.size() + more);
}

InstanceList::InstanceList(const InstanceViews& before, std::size_t more) {
  instances_.reserve(before.size() + more);
  for (const auto& piece : before.pieces()) {
    names_ = piece->names;
    name_bytes_ += piece->name_bytes;
  }
  if (names_ == nullptr) names_ = std::make_shared<InstanceNames>();
}

void InstanceList::add(InstanceView instance) {
  instance.name = names_->kept(instance.name);
  name_bytes_ += instance.name.size();
  instances_.push_back(instance);
}

void InstanceList::add(InstanceView instance, std::shared_ptr<const std::string> name) {
  instance.name = *name;
  names_->share(std::move(name));
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

std::shared_ptr<const InstancePiece> InstanceList::piece() && {
  auto piece = std::make_shared<InstancePiece>();
  if (instances_.capacity() > instances_.size() + instances_.size() / 8) instances_.shrink_to_fit();
  piece->instances = std::move(instances_);
  piece->names = std::move(names_);
  piece->name_bytes = name_bytes_;
  piece->closed = closed_in(piece->instances);
  return piece;
}

InstanceViews InstanceList::views() && {
  InstanceViews::Pieces pieces;
  std::span<const InstanceView> left = instances_;
  while (!left.empty()) {
    const auto part = left.first(std::min<std::size_t>(left.size(), InstancePiece::kSlots));
    left = left.subspan(part.size());
    auto piece = std::make_shared<InstancePiece>();
    piece->instances.assign(part.begin(), part.end());
    piece->names = names_;
    for (const InstanceView& instance : part) piece->name_bytes += instance.name.size();
    piece->closed = closed_in(part);
    pieces.push_back(std::move(piece));
  }
  return InstanceViews(std::move(pieces));
}

}  // namespace meterbank
