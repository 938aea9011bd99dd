// SPDX-License-Identifier: Apache-2.0
#include "live_pieces.hpp"

#include <algorithm>
#include <utility>

namespace meterbank {
namespace {

bool has_same_instances(const InstancePiece& known, const InstanceList& list) noexcept {
  const auto is_same = [](const InstanceView& left, const InstanceView& right) {
    return left.slot == right.slot && left.generation == right.generation &&
           left.closed == right.closed && left.id == right.id && left.name == right.name;
  };
  return std::equal(known.instances.begin(), known.instances.end(), list.instances().begin(),
                    list.instances().end(), is_same);
}

}  // namespace

LivePieces::LivePieces(InstanceViews before) : before_(std::move(before)) {
  pieces_.reserve(before_.pieces().size());
}

void LivePieces::add(const InstanceView& instance) {
  while (instance.slot / InstancePiece::kSlots > pieces_.size()) end_piece();
  list_.add(instance);
}

InstanceViews LivePieces::end() && {
  if (!list_.instances().empty()) end_piece();
  if (before_.pieces().size() == pieces_.size() && are_known_) return std::move(before_);
  return InstanceViews(std::move(pieces_));
}

void LivePieces::end_piece() {
  const std::size_t index = pieces_.size();
  const auto known = before_.pieces();
  const bool is_known = index < known.size() && has_same_instances(*known[index], list_);
  are_known_ = are_known_ && is_known;
  pieces_.push_back(is_known ? known[index] : std::move(list_).piece());
  list_ = InstanceList();
}

}  // namespace meterbank
