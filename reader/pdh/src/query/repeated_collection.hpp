// SPDX-License-Identifier: Apache-2.0
//
// A thread that collects at an interval, for PdhCollectQueryDataEx.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace meterbank::pdh {

// Thread safety: none. Errors: the constructor throws std::system_error if the thread cannot be
// started. Lifetime: the destructor waits for a collection that runs.
class RepeatedCollection {
 public:
  // The first collection is one interval from now, and the next ones as long after one another;
  // those that another one has outlasted are left out. `collect` throws nothing.
  RepeatedCollection(std::chrono::seconds interval, std::function<void()> collect);
  RepeatedCollection(const RepeatedCollection&) = delete;
  RepeatedCollection& operator=(const RepeatedCollection&) = delete;
  ~RepeatedCollection();

 private:
  void run();

  const std::chrono::seconds interval_;
  const std::function<void()> collect_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace meterbank::pdh
