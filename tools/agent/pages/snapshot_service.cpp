// SPDX-License-Identifier: Apache-2.0
#include "agent/pages/snapshot_service.hpp"

#include <new>
#include <utility>

#include "meterbank/base/clock.hpp"

namespace meterbank::agent {

SnapshotService::SnapshotService(exposition::Snapshots snapshots, Taken taken)
    : snapshots_(std::move(snapshots)), taken_(std::move(taken)), thread_([this] { run(); }) {}

SnapshotService::~SnapshotService() { stop(); }

void SnapshotService::ask(Ready ready, Others others) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_stopped_) {
      waiting_.push_back(std::move(ready));
      gathers_ |= others == Others::kLikely;
      asked_.notify_one();
      return;
    }
  }
  ready(nullptr, 1);
}

void SnapshotService::use(exposition::Snapshots snapshots) {
  const std::lock_guard lock(mutex_);
  next_.emplace(std::move(snapshots));
}

void SnapshotService::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    asked_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  for (const Ready& ready : std::exchange(waiting_, {})) ready(nullptr, 1);
}

void SnapshotService::run() {
  while (true) {
    std::vector<Ready> requests;
    {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
      if (gathers_) asked_.wait_for(lock, kGather, [this] { return is_stopped_; });
      if (is_stopped_) return;
      requests.swap(waiting_);
      gathers_ = false;
      if (next_) snapshots_ = *std::exchange(next_, std::nullopt);
    }
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    std::shared_ptr<const exposition::Snapshot> snapshot;
    try {
      snapshot = snapshots_.take();
    } catch (const std::bad_alloc&) {
      // The requests are told, and the next ones try again.
    }
    taken_(clock_ns(CLOCK_MONOTONIC) - begin, requests.size());
    for (const Ready& ready : requests) ready(snapshot, requests.size());
  }
}

}  // namespace meterbank::agent
