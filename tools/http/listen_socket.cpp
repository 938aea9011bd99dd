// SPDX-License-Identifier: Apache-2.0
#include "http/listen_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

namespace meterbank::http {
namespace {

struct HostPort {
  std::string host, port;
};

tl::unexpected<Error> refuse(const std::string& text) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid address: {}", text),
              "an address and a port: 127.0.0.1:19400 or [::1]:19400");
}

Result<HostPort> split(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return refuse(text);
  HostPort parts{text.substr(0, colon), text.substr(colon + 1)};
  if (parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']') {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  } else if (parts.host.find(':') != std::string::npos) {
    return refuse(text);
  }
  std::uint16_t port = 0;
  const char* const end = parts.port.data() + parts.port.size();
  const auto parsed = std::from_chars(parts.port.data(), end, port);
  if (parts.port.empty() || parsed.ec != std::errc() || parsed.ptr != end) return refuse(text);
  return parts;
}

std::string address_of(int socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(socket, generic, &bytes) != 0 ||
      ::getnameinfo(generic, bytes, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  const bool is_v6 = address.ss_family == AF_INET6;
  return is_v6 ? fmt::format("[{}]:{}", host.data(), port.data())
               : fmt::format("{}:{}", host.data(), port.data());
}

tl::unexpected<Error> cannot_listen(const std::string& text, int error) {
  switch (error) {
    case EADDRINUSE:
      return fail(ErrorCode::kExists, fmt::format("listen on {}", text), "another port", error);
    case EACCES:
      return fail(ErrorCode::kDenied, fmt::format("listen on {}", text), "a port above 1023",
                  error);
    default:
      return fail(ErrorCode::kSystem, fmt::format("listen on {}", text),
                  "an address of this machine", error);
  }
}

}  // namespace

std::uint16_t ListenSocket::port() const noexcept {
  std::uint16_t port = 0;
  const auto colon = address.rfind(':') + 1;
  std::from_chars(address.data() + colon, address.data() + address.size(), port);
  return port;
}

ListenSocket adopt_listen_socket(UniqueFd socket) {
  std::string address = address_of(socket.get());
  return {std::move(socket), std::move(address)};
}

bool is_answering(int listening_socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(listening_socket, generic, &bytes) != 0) return false;
  const UniqueFd client(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval second{1, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
  ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
  if (::connect(client.get(), generic, bytes) != 0) return false;
  constexpr std::string_view kRequest = "GET /-/healthy HTTP/1.0\r\n\r\n";
  if (::send(client.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, 64> answer{};
  const ssize_t count = ::recv(client.get(), answer.data(), answer.size(), 0);
  constexpr std::string_view kStatus = " 200 ";
  return count > 0 &&
         std::string_view(answer.data(), static_cast<std::size_t>(count)).find(kStatus) !=
             std::string_view::npos;
}

Result<ListenSocket> open_listen_socket(const std::string& text) {
  const auto parts = split(text);
  if (!parts) return tl::make_unexpected(parts.error());
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(parts->host.c_str(), parts->port.c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("invalid address: {}: {}", text, ::gai_strerror(error)),
                "an address of this machine: 127.0.0.1:19400");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  UniqueFd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return cannot_listen(text, errno);
  // Connections of the last process that are not yet forgotten do not keep this one from its port.
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return cannot_listen(text, errno);
  }
  return adopt_listen_socket(std::move(socket));
}

}  // namespace meterbank::http
