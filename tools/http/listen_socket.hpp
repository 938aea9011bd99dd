// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::http {

struct ListenSocket {
  UniqueFd socket;
  std::string address;  // in digits, with the real port: "127.0.0.1:19400", "[::1]:19400"

  [[nodiscard]] std::uint16_t port() const noexcept;
  // No other machine reaches it.
  [[nodiscard]] bool is_loopback() const noexcept {
    return address.starts_with("127.") || address.starts_with("[::1]:");
  }
};

// Whether a server answers at the address of this socket, within a second.
[[nodiscard]] bool is_answering(int listening_socket);

// A listening socket that was made elsewhere.
[[nodiscard]] ListenSocket adopt_listen_socket(UniqueFd socket);
// Listens on "127.0.0.1:19400", "[::1]:19400" or "localhost:19400". Errors: kInvalidArgument (the
// text), kDenied, kExists (the port is taken), kSystem.
[[nodiscard]] Result<ListenSocket> open_listen_socket(const std::string& text);

}  // namespace meterbank::http
