// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/fork_watch.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "meterbank/base/one_process.hpp"

namespace meterbank {
namespace {

struct Watched {
  ForkWatcher* watcher;
  bool is_locked;
};

struct Registry {
  std::mutex mutex;
  std::vector<Watched> watched;
  sigset_t signals{};  // what the forking thread blocks otherwise
};

// Never destroyed: a fork in a static destructor still runs the handlers.
Registry& registry() {
  // In memory of its own, so that the first use cannot fail.
  alignas(Registry) static std::byte memory[sizeof(Registry)];
  static auto* const made = new (memory) Registry;
  return *made;
}

// All signals wait: in the child, a handler that counts would find no pages before they are
// replaced.
void before_fork() noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  registry().mutex.lock();
  registry().signals = before;
  auto& watched = registry().watched;
  for (auto each = watched.rbegin(); each != watched.rend(); ++each) {
    each->is_locked = each->watcher->lock_for_fork();
  }
}

void unlock_all() noexcept {
  for (const Watched& each : registry().watched) {
    if (each.is_locked) each.watcher->unlock_after_fork();
  }
  const sigset_t before = registry().signals;
  registry().mutex.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void after_fork_in_child() noexcept {
  for (const Watched& each : registry().watched) each.watcher->leave_to_parent();
  forget_process_mark();
  unlock_all();
}

}  // namespace

void watch_forks(ForkWatcher& watcher) {
  static const int installed = ::pthread_atfork(before_fork, unlock_all, after_fork_in_child);
  static_cast<void>(installed);  // ENOMEM: as in children that no handler sees
  const std::lock_guard lock(registry().mutex);
  registry().watched.push_back({&watcher, false});
}

void unwatch_forks(ForkWatcher& watcher) noexcept {
  const std::lock_guard lock(registry().mutex);
  std::erase_if(registry().watched,
                [&watcher](const Watched& each) { return each.watcher == &watcher; });
}

}  // namespace meterbank
