// SPDX-License-Identifier: Apache-2.0
//
// The process that connected a socket, held by a descriptor. A process id is only a number, which
// the kernel gives to the next process when the first one has been waited for.
#pragma once

#include <cstdint>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank {

struct PeerProcess {
  enum class Found : std::uint8_t {
    kProcess,      // held
    kEnded,        // it has ended, and its id may be another process's
    kNoRoom,       // this process has no descriptor or no memory left for it
    kNotPossible,  // this kernel, its policy or a missing /proc does not let us tell
  };
  Found found = Found::kNotPossible;
  UniqueFd descriptor;  // a pidfd, readable when the process has ended; with kProcess
};

// Linux 6.5 says itself which process connected. On older kernels it is the one with the id that
// the kernel noted then, if it already ran at `connected_ns` (CLOCK_BOOTTIME), a moment at which
// the connection was there: right after accept(). Only an id that changed hands between the peer's
// connect() and that moment goes unnoticed there.
//
// Thread safety: any thread. Errors: none; errno stays.
[[nodiscard]] PeerProcess peer_process(int socket, std::uint64_t connected_ns) noexcept;

// Whether the process of a pidfd has ended.
[[nodiscard]] bool has_ended(int process) noexcept;

}  // namespace meterbank
