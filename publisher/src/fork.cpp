// SPDX-License-Identifier: Apache-2.0
//
// fork: the child must not become a second writer, and its counts must not fault. Private zero
// pages take the place of the shared ones, so handles that the child inherited count into nothing.
// What it inherited of the library is never destroyed there (one_process.hpp): that could wait for
// threads that it does not have. Children that no handler sees: docs/decisions/0017.
#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "callback/callback_server.hpp"
#include "cut_beat.hpp"
#include "owned_segment.hpp"
#include "shards/thread_numbers.hpp"

namespace meterbank::detail {
namespace {

struct Watched {
  std::mutex mutex;
  std::vector<OwnedSegment*> segments;
  sigset_t signals{};  // what the forking thread blocks otherwise
};

// Never destroyed: a fork in a static destructor still runs the handlers.
Watched& watched() {
  // In memory of its own, so that the first use cannot fail.
  alignas(Watched) static std::byte memory[sizeof(Watched)];
  static auto* const segments = new (memory) Watched;
  return *segments;
}

// Every mutex is held across the fork, so that the child finds none held by a thread it has not.
// And all signals wait: in the child, a handler that counts would find no pages before they are
// replaced.
void before_fork() noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  watched().mutex.lock();
  watched().signals = before;
  for (OwnedSegment* segment : watched().segments) {
    if (segment->is_inherited()) continue;
    segment->mutex.lock();
    if (segment->callbacks != nullptr) segment->callbacks->before_fork();
  }
  cuts_before_fork();
}

void unlock() noexcept {
  const sigset_t before = watched().signals;
  watched().mutex.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void release_all() noexcept {
  cuts_after_fork_in_parent();
  for (OwnedSegment* segment : watched().segments) {
    if (segment->is_inherited()) continue;
    if (segment->callbacks != nullptr) segment->callbacks->after_fork_in_parent();
    segment->mutex.unlock();
  }
  unlock();
}

void after_fork_in_child() noexcept {
  cuts_after_fork_in_child();
  // All of them: what the parent itself had inherited was detached by then, and is so again.
  for (OwnedSegment* segment : watched().segments) {
    for (OwnedExtent& extent : segment->extents) extent.detach_after_fork();
    if (segment->callbacks != nullptr) segment->callbacks->after_fork_in_child();
  }
  keep_only_own_thread_number();
  forget_process_mark();
  unlock();
}

}  // namespace

void watch_forks(OwnedSegment& segment) {
  static const int installed = ::pthread_atfork(before_fork, release_all, after_fork_in_child);
  static_cast<void>(installed);  // ENOMEM: as in children that no handler sees
  const std::lock_guard lock(watched().mutex);
  watched().segments.push_back(&segment);
}

void unwatch_forks(OwnedSegment& segment) noexcept {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().segments, &segment);
}

}  // namespace meterbank::detail
