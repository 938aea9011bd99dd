// SPDX-License-Identifier: Apache-2.0
//
// The process at the other end of a socket, and what the kernel says about it.
//
// Everything is read relative to a descriptor of /proc that is held from the start: whatever is
// mounted there later is not looked at.
#pragma once

#include <cstdint>
#include <string>

#include "arbiter/core/policy.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

struct Peer {
  ClientIdentity identity;
  UniqueFd process;  // a pidfd: readable when the process has ended
};

class ProcessTable {
 public:
  // Errors: kSystem, kDenied.
  static Result<ProcessTable> open();

  // The process that connected this socket, even if it has been handed on since. What cannot be
  // read of a process is empty. Errors: kGone (it has ended, and its id may be another process's),
  // kLimit (no descriptor is left), kSystem (the kernel does not let us hold it).
  [[nodiscard]] Result<Peer> peer_of(int socket) const;
  // Whether the thread is one of the process.
  [[nodiscard]] bool has_thread(std::uint32_t pid, std::uint32_t tid) const;
  // Whether our descriptor is of the perf event that has this PERF_EVENT_IOC_ID. Asks no file of
  // another sort, which could keep the asker waiting.
  [[nodiscard]] bool is_counter(int descriptor, std::uint64_t kernel_id) const;

 private:
  ProcessTable() = default;
  [[nodiscard]] std::string read_small(const std::string& path) const;
  void describe(ClientIdentity& identity) const;

  UniqueFd directory_;
};

}  // namespace meterbank::arbiter
