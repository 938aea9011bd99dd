// SPDX-License-Identifier: Apache-2.0
#include "repeated_collection.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::pdh {

RepeatedCollection::RepeatedCollection(std::chrono::seconds interval, std::function<void()> collect)
    : interval_(interval), collect_(std::move(collect)), thread_([this] { run(); }) {}

RepeatedCollection::~RepeatedCollection() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RepeatedCollection::run() {
  using Clock = std::chrono::steady_clock;
  auto next = Clock::now() + interval_;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_until(lock, next, [this] { return is_over_; })) {
    lock.unlock();
    collect_();
    next = std::max(next + interval_, Clock::now());
    lock.lock();
  }
}

}  // namespace meterbank::pdh
