// SPDX-License-Identifier: Apache-2.0
//
// Why the kernel does not let this process open another one's memory through procfs:
//
//   | reader    | process                | why                      | what helps          |
//   |-----------|------------------------|--------------------------|---------------------|
//   | root      | any                    | no CAP_SYS_PTRACE        | the capability      |
//   | not root  | of another user        | another user             | that user, root     |
//   | same user | files in /proc/PID are | it is not dumpable       | prctl() in it, root |
//   |           | of another user        |                          |                     |
//   | same user | files in /proc/PID are | capabilities, a security | root                |
//   |           | of this user           | module                   |                     |
//   | in a user | the last row, or root  | it is outside of the     | root outside        |
//   | namespace |                        | reader's user namespace  |                     |
#pragma once

#include <cstdint>
#include <string>

namespace meterbank {

struct DeniedCause {
  std::string why;
  std::string remedy;
};
// `owner` is the uid of the provider's record.
[[nodiscard]] DeniedCause why_denied(std::uint32_t pid, std::uint32_t owner);

// "root", as one who is asked to become it has to take it: root of a user namespace is not meant.
[[nodiscard]] const char* name_of_root() noexcept;

}  // namespace meterbank
