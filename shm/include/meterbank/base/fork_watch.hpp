// SPDX-License-Identifier: Apache-2.0
//
// What happens to the objects of the libraries at a fork(). Every mutex is held across it, so that
// the child finds none held by a thread that it does not have. In the child the objects that it
// inherited belong to the parent still (one_process.hpp), and close what they have here.
//
//   before           lock_for_fork(), the object that was watched last first
//   in the parent    unlock_after_fork()
//   in the child     leave_to_parent(), then unlock_after_fork()
//
// Children that no handler sees: docs/decisions/0017.
#pragma once

namespace meterbank {

class ForkWatcher {
 public:
  // False: not locked. An inherited object whose mutex a thread of the parent may hold for ever.
  [[nodiscard]] virtual bool lock_for_fork() noexcept = 0;
  // If it was locked. In the child as well.
  virtual void unlock_after_fork() noexcept = 0;
  // In the child, also for what the parent itself had inherited: repeatable.
  virtual void leave_to_parent() noexcept = 0;

 protected:
  ~ForkWatcher() = default;
};

// A list that several objects share is watched before them, and so locked after them.
// Thread safety: any thread that holds no mutex of a watcher. Errors: std::bad_alloc.
void watch_forks(ForkWatcher& watcher);
void unwatch_forks(ForkWatcher& watcher) noexcept;

}  // namespace meterbank
