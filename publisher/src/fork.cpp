// SPDX-License-Identifier: Apache-2.0
//
// fork: the child must not become a second writer, and its counts must not fault. The shared pages
// are not inherited (MADV_DONTFORK); private zero pages take their place, so handles that the child
// inherited count into nothing.
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
    if (segment->callbacks != nullptr) segment->callbacks->after_fork_in_parent();
    segment->mutex.unlock();
  }
  unlock();
}

void after_fork_in_child() noexcept {
  cuts_after_fork_in_child();
  for (OwnedSegment* segment : watched().segments) {
    // relaxed: this process has one thread.
    segment->forked.store(true, std::memory_order_relaxed);
    for (OwnedExtent& extent : segment->extents) extent.detach_after_fork();
    if (segment->callbacks != nullptr) segment->callbacks->after_fork_in_child();
    // Its thread is the parent's, and what that waits on cannot be destroyed here.
    static_cast<void>(segment->cut_beat.release());
    segment->mutex.unlock();
  }
  keep_only_own_thread_number();
  watched().segments.clear();
  unlock();
}

}  // namespace

void watch_forks(OwnedSegment& segment) {
  static const int installed = ::pthread_atfork(before_fork, release_all, after_fork_in_child);
  static_cast<void>(installed);  // ENOMEM: forked children then fault when they count
  const std::lock_guard lock(watched().mutex);
  watched().segments.push_back(&segment);
}

void unwatch_forks(OwnedSegment& segment) noexcept {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().segments, &segment);
}

}  // namespace meterbank::detail
