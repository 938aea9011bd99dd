// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/outsiders.hpp"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "arbiter/backend/perf/kernel_files.hpp"
#include "meterbank/base/directory_stream.hpp"

namespace meterbank::arbiter {
namespace {

// 0: the name is no number.
[[nodiscard]] std::uint32_t number_of(const char* name, int& number) noexcept {
  const std::string_view text(name);
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && stop == text.data() + text.size() ? 1 : 0;
}

[[nodiscard]] bool is_perf_event(int directory, const char* name) noexcept {
  static constexpr std::string_view kTarget = "anon_inode:[perf_event]";
  std::array<char, kTarget.size() + 1> target;
  const ssize_t length = ::readlinkat(directory, name, target.data(), target.size());
  return length >= 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)) == kTarget;
}

[[nodiscard]] bool is_same_file(std::uint32_t pid, int file, int ours) noexcept {
  return ::syscall(SYS_kcmp, static_cast<pid_t>(pid), ::getpid(), KCMP_FILE,
                   static_cast<unsigned long>(file), static_cast<unsigned long>(ours)) == 0;
}

[[nodiscard]] bool was_ours(std::uint32_t pid, int file, const ClosedEvent& closed) noexcept {
  kcmp_epoll_slot slot = {};
  slot.efd = static_cast<__u32>(closed.epoll);
  slot.tfd = static_cast<__u32>(closed.descriptor);
  return ::syscall(SYS_kcmp, static_cast<pid_t>(pid), ::getpid(), KCMP_EPOLL_TFD,
                   static_cast<unsigned long>(file), &slot) == 0;
}

}  // namespace

struct OutsiderSearch::Files {
  std::span<const int> ours;
  std::span<const ClosedEvent> were_ours;
  std::uint32_t left = kFilesMax;

  [[nodiscard]] bool has(std::uint32_t pid, int file) const {
    return std::any_of(ours.begin(), ours.end(),
                       [&](int own) { return is_same_file(pid, file, own); }) ||
           std::any_of(were_ours.begin(), were_ours.end(),
                       [&](const ClosedEvent& closed) { return was_ours(pid, file, closed); });
  }
};

OutsiderSearch::OutsiderSearch(int proc)
    : proc_(directory_at(proc, ".")),
      watchdog_(file_at(proc, "sys/kernel/nmi_watchdog")),
      watchdog_cpus_(file_at(proc, "sys/kernel/watchdog_cpumask")) {}

std::vector<Outsider> OutsiderSearch::run(const PerfMachine& machine, const CpuSet& online,
                                          std::span<const int> ours,
                                          std::span<const ClosedEvent> were_ours) const {
  std::vector<Outsider> found;
  add_watchdog(machine, online, found);
  const DirectoryStream stream = directory_stream(directory_at(proc_.get(), "."));
  if (stream == nullptr) return found;
  Files files{.ours = ours, .were_ours = were_ours};
  for (std::uint32_t processes = 0; processes < kProcessesMax && files.left > 0;) {
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    int pid = 0;
    if (number_of(entry->d_name, pid) == 0 || pid == ::getpid()) continue;
    ++processes;
    look_at(static_cast<std::uint32_t>(pid), files, found);
  }
  return found;
}

void OutsiderSearch::look_at(std::uint32_t pid, Files& files, std::vector<Outsider>& found) const {
  const UniqueFd process = directory_at(proc_.get(), std::to_string(pid).c_str());
  if (!process) return;
  const DirectoryStream stream = directory_stream(directory_at(process.get(), "fd"));
  if (stream == nullptr) return;
  while (files.left > 0) {
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) return;
    int file = -1;
    if (number_of(entry->d_name, file) == 0) continue;
    --files.left;
    if (!is_perf_event(::dirfd(stream.get()), entry->d_name)) continue;
    if (files.has(pid, file)) continue;
    struct stat status = {};
    if (::fstat(process.get(), &status) != 0) return;
    Outsider outsider;
    outsider.name = text_at(process.get(), "comm").value_or("");
    outsider.pid = pid;
    outsider.uid = status.st_uid;
    outsider.how = "open files";
    found.push_back(std::move(outsider));
    return;
  }
}

void OutsiderSearch::add_watchdog(const PerfMachine& machine, const CpuSet& online,
                                  std::vector<Outsider>& found) const {
  if (!watchdog_ || text_of_file(watchdog_.get()).value_or("0") != "1") return;
  CpuSet watched = online;
  if (watchdog_cpus_) {
    const Result<CpuSet> mask = CpuSet::parse(text_of_file(watchdog_cpus_.get()).value_or(""));
    if (mask.has_value()) watched = mask->common_with(online);
  }
  for (PmuIndex pmu = 0; pmu < machine.pmus.size(); ++pmu) {
    if (machine.pmus[pmu].sort != PmuSort::kCore) continue;
    const CpuSet cpus = machine.machine.topology.pmus[pmu].cpus.common_with(watched);
    if (cpus.empty()) continue;
    found.push_back({.name = "kernel watchdog",
                     .is_kernel = true,
                     .pmu = pmu,
                     .cpus = cpus,
                     .counters = 1,
                     .how = "nmi_watchdog"});
  }
}

}  // namespace meterbank::arbiter
