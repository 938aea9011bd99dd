// SPDX-License-Identifier: Apache-2.0
//
// The instances of a live set while all its slots are read: the piece of each follows from its
// slot. A piece with the same instances as the one in the list before is taken from there.
//
// Thread safety: as InstanceList.
#pragma once

#include "instance_list.hpp"

namespace meterbank {

class LivePieces {
 public:
  explicit LivePieces(InstanceViews before);

  // In the order of the slots. Copies the name that `instance` points to.
  void add(const InstanceView& instance);
  // The list before itself, if it has the same instances.
  [[nodiscard]] InstanceViews end() &&;

 private:
  void end_piece();

  InstanceViews before_;
  bool are_known_ = true;  // all pieces so far are those of the list before
  InstanceList list_;      // has the instances of the next piece
  InstanceViews::Pieces pieces_;
};

}  // namespace meterbank
