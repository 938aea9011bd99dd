// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/system/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "meterbank/shm/lease_wire.hpp"

namespace meterbank::arbiter {
namespace {

constexpr int kBacklog = 512;
const std::string kName(pmu::kArbiterSocket);

UniqueFd open_directory(const std::string& path) noexcept {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

tl::unexpected<Error> refused(const std::string& what) {
  const int error = errno;
  const bool is_denied = error == EACCES || error == EPERM || error == EROFS;
  const auto code = is_denied         ? ErrorCode::kDenied
                    : error == ENOENT ? ErrorCode::kNoDirectory
                                      : ErrorCode::kSystem;
  return fail(code, what, "--dir DIR", error);
}

}  // namespace

Result<Listener> Listener::listen(const std::string& directory, mode_t mode) {
  Listener listener;
  const std::string path = directory + "/" + kName;
  if (PacketSocket::connect(path)) {
    return fail(ErrorCode::kExists, "another process listens at " + path, "--dir DIR for one more");
  }
  listener.directory_ = open_directory(directory);
  if (!listener.directory_) return refused("open " + directory);
  ::unlinkat(listener.directory_.get(), kName.c_str(), 0);
  // An address has room for 107 bytes, a directory for more.
  const std::string short_path =
      "/proc/self/fd/" + std::to_string(listener.directory_.get()) + "/" + kName;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(short_path.begin(), short_path.end(), address.sun_path);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::fchmodat(listener.directory_.get(), kName.c_str(), mode, 0) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return refused("listen at " + path);
  }
  listener.socket_ = ListeningSocket(std::move(socket));
  if (!listener.socket_.has_reserve()) return refused("listen at " + path);
  return listener;
}

Result<Listener> Listener::adopt(UniqueFd socket, const std::string& directory, bool name_stays) {
  Listener listener;
  listener.directory_ = open_directory(directory);
  if (!listener.directory_) return refused("open " + directory);
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  listener.socket_ = ListeningSocket(std::move(socket));
  if (!listener.socket_.has_reserve()) return refused("listen in " + directory);
  listener.name_stays_ = name_stays;
  return listener;
}

void Listener::close() noexcept {
  if (descriptor() >= 0 && !name_stays_) ::unlinkat(directory_.get(), kName.c_str(), 0);
  socket_.close();
}

}  // namespace meterbank::arbiter
