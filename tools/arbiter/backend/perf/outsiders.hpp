// SPDX-License-Identifier: Apache-2.0
//
// Processes that count without a lease: those with perf events among their open files, and
// the kernel's watchdog.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbiter/backend/perf/perf_machine.hpp"
#include "arbiter/core/arbiter.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

// An event that was ours when it was passed on, closed by us since: the epoll descriptor it was
// added to, and the number that it had.
struct ClosedEvent {
  int epoll = -1;
  int descriptor = -1;
};

class OutsiderSearch {
 public:
  // Limits of one search. Processes and files beyond them are not looked at.
  static constexpr std::uint32_t kProcessesMax = 65536;
  static constexpr std::uint32_t kFilesMax = 1 << 20;

  // `proc` is an open directory; files of it that are needed later are opened now.
  explicit OutsiderSearch(int proc);

  // Events that are ours, of which others may have duplicates, are not an outsider's. Where the
  // kernel does not let us compare files (it wants CAP_SYS_PTRACE for those of other users), they
  // are taken for it.
  [[nodiscard]] std::vector<Outsider> run(const PerfMachine& machine, const CpuSet& online,
                                          std::span<const int> ours,
                                          std::span<const ClosedEvent> were_ours) const;

 private:
  struct Files;
  void look_at(std::uint32_t pid, Files& files, std::vector<Outsider>& found) const;
  void add_watchdog(const PerfMachine& machine, const CpuSet& online,
                    std::vector<Outsider>& found) const;

  UniqueFd proc_;
  UniqueFd watchdog_;
  UniqueFd watchdog_cpus_;
};

}  // namespace meterbank::arbiter
