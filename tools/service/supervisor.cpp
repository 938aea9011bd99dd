// SPDX-License-Identifier: Apache-2.0
#include "service/supervisor.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "service/environment.hpp"

namespace meterbank::service {
namespace {

constexpr int kPassedFirst = 3;  // SD_LISTEN_FDS_START
constexpr std::uint64_t kPassedMax = 16;

std::uint64_t number_in(const char* name) {
  const std::string text = variable(name);
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() ? number : 0;
}

bool is_listener(int descriptor, int wanted_type) noexcept {
  int type = 0, listens = 0;
  socklen_t bytes = sizeof type;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0) return false;
  bytes = sizeof listens;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0) return false;
  return type == wanted_type && listens != 0;
}

}  // namespace

Supervisor::Supervisor() {
  const std::uint64_t pid = number_in("WATCHDOG_PID");
  if (pid == 0 || pid == static_cast<std::uint64_t>(::getpid())) {
    watchdog_ns_ = number_in("WATCHDOG_USEC") * 1000;
  }
  const std::string path = variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
  if (path[0] != '/' && path[0] != '@') return;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path[0] == '@') address.sun_path[0] = '\0';  // in the abstract namespace
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return;
  socket_ = std::move(socket);
}

void Supervisor::tell(std::string_view state) const noexcept {
  if (!socket_) return;
  static_cast<void>(::send(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::optional<UniqueFd> take_passed_listener(int type) {
  const bool is_for_us = number_in("LISTEN_PID") == static_cast<std::uint64_t>(::getpid());
  const std::uint64_t count = std::min(number_in("LISTEN_FDS"), kPassedMax);
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  if (!is_for_us) return std::nullopt;
  std::optional<UniqueFd> listener;
  for (int descriptor = kPassedFirst; descriptor < kPassedFirst + static_cast<int>(count);
       ++descriptor) {
    if (listener || !is_listener(descriptor, type)) continue;
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    listener.emplace(descriptor);
  }
  return listener;
}

}  // namespace meterbank::service
