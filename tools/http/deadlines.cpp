// SPDX-License-Identifier: Apache-2.0
#include "http/deadlines.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace meterbank::http {

Deadlines::Deadlines() : thread_([this] { run(); }) {}

Deadlines::~Deadlines() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void Deadlines::add(const void* connection, int socket, Clock::duration time) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point end = Clock::now() + time;
  watched_.insert_or_assign(connection, Watched{socket, end});
  if (end < next_) changed_.notify_one();
}

void Deadlines::extend(const void* connection, Clock::duration time) {
  const std::lock_guard lock(mutex_);
  const auto known = watched_.find(connection);
  if (known == watched_.end()) return;
  known->second.end = Clock::now() + time;
  if (known->second.end < next_) changed_.notify_one();
}

void Deadlines::forget(const void* connection) {
  const std::lock_guard lock(mutex_);
  watched_.erase(connection);
}

void Deadlines::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    const Clock::time_point now = Clock::now();
    next_ = Clock::time_point::max();
    for (auto entry = watched_.begin(); entry != watched_.end();) {
      const Watched watched = entry->second;
      if (watched.end <= now) {
        // The HTTP library sees the end of the stream, and closes the connection itself.
        ::shutdown(watched.socket, SHUT_RDWR);
        entry = watched_.erase(entry);
        continue;
      }
      next_ = std::min(next_, watched.end);
      ++entry;
    }
    if (next_ == Clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, next_);
    }
  }
}

}  // namespace meterbank::http
