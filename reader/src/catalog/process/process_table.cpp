// SPDX-License-Identifier: Apache-2.0
#include "process_table.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace meterbank {
namespace {

// A quarter for all pidfds together, so that files, sockets and whatever the rest of the program
// opens find room; a quarter of that for one owner.
constexpr std::uint64_t kShare = 4;
constexpr std::uint64_t kPidfdsMax = 4096;

std::uint64_t pidfd_budget() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::uint64_t>(limit.rlim_cur / kShare, kPidfdsMax);
}

}  // namespace

void ProcessTable::begin_refresh() {
  ++refreshes_;
  if (!viewpoint_.is_complete()) viewpoint_ = Viewpoint::of_this_process();
  descriptors_max_ = pidfd_budget();
  descriptors_of_one_max_ = descriptors_max_ / kShare;
  descriptors_ = 0;
  descriptors_of_.clear();
  std::erase_if(held_, [](const Watched& process) {
    const bool is_watched = process.use_count() > 1;
    return !is_watched || !process->pidfd_;
  });
  for (const Watched& process : held_) count_held(process->pidfd_owner_);
  poll_held();
}

// The processes that have not ended are what they were. The others, and all of them where the
// kernel refuses so many at once, are looked at one by one.
void ProcessTable::poll_held() {
  polls_.clear();
  for (const Watched& process : held_) polls_.push_back({process->pidfd_.get(), POLLIN, 0});
  if (polls_.empty() || ::poll(polls_.data(), polls_.size(), 0) < 0) return;
  for (std::size_t index = 0; index < polls_.size(); ++index) {
    if (polls_[index].revents == 0) held_[index]->looked_in_ = refreshes_;
  }
}

void ProcessTable::forget_unwatched() {
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
}

ProcessTable::Watched ProcessTable::watch(const PointerRecord& record) {
  auto& known = known_[{record.pid, record.start_time}];
  auto process = known.lock();
  if (process == nullptr) {
    process = std::make_shared<WatchedProcess>(record.pid, record.start_time);
    known = process;
  }
  return process;
}

void ProcessTable::look(WatchedProcess& process) const {
  process.looked_in_ = refreshes_;
  if (process.pidfd_) {
    pollfd ended{process.pidfd_.get(), POLLIN, 0};
    const int count = ::poll(&ended, 1, 0);
    if (count == 0) return;  // what was found last still holds
    process.pidfd_.reset();
  }
  process.look_ = look_at_process(process.pid_, viewpoint_);
}

Verdict ProcessTable::verdict_on(const PointerRecord& record, WatchedProcess& process) {
  if (needs_look(record, viewpoint_) && process.looked_in_ != refreshes_) look(process);
  return judge(record, viewpoint_, process.look_);
}

void ProcessTable::hold(const Watched& watched, std::uint32_t owner) {
  WatchedProcess& process = *watched;
  if (process.pidfd_ || !may_hold(owner)) return;
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid_), 0)));
  if (!pidfd) return;
  // The number may have passed to another process meanwhile: what is held is identified again.
  const ProcessLook look = look_at_process(process.pid_, viewpoint_);
  if (look.found != ProcessLook::Found::kRunning || look.start_time != process.start_time_) return;
  held_.push_back(watched);
  process.pidfd_ = std::move(pidfd);
  process.pidfd_owner_ = owner;
  count_held(owner);
}

bool ProcessTable::may_hold(std::uint32_t owner) const {
  const auto held = descriptors_of_.find(owner);
  return descriptors_ < descriptors_max_ &&
         (held == descriptors_of_.end() || held->second < descriptors_of_one_max_);
}

void ProcessTable::count_held(std::uint32_t owner) {
  ++descriptors_;
  ++descriptors_of_[owner];
}

PointerRecord ProcessTable::as_seen_here(PointerRecord record, const ProcessHere& process) const {
  record.pid = process.pid;
  record.start_time = process.start_time;
  record.boot_id = viewpoint_.boot_id;
  record.pid_namespace = viewpoint_.pid_namespace;
  record.time_namespace = viewpoint_.time_namespace;
  return record;
}

bool ProcessTable::shares_clock(const PointerRecord& record) const noexcept {
  return record.time_namespace == 0 || viewpoint_.time_namespace == 0 ||
         record.time_namespace == viewpoint_.time_namespace;
}

}  // namespace meterbank
