// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace meterbank::bench {

inline void move_to_other_processor() noexcept {
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(1, &there);
  static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
}

// Runs `step` on the other processor for as long as it lives.
template <typename F>
class OtherProcessor {
 public:
  explicit OtherProcessor(F step) : thread_([this, step]() mutable { run(step); }) {}
  OtherProcessor(const OtherProcessor&) = delete;
  OtherProcessor& operator=(const OtherProcessor&) = delete;
  ~OtherProcessor() {
    stop_.store(true, std::memory_order_relaxed);  // relaxed: join() orders everything else
    thread_.join();
  }
  [[nodiscard]] std::uint64_t steps() const noexcept {
    return steps_.load(std::memory_order_relaxed);  // relaxed: a count by itself
  }

 private:
  void run(F& step) {
    move_to_other_processor();
    // relaxed: a late look at the flag costs one more step; the count is read by itself.
    while (!stop_.load(std::memory_order_relaxed)) {
      step();
      steps_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> steps_{0};
  std::thread thread_;
};

}  // namespace meterbank::bench
