// SPDX-License-Identifier: Apache-2.0
//
// What procfs says of processes: the facts that identify the one that wrote a pointer record.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

namespace meterbank {

struct ProcessStat {
  char state = '?';           // 'Z' and 'X': the first thread has ended
  std::uint64_t threads = 0;  // more than one in state 'Z': the process goes on without it
  // Clock ticks since boot, as the time namespace of the reader has it.
  std::uint64_t start_time = 0;
};

// The text of a /proc/PID/stat. The command name in it may hold anything.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept;

// The error is an errno: ENOENT and ESRCH do not tell "hidden" from "not there".
[[nodiscard]] tl::expected<ProcessStat, int> read_process_stat(std::uint32_t pid) noexcept;

// 0: procfs does not say.
[[nodiscard]] std::uint64_t process_start_time(std::uint32_t pid) noexcept;

// Of this process, and 0 where procfs does not say. Right also where procfs numbers processes as
// another pid namespace does, as after `unshare --pid --fork` without --mount-proc.
[[nodiscard]] std::uint64_t own_start_time() noexcept;
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;   // inode
[[nodiscard]] std::uint64_t own_time_namespace() noexcept;  // inode
// Whether /proc/N is what this process calls N. The error is an errno.
[[nodiscard]] tl::expected<bool, int> procfs_has_own_pids() noexcept;

// Whether users have other numbers here than on the machine, as in a container without privileges:
// root of such a namespace is an ordinary user outside of it.
[[nodiscard]] bool is_in_user_namespace() noexcept;

// Of the machine, or what a container shows instead; 0: not known.
[[nodiscard]] std::array<std::uint64_t, 2> boot_id() noexcept;

}  // namespace meterbank
