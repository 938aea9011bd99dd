// SPDX-License-Identifier: Apache-2.0
//
// fork: the child must not become a second writer, and its counts must not fault. Private zero
// pages take the place of the shared ones, so handles that the child inherited count into nothing.
#include "callback/callback_server.hpp"
#include "cut_beat.hpp"
#include "owned_segment.hpp"
#include "shards/thread_numbers.hpp"

namespace meterbank::detail {
namespace {

// What all segments share.
class SharedBySegments final : public ForkWatcher {
 public:
  bool lock_for_fork() noexcept override {
    lock_cuts();
    return true;
  }
  void unlock_after_fork() noexcept override { unlock_cuts(); }
  void leave_to_parent() noexcept override {
    forget_cuts_locked();
    keep_only_own_thread_number();
  }
};

constinit SharedBySegments shared_by_segments;

}  // namespace

bool OwnedSegment::lock_for_fork() noexcept {
  if (is_inherited()) return false;
  mutex.lock();
  if (callbacks != nullptr) callbacks->lock_for_fork();
  return true;
}

void OwnedSegment::unlock_after_fork() noexcept {
  if (callbacks != nullptr) callbacks->unlock_after_fork();
  mutex.unlock();
}

void OwnedSegment::leave_to_parent() noexcept {
  for (OwnedExtent& extent : extents) extent.detach_after_fork();
  if (door_ != nullptr) door_->leave_to_parent();
  own_descriptors_.reset();
  if (callbacks != nullptr) callbacks->leave_to_parent();
}

void OwnedSegment::watch_forks() {
  // A thread that holds the mutex of a segment may wait for that of the cuts.
  static const bool is_watched = (meterbank::watch_forks(shared_by_segments), true);
  static_cast<void>(is_watched);
  meterbank::watch_forks(*this);
}

}  // namespace meterbank::detail
