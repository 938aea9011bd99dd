// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/system/listener.hpp"

#include <fcntl.h>

#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::arbiter {
namespace {

constexpr int kBacklog = 512;

std::string path_in(const std::string& directory) {
  return directory + "/" + std::string(pmu::kArbiterSocket);
}

// What a user of this program can do about it.
tl::unexpected<Error> refused(Error error) {
  error.remedy = "--dir DIR";
  if (error.code == ErrorCode::kExists) error.remedy += " for one more";
  if (error.code == ErrorCode::kGone) error.code = ErrorCode::kNoDirectory;
  return tl::make_unexpected(std::move(error));
}

}  // namespace

Result<Listener> Listener::listen(const std::string& directory, mode_t mode) {
  auto socket = PacketListener::listen(path_in(directory), kBacklog, mode);
  if (!socket) return refused(std::move(socket.error()));
  return Listener(std::move(*socket), false);
}

Result<Listener> Listener::adopt(UniqueFd socket, const std::string& directory, bool name_stays) {
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  auto adopted =
      PacketListener::adopt(std::move(socket), name_stays ? std::string() : path_in(directory));
  if (!adopted) return refused(std::move(adopted.error()));
  return Listener(std::move(*adopted), name_stays);
}

}  // namespace meterbank::arbiter
