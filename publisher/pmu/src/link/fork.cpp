// SPDX-License-Identifier: Apache-2.0
//
// fork: the child has no leases. It must not speak on the parent's socket, where it would be taken
// for it, nor keep descriptors of counters, which would stay taken as long as the child lives.
#include "fork.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "../local/local_state.hpp"
#include "link.hpp"

namespace meterbank::pmu::detail {
namespace {

struct Watched {
  std::mutex mutex;
  std::vector<Link*> links;
};

// Never destroyed: a fork in a static destructor still runs the handlers.
Watched& watched() {
  static auto* const links = new Watched;
  return *links;
}

// Every mutex is held across the fork, so that the child finds none held by a thread it has not.
void before_fork() noexcept {
  watched().mutex.lock();
  for (Link* const link : watched().links) {
    if (!link->is_inherited()) link->before_fork();
  }
  open_counters().lock();
}

void after_fork_in_parent() noexcept {
  open_counters().unlock();
  for (Link* const link : watched().links) {
    if (!link->is_inherited()) link->after_fork_in_parent();
  }
  watched().mutex.unlock();
}

void after_fork_in_child() noexcept {
  open_counters().close_in_child();
  open_counters().unlock();
  for (Link* const link : watched().links) link->after_fork_in_child();
  watched().links.clear();
  forget_process_mark();
  watched().mutex.unlock();
}

}  // namespace

void watch_forks() {
  static const int installed =
      ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(installed);  // ENOMEM: children then hold descriptors of the parent
}

void watch_forks(Link& link) {
  watch_forks();
  const std::lock_guard lock(watched().mutex);
  watched().links.push_back(&link);
}

void unwatch_forks(Link& link) noexcept {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().links, &link);
}

}  // namespace meterbank::pmu::detail
