// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots in a thread of its own, so that a provider that answers late delays the pages
// that wait for it and nothing else. Requests that wait at the same time get the same snapshot, and
// never one that was begun before they came. If others are likely to ask at the same time, it is
// begun kGather after the first of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "exposition/snapshot/snapshots.hpp"

namespace meterbank::agent {

// Whether others are likely to ask at the same time.
enum class Others : bool { kNone, kLikely };

class SnapshotService {
 public:
  // Null: there was no memory for one, or the service has ended. `requests`: how many get the same
  // snapshot. Called in the service's thread, or in that of the caller of stop(); must not throw.
  using Ready =
      std::function<void(std::shared_ptr<const exposition::Snapshot>, std::size_t requests)>;
  // Called behind each snapshot with what it took, in ns, and how many requests get it.
  using Taken = std::function<void(std::uint64_t duration_ns, std::size_t requests)>;

  static constexpr std::chrono::microseconds kGather{500};

  SnapshotService(exposition::Snapshots snapshots, Taken taken);
  ~SnapshotService();

  void ask(Ready ready, Others others = Others::kNone);
  // Snapshots from now on are those of another catalog and other names.
  void use(exposition::Snapshots snapshots);
  // Answers all that wait, and ends the thread. ask() answers at once from then on.
  void stop();

 private:
  void run();

  exposition::Snapshots snapshots_;  // used by the thread alone
  Taken taken_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::vector<Ready> waiting_;
  bool gathers_ = false;                       // one of those that wait said that others are likely
  std::optional<exposition::Snapshots> next_;  // replaces snapshots_ before the next snapshot
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace meterbank::agent
