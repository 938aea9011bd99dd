// SPDX-License-Identifier: Apache-2.0
//
// The processes of all records of a catalog, each looked at once a refresh however many records
// name it.
//
// A process is looked at through procfs, which keeps no descriptor. A pidfd saves most of the cost.
// It is kept, as the connection to a door is, within a budget: a share of the soft limit of open
// files (RLIMIT_NOFILE), of which one owner gets a share in turn. An owner beyond it costs more
// time and loses nothing.
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/process_watch.hpp"
#include "process_walk.hpp"

namespace meterbank {

class WatchedProcess {
 public:
  WatchedProcess(std::uint32_t pid, std::uint64_t start_time) noexcept
      : pid_(pid), start_time_(start_time) {}

 private:
  friend class ProcessTable;
  std::uint32_t pid_;
  std::uint64_t start_time_;
  std::uint64_t looked_in_ = 0;  // number of the refresh that `look_` is of
  ProcessLook look_;
  UniqueFd pidfd_;
  std::uint32_t pidfd_owner_ = 0;  // user whose share it is of
};

class ProcessTable {
 public:
  using Watched = std::shared_ptr<WatchedProcess>;

  // Forgets the looks of before, and looks at all processes that are held, by one system call.
  void begin_refresh();
  [[nodiscard]] Watched watch(const PointerRecord& record);
  [[nodiscard]] Verdict verdict_on(const PointerRecord& record, WatchedProcess& process);
  // Takes hold of a process that was found alive, on the share of a user, if there is any left.
  void hold(const Watched& process, std::uint32_t owner);
  [[nodiscard]] bool holds(const WatchedProcess& process) const noexcept {
    return static_cast<bool>(process.pidfd_);
  }
  // True if the kernel said in this refresh that the process has not ended. Precondition: holds().
  [[nodiscard]] bool runs(const WatchedProcess& process) const noexcept {
    return process.looked_in_ == refreshes_;
  }
  // Drops the entries of processes that no record names any more.
  void forget_unwatched();
  // The same share for other descriptors that are kept for a provider, counted anew each refresh.
  [[nodiscard]] bool may_hold(std::uint32_t owner) const;
  void count_held(std::uint32_t owner);

  // A record for a process that was found by its descriptors: with the numbers by which this
  // process sees it.
  [[nodiscard]] PointerRecord as_seen_here(PointerRecord record, const ProcessHere& process) const;

  // Whether start times and monotonic clocks of its process count from the same moment as here.
  [[nodiscard]] bool shares_clock(const PointerRecord& record) const noexcept;

 private:
  void poll_held();
  void look(WatchedProcess& process) const;

  Viewpoint viewpoint_;
  std::uint64_t refreshes_ = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::weak_ptr<WatchedProcess>> known_;
  std::vector<Watched> held_;  // those with a pidfd
  std::vector<pollfd> polls_;  // kept for its memory
  // Pidfds and other descriptors, and by owner.
  std::uint64_t descriptors_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> descriptors_of_;
  std::uint64_t descriptors_max_ = 0;
  std::uint64_t descriptors_of_one_max_ = 0;
};

}  // namespace meterbank
