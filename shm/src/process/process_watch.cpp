// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/process_watch.hpp"

#include <signal.h>

#include <cerrno>
#include <limits>

namespace meterbank {
namespace {

using PidFound = ProcessLook::Found;
using BootId = std::array<std::uint64_t, 2>;

constexpr Verdict kAlive{Life::kAlive, {}};
constexpr Verdict kGone{Life::kGone, {}};
constexpr Verdict kNotLooked{Life::kNotLooked, "this process has no descriptor or memory left"};

constexpr std::string_view kInside =
    "read it in its own container or namespace, or from outside as root with --all-namespaces";

constexpr Verdict foreign(std::string_view why, std::string_view remedy = kInside) noexcept {
  return {Life::kForeign, why, remedy};
}

bool is_known(const BootId& id) noexcept { return id != BootId{}; }

bool has_start_time(const ProcessLook& look) noexcept {
  return look.found == PidFound::kRunning || look.found == PidFound::kEnded;
}

// Row 3.
Verdict judge_without_namespace(const PointerRecord& record, const Viewpoint& from,
                                const ProcessLook& look) noexcept {
  if (look.found == PidFound::kNotLooked) return kNotLooked;
  const bool is_same = has_start_time(look) && record.start_time != 0 &&
                       record.start_time == look.start_time && is_known(from.boot_id) &&
                       record.boot_id == from.boot_id;
  if (!is_same)
    return foreign("its record does not say in which pid namespace it runs",
                   "start it again with a library newer than version 0.1");
  return look.found == PidFound::kEnded ? kGone : kAlive;
}

}  // namespace

bool is_shortage(int reason) noexcept {
  return reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == EINTR;
}

bool Viewpoint::is_complete() const noexcept {
  return is_known(boot_id) && pid_namespace != 0 && procfs == Procfs::kOwnPids;
}

Viewpoint Viewpoint::of_this_process() noexcept {
  Viewpoint here{.boot_id = meterbank::boot_id(),
                 .pid_namespace = own_pid_namespace(),
                 .time_namespace = own_time_namespace()};
  const auto has_own_pids = procfs_has_own_pids();
  if (has_own_pids) {
    here.procfs = *has_own_pids ? Procfs::kOwnPids : Procfs::kOtherPids;
  } else if (is_shortage(has_own_pids.error())) {
    here.procfs = Procfs::kNotLooked;
  }
  return here;
}

ProcessLook look_at_process(std::uint32_t pid, const Viewpoint& from) noexcept {
  if (pid == 0 || pid > static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max())) {
    return {.found = PidFound::kNone};
  }
  int reason = from.procfs == Viewpoint::Procfs::kNotLooked ? EMFILE : 0;
  if (from.procfs == Viewpoint::Procfs::kOwnPids) {
    const auto stat = read_process_stat(pid);
    if (stat) {
      const bool has_ended = (stat->state == 'Z' && stat->threads <= 1) || stat->state == 'X';
      return {.found = has_ended ? PidFound::kEnded : PidFound::kRunning,
              .start_time = stat->start_time};
    }
    reason = stat.error();
  }
  // Signal 0 is not sent: it asks whether the number is taken in our own pid namespace. That it is
  // says little; that it is not is proof, and costs no descriptor.
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return {.found = PidFound::kNone};
  return {.found = is_shortage(reason) ? PidFound::kNotLooked : PidFound::kHidden,
          .reason = reason};
}

bool needs_look(const PointerRecord& record, const Viewpoint& from) noexcept {
  if (from.pid_namespace == 0) return false;
  if (record.pid_namespace == 0) return true;
  return record.pid_namespace == from.pid_namespace;
}

Verdict judge(const PointerRecord& record, const Viewpoint& from,
              const ProcessLook& look) noexcept {
  if (from.pid_namespace == 0) {
    return foreign("procfs is not there to say in which pid namespace this reader runs",
                   "mount procfs at /proc for this reader");
  }
  if (record.pid_namespace == 0) return judge_without_namespace(record, from, look);
  if (record.pid_namespace != from.pid_namespace)
    return foreign("it runs in another pid namespace");
  switch (look.found) {
    case PidFound::kNone:
      return kGone;
    case PidFound::kNotLooked:
      return kNotLooked;
    case PidFound::kHidden:
      return foreign("procfs hides its process (hidepid, or it is that of another pid namespace)",
                     "run as root, or as its user if that sees the process");
    case PidFound::kRunning:
    case PidFound::kEnded:
      break;
  }
  if (record.start_time == 0) return foreign("its record has no start time");
  if (record.time_namespace != from.time_namespace) {
    return foreign("its start time is of another time namespace");
  }
  if (record.start_time != look.start_time || look.found == PidFound::kEnded) return kGone;
  return kAlive;
}

}  // namespace meterbank
