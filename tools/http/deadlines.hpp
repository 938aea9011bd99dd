// SPDX-License-Identifier: Apache-2.0
//
// How long a client may take: a connection that sends its request byte by byte, or never reads its
// answer, is closed. The HTTP library closes connections that do nothing, but not slow ones.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace meterbank::http {

class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;

  Deadlines();
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // A connection, known by any unique pointer, and its socket, which is shut down if the connection
  // is neither forgotten nor given more time within `time`.
  void add(const void* connection, int socket, Clock::duration time);
  void extend(const void* connection, Clock::duration time);
  // Before its socket is closed.
  void forget(const void* connection);

 private:
  struct Watched {
    int socket = -1;
    Clock::time_point end;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const void*, Watched> watched_;
  Clock::time_point next_ = Clock::time_point::max();  // when the thread looks again
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace meterbank::http
