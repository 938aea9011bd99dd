// SPDX-License-Identifier: Apache-2.0
//
// The pushers of the agent: one for each receiver of the settings.
//
// Thread safety  One thread at a time.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "agent/counts/push_counts.hpp"
#include "agent/pages/snapshot_service.hpp"
#include "push/delivery/pusher.hpp"

namespace meterbank::agent {

class Receivers {
 public:
  // `report` is called by several threads at a time.
  Receivers(SnapshotService& snapshots, PushSet& counts, push::Pusher::Report report);
  ~Receivers();
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  // Pushes to these from now on. Those that have not changed go on undisturbed, with what waits for
  // them. Errors: as Pusher::start(); then the others are pushed to all the same.
  Result<void> use(const std::vector<push::ReceiverOptions>& receivers);
  // All at the same time.
  void stop();

 private:
  struct Receiver {
    push::ReceiverOptions options;
    std::unique_ptr<push::PushEvents> events;
    std::unique_ptr<push::Pusher> pusher;
  };
  [[nodiscard]] Result<Receiver> start(const push::ReceiverOptions& options);

  SnapshotService& snapshots_;
  PushSet& counts_;
  const push::Pusher::Report report_;
  std::atomic<bool> are_several_{false};  // relaxed: a hint; they mostly ask at the same time
  std::vector<Receiver> receivers_;
};

}  // namespace meterbank::agent
