// SPDX-License-Identifier: Apache-2.0
//
// fork: the child must not become a second writer, and its counts must not fault. Private zero
// pages take the place of the shared ones, so handles that the child inherited count into nothing.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <span>

#include "callback/callback_server.hpp"
#include "cut_beat.hpp"
#include "meterbank/shm/utf8.hpp"
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
  has_private_pages_ = true;
  for (OwnedExtent& extent : extents) {
    if (!extent.detach()) has_private_pages_ = false;
  }
  kept_record_.leave_to_parent();
  if (door_ != nullptr) door_->leave_to_parent();
  own_descriptors_.reset();
  if (callbacks != nullptr) callbacks->leave_to_parent();
}

// They were zero at the fork, and nothing but a count writes there.
bool OwnedSegment::has_counted_here() const noexcept {
  constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 20;  // some 4,000 page faults
  std::uint64_t left = kBytesMax;
  for (const OwnedExtent& extent : extents) {
    const std::uint64_t looked_at = std::min(extent.size(), left);
    const std::span words(reinterpret_cast<const SharedWord*>(extent.data()),
                          looked_at / sizeof(SharedWord));
    for (const SharedWord& word : words) {
      if (word.load(std::memory_order_relaxed) != 0) return true;  // relaxed: any value will do
    }
    left -= looked_at;
  }
  return false;
}

void OwnedSegment::say_if_counted_here() noexcept {
  static constinit std::atomic<bool> has_spoken{false};
  // A program that asks for no system call at the end gets none here either.
  if (!has_private_pages_ || options.keep_record || !has_counted_here()) return;
  // relaxed: it orders nothing; one of the threads that come here speaks.
  if (has_spoken.exchange(true, std::memory_order_relaxed)) return;
  try {
    stderr_.say(escape_for_terminal(
        "process " + std::to_string(::getpid()) + " has counted for provider '" + options.name +
        "', which belongs to its parent, and these counts were not published; try: create the "
        "provider after fork() or daemon()"));
  } catch (const std::bad_alloc&) {  // the end counts, not the message
  }
}

void OwnedSegment::watch_forks() {
  // A thread that holds the mutex of a segment may wait for that of the cuts.
  static const bool is_watched = (meterbank::watch_forks(shared_by_segments), true);
  static_cast<void>(is_watched);
  meterbank::watch_forks(*this);
}

}  // namespace meterbank::detail
