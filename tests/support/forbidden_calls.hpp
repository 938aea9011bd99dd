// SPDX-License-Identifier: Apache-2.0
//
// System calls that fail as on another kernel, or under another policy.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace meterbank::test {

struct ForbiddenCall {
  long call;
  int error;
  std::optional<std::uint32_t> third_argument = {};  // only calls with this one
};

// Installs a filter. False: filters are not to be had here.
inline bool install_filter(const std::vector<sock_filter>& filter, unsigned long flags) {
  auto* const first = const_cast<sock_filter*>(filter.data());
  const sock_fprog program{static_cast<unsigned short>(filter.size()), first};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

// Afterwards any call but these ends the process by SIGSYS, as a strict service has it.
enum class Filtered { kThisThread, kAllThreads };
inline bool allow_only(const std::vector<long>& calls, Filtered which) {
  std::vector<sock_filter> filter;
  const auto number = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number));
  for (const long call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  return install_filter(filter, which == Filtered::kAllThreads ? SECCOMP_FILTER_FLAG_TSYNC : 0UL);
}

// Afterwards all threads of this process, and its children, get these errors.
// False: filters are not to be had here.
inline bool forbid(const std::vector<ForbiddenCall>& calls) {
  std::vector<sock_filter> filter;
  for (const ForbiddenCall& each : calls) {
    const auto load = [](std::size_t offset) {
      return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    };
    const auto skip_unless = [](std::uint32_t value, std::uint8_t count) {
      return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
    };
    const bool has_argument = each.third_argument.has_value();
    filter.push_back(load(offsetof(seccomp_data, nr)));
    filter.push_back(skip_unless(static_cast<std::uint32_t>(each.call), has_argument ? 3 : 1));
    if (has_argument) {
      filter.push_back(load(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)));
      filter.push_back(skip_unless(*each.third_argument, 1));
    }
    const auto answer = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(each.error);
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return install_filter(filter, SECCOMP_FILTER_FLAG_TSYNC);
}

}  // namespace meterbank::test
