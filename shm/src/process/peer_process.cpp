// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/peer_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {
namespace {

#ifdef SO_PEERPIDFD
constexpr int kPeerProcess = SO_PEERPIDFD;
#else
constexpr int kPeerProcess = 77;  // Linux 6.5
#endif

using Found = PeerProcess::Found;

Found found_of(int error) noexcept {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Found::kNoRoom;
    case ESRCH:   // no process has the id
    case EINVAL:  // of SO_PEERPIDFD: the process has been waited for
      return Found::kEnded;
    default:
      return Found::kNotPossible;
  }
}

// In the unit of /proc/PID/stat.
std::uint64_t ticks_of(std::uint64_t ns) noexcept {
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ns / (1'000'000'000 / per_second);
}

PeerProcess by_id(int socket, std::uint64_t connected_ns) noexcept {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return {};
  if (credentials.pid <= 0) return {};  // it is in a pid namespace that is not seen from here
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, credentials.pid, 0)));
  if (!process) return {errno == EINVAL ? Found::kNotPossible : found_of(errno), {}};
  const std::uint64_t started = process_start_time(static_cast<std::uint32_t>(credentials.pid));
  // What was read belongs to the process that is held: while that lives it keeps its id.
  if (has_ended(process.get())) return {Found::kEnded, {}};
  if (started == 0) return {};
  if (started > ticks_of(connected_ns)) return {Found::kEnded, {}};
  return {Found::kProcess, std::move(process)};
}

}  // namespace

PeerProcess peer_process(int socket, std::uint64_t connected_ns) noexcept {
  const int kept = errno;
  int descriptor = -1;
  socklen_t bytes = sizeof descriptor;
  PeerProcess peer;
  if (::getsockopt(socket, SOL_SOCKET, kPeerProcess, &descriptor, &bytes) == 0) {
    peer = {Found::kProcess, UniqueFd(descriptor)};
  } else if (errno == ENOPROTOOPT) {
    peer = by_id(socket, connected_ns);
  } else {
    peer.found = found_of(errno);
  }
  errno = kept;
  return peer;
}

bool has_ended(int process) noexcept {
  pollfd ended{process, POLLIN, 0};
  int count = 0;
  do {
    count = ::poll(&ended, 1, 0);
  } while (count < 0 && errno == EINTR);
  return count == 1 && (ended.revents & (POLLIN | POLLHUP)) != 0;
}

}  // namespace meterbank
