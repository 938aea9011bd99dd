// SPDX-License-Identifier: Apache-2.0
//
// The protocol between a service manager and its service: sd_notify(3), sd_listen_fds(3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::service {

// Where the manager listens, as NOTIFY_SOCKET says; to no one where that says nothing.
class Supervisor {
 public:
  // Reads the environment, and connects once: no path is opened later.
  Supervisor();

  // "READY=1\nSTATUS=..." Nothing waits for the manager: without room the word is lost.
  void tell(std::string_view state) const noexcept;
  // How often the manager wants to hear WATCHDOG=1, at the latest, in ns; 0: never.
  [[nodiscard]] std::uint64_t watchdog_ns() const noexcept { return watchdog_ns_; }

 private:
  UniqueFd socket_;
  std::uint64_t watchdog_ns_ = 0;
};

// The listening socket of this type (SOCK_STREAM, SOCK_SEQPACKET) that the manager made for this
// process. Takes the variables out of the environment, which no child is to believe.
[[nodiscard]] std::optional<UniqueFd> take_passed_listener(int type);

}  // namespace meterbank::service
